#include "perf/workload/load.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/process/child.h"
#include "perf/tools/ab.h"
#include "perf/tools/hyperfine.h"
#include "perf/tools/wrk.h"

// A tool that is given work for seconds and has not ended after this long hangs.
#define TOOL_TIMEOUT_S 120
#define BUSY           0.9
#define CLIENT_SHARE   0.25
#define EXPORT_MAX     (1u << 20)

bool tg_client_bound(double seconds, double client_cpu_s, double server_cpu_s, int client_threads, int cpus) {
  double both = client_cpu_s + server_cpu_s;
  bool threads_busy = client_cpu_s >= BUSY * seconds * (client_threads < cpus ? client_threads : cpus);
  bool machine_busy = both >= BUSY * seconds * cpus && client_cpu_s >= CLIENT_SHARE * both;
  return threads_busy || machine_busy;
}

int tg_usable_cpus(void) {
  cpu_set_t usable;
  return sched_getaffinity(0, sizeof(usable), &usable) == 0 ? CPU_COUNT(&usable) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static struct tg_text text_of(const char *text) {
  return (struct tg_text){.bytes = text, .len = strlen(text)};
}

static void url_of(const struct tg_target *target, char url[256]) {
  (void)snprintf(url, 256, "%s://127.0.0.1:%u%s", target->tls ? "https" : "http",
                 target->tls ? target->server->tls_port : target->server->http_port, target->path);
}

// Runs a tool against a server that must outlive it. The exit status is the caller's to judge.
static bool run_tool(const struct tg_target *target, const char *const argv[], struct tg_child_result *result,
                     double *server_cpu_s, struct tg_error *err) {
  double before = tg_server_cpu_s(target->server);
  if (!tg_child_run(argv, TOOL_TIMEOUT_S, result, err)) {
    return false;
  }
  *server_cpu_s = tg_server_cpu_s(target->server) - before;
  if (!tg_server_alive(target->server, err)) {
    tg_child_result_free(result);
    return false;
  }
  return true;
}

static void finish(struct tg_load *load, const char *const argv[], const struct tg_child_result *result,
                   double server_cpu_s, int threads) {
  tg_command_line(argv, load->command, sizeof(load->command));
  load->client_cpu_s = result->cpu_s;
  load->server_cpu_s = server_cpu_s;
  load->rate = load->seconds > 0 ? load->units / load->seconds : 0;
  load->client_bound = tg_client_bound(result->wall_s, result->cpu_s, server_cpu_s, threads, tg_usable_cpus());
}

// Reads ab's own words. `out_text` and `err_text` are what it printed.
static bool read_ab(const char *out_text, const char *err_text, const struct tg_target *target, uint64_t requests,
                    bool keep_alive, struct tg_load *out, struct tg_error *err) {
  struct tg_ab run;
  struct tg_error why;
  if (!tg_ab_parse(text_of(out_text), text_of(err_text), &run, &why) ||
      !tg_ab_judge(&run, requests, target->body_bytes, &why)) {
    tg_error_set(err, "%s", why.text);
    return false;
  }
  if (keep_alive && run.keep_alive_requests != requests) {
    tg_error_set(err,
                 "ab: \"Keep-Alive requests: %" PRIu64 "\" of %" PRIu64
                 ": the server closed connections that it was asked to keep",
                 run.keep_alive_requests, requests);
    return false;
  }
  *out = (struct tg_load){.units = (double)run.complete_requests, .seconds = run.seconds};
  out->bytes_per_s = run.seconds > 0 ? (double)run.body_bytes / run.seconds : 0;
  return true;
}

struct ab_command {
  char requests[24];
  char concurrency[16];
  char url[256];
  const char *argv[11];
};

static void ab_command(struct ab_command *command, const struct tg_target *target, uint64_t requests,
                       unsigned concurrency, bool keep_alive) {
  (void)snprintf(command->requests, sizeof(command->requests), "%" PRIu64, requests);
  (void)snprintf(command->concurrency, sizeof(command->concurrency), "%u", concurrency);
  url_of(target, command->url);
  const char *argv[] = {"ab",         "-q", "-s", "10", "-n", command->requests, "-c", command->concurrency,
                        command->url, NULL};
  memcpy(command->argv, argv, sizeof(argv));
  if (keep_alive) {
    command->argv[8] = "-k";
    command->argv[9] = command->url;
    command->argv[10] = NULL;
  }
}

static bool load_ab(const struct tg_target *target, uint64_t requests, unsigned concurrency, bool keep_alive,
                    struct tg_load *out, struct tg_error *err) {
  struct ab_command command;
  struct tg_child_result result;
  double server_cpu_s = 0;
  ab_command(&command, target, requests, concurrency, keep_alive);
  if (!run_tool(target, command.argv, &result, &server_cpu_s, err)) {
    return false;
  }
  bool ok = read_ab(result.out, result.err, target, requests, keep_alive, out, err);
  if (ok) {
    finish(out, command.argv, &result, server_cpu_s, 1);
  }
  tg_child_result_free(&result);
  return ok;
}

bool tg_load_ab(const struct tg_target *target, uint64_t requests, unsigned concurrency, struct tg_load *out,
                struct tg_error *err) {
  return load_ab(target, requests, concurrency, false, out, err);
}

bool tg_load_ab_keepalive(const struct tg_target *target, uint64_t requests, unsigned connections, struct tg_load *out,
                          struct tg_error *err) {
  return load_ab(target, requests, connections, true, out, err);
}

// Returns the whole file as a string, or NULL with `err` filled in.
static char *read_text(const char *path, struct tg_error *err) {
  FILE *file = fopen(path, "re");
  char *text = malloc(EXPORT_MAX);
  if (file == NULL || text == NULL) {
    tg_error_set(err, "cannot read %s: %s", path, strerror(errno));
    if (file != NULL) {
      (void)fclose(file);
    }
    free(text);
    return NULL;
  }
  size_t len = fread(text, 1, EXPORT_MAX - 1, file);
  text[len] = '\0';
  (void)fclose(file);
  return text;
}

static bool read_hyperfine(const char *json_path, double *seconds, struct tg_error *err) {
  char *json = read_text(json_path, err);
  if (json == NULL) {
    return false;
  }
  struct tg_hyperfine run;
  struct tg_error why;
  bool ok = tg_hyperfine_parse(text_of(json), &run, &why);
  if (!ok) {
    tg_error_set(err, "%s", why.text);
  } else {
    *seconds = run.results[0].times_s[0];
    tg_hyperfine_free(&run);
  }
  free(json);
  return ok;
}

bool tg_load_ab_hyperfine(const struct tg_target *target, uint64_t requests, unsigned concurrency,
                          const char *json_path, const char *out_path, struct tg_load *out, struct tg_error *err) {
  struct ab_command command;
  ab_command(&command, target, requests, concurrency, false);
  char line[512];
  (void)snprintf(line, sizeof(line), "ab -q -s 10 -n %s -c %s %s", command.requests, command.concurrency, command.url);
  const char *argv[] = {"hyperfine", "-N",     "--runs",        "1",       "--style", "none",
                        "--output",  out_path, "--export-json", json_path, line,      NULL};
  struct tg_child_result result;
  double server_cpu_s = 0;
  (void)unlink(json_path);
  if (!run_tool(target, argv, &result, &server_cpu_s, err)) {
    return false;
  }
  double seconds = 0;
  char *ab_out = NULL;
  bool ok = result.exit_status == 0;
  if (!ok) {
    tg_error_set(err, "hyperfine ended with status %d: %.300s", result.exit_status, result.err);
  }
  ok = ok && read_hyperfine(json_path, &seconds, err) && (ab_out = read_text(out_path, err)) != NULL &&
       read_ab(ab_out, "", target, requests, false, out, err);
  if (ok) {
    out->seconds = seconds;
    finish(out, argv, &result, server_cpu_s, 1);
  }
  free(ab_out);
  tg_child_result_free(&result);
  return ok;
}

bool tg_load_wrk(const struct tg_target *target, unsigned threads, unsigned connections, unsigned seconds,
                 const char *upload_script, uint64_t upload_bytes, struct tg_load *out, struct tg_error *err) {
  char texts[3][16];
  char url[256];
  (void)snprintf(texts[0], sizeof(texts[0]), "-t%u", threads);
  (void)snprintf(texts[1], sizeof(texts[1]), "-c%u", connections);
  (void)snprintf(texts[2], sizeof(texts[2]), "-d%us", seconds);
  url_of(target, url);
  const char *argv[10] = {"wrk", texts[0], texts[1], texts[2], "--timeout", "10s"};
  size_t n = 6;
  if (upload_script != NULL) {
    argv[n++] = "-s";
    argv[n++] = upload_script;
  }
  argv[n++] = url;
  argv[n] = NULL;
  struct tg_child_result result;
  double server_cpu_s = 0;
  if (!run_tool(target, argv, &result, &server_cpu_s, err)) {
    return false;
  }
  struct tg_wrk run;
  struct tg_error why;
  bool ok = tg_wrk_parse(text_of(result.out), text_of(result.err), &run, &why) &&
            tg_wrk_judge(&run, target->body_bytes, &why);
  if (ok) {
    *out = (struct tg_load){.units = (double)run.requests, .seconds = run.seconds};
    finish(out, argv, &result, server_cpu_s, (int)threads);
    out->bytes_per_s = out->rate * (double)(upload_script != NULL ? upload_bytes : target->body_bytes);
  } else {
    tg_error_set(err, "%s", why.text);
  }
  tg_child_result_free(&result);
  return ok;
}
