#include "perf/peers/run.h"

#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/peers/strace.h"
#include "perf/process/child.h"

#define OWN_NAME      "own"
#define FLOOR_NAME    "openssl"
#define DPKG_WAIT_S   10.0
#define FULL_SCENARIO "full_tls13"

// Not system calls: figures that stand beside them in the exact gates, and the call that the vDSO answers.
static const char *const no_calls[] = {"clock_gettime", "rearms", "wakeups", "stalls"};

// The version of a Debian package; left empty if it cannot be told.
static void read_version(struct tg_peers_server *server) {
  struct tg_child_result result;
  const char *argv[] = {"dpkg-query", "-W", "-f", "${Version}", server->package, NULL};
  if (server->package == NULL || !tg_child_run(argv, DPKG_WAIT_S, &result, NULL)) {
    return;
  }
  if (result.exit_status == 0) {
    (void)snprintf(server->version, sizeof(server->version), "%s", result.out);
  }
  tg_child_result_free(&result);
}

static void path_of(const char *server, const char *shipped, char out[PATH_MAX]) {
  if (strchr(server, '/') != NULL) {
    (void)snprintf(out, PATH_MAX, "%s", server);
  } else {
    (void)snprintf(out, PATH_MAX, "%.3900s/%.100s.json", shipped, server);
  }
}

// Takes a description that was just decoded into the last place. Returns false with `err` if its name is taken.
static bool take(struct tg_peers_contest *contest, struct tg_error *err) {
  struct tg_peers_result *result = &contest->result;
  struct tg_server_description *description = &contest->descriptions[result->num_servers];
  struct tg_error absent;
  if (tg_peers_find(result, description->name) != NULL) {
    tg_error_set(err, "%s: name: another server is called %s too; give it one of its own", description->file,
                 description->name);
    tg_server_description_free(description);
    return false;
  }
  if (!tg_launch_is_installed(description, &absent)) {
    (void)snprintf(result->absent[result->num_absent++], TG_PEERS_ABSENT_SIZE, "%s: %s", description->name,
                   absent.text);
    tg_server_description_free(description);
    return true;
  }
  struct tg_peers_server *server = &result->servers[result->num_servers++];
  server->name = description->name;
  server->file = description->file;
  server->package = description->package;
  server->own = strcmp(description->name, OWN_NAME) == 0;
  server->floor = strcmp(description->name, FLOOR_NAME) == 0;
  read_version(server);
  tg_peers_leave_outs(description, server);
  return true;
}

bool tg_peers_describe(struct tg_peers_contest *contest, const struct tg_peers_options *options, const char *shipped,
                       struct tg_error *err) {
  memset(contest, 0, sizeof(*contest));
  contest->result.rounds = options->rounds;
  for (size_t i = 0; i < options->num_servers; i++) {
    char path[PATH_MAX];
    path_of(options->servers[i], shipped, path);
    if (!tg_server_describe(path, &contest->descriptions[contest->result.num_servers], err) || !take(contest, err)) {
      tg_peers_free(contest);
      return false;
    }
  }
  return true;
}

// A stage is made for its certificate alone, and every description then names that one.
static bool share_certificate(struct tg_peers_contest *contest, struct tg_error *err) {
  const struct tg_server_description none = {.file = "compare"};
  if (!tg_stage_make(&contest->certificate, &none, TG_VARIANT_MAIN, err)) {
    return false;
  }
  for (size_t i = 0; i < contest->result.num_servers; i++) {
    contest->descriptions[i].cert = contest->certificate.cert;
    contest->descriptions[i].key = contest->certificate.key;
  }
  return true;
}

bool tg_peers_run(struct tg_peers_contest *contest, const struct tg_peers_plan *plan, struct tg_error *err) {
  struct tg_peers_result *result = &contest->result;
  assert(result->rounds >= 1 && result->rounds <= TG_PEERS_ROUNDS_MAX && result->num_servers > 0);
  if ((plan->wanted[TG_PEERS_CALLS] && !tg_strace_installed(err)) || !share_certificate(contest, err)) {
    return false;
  }
  double begun = tg_now_s();
  for (size_t round = 0; round < result->rounds; round++) {
    if (!plan->quiet) {
      fprintf(stderr, "%scompare: round %zu of %zu, %.0f s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", round + 1,
              result->rounds, tg_now_s() - begun);
    }
    if (plan->wanted[TG_PEERS_CHURN]) {
      tg_peers_measure_in_memory(plan, round, &result->in_memory);
    }
    for (size_t i = 0; i < result->num_servers; i++) {
      size_t at = (i + round) % result->num_servers;
      tg_peers_measure(plan, &contest->descriptions[at], round, &result->servers[at]);
    }
  }
  if (!plan->quiet && isatty(STDERR_FILENO)) {
    fputs("\r\033[K", stderr);
  }
  return true;
}

void tg_peers_free(struct tg_peers_contest *contest) {
  for (size_t i = 0; i < contest->result.num_servers; i++) {
    tg_server_description_free(&contest->descriptions[i]);
  }
  contest->result.num_servers = 0;
  tg_stage_remove(&contest->certificate);
}

long tg_peers_exact_calls(const char *file) {
  json_t *root = json_load_file(file, JSON_REJECT_DUPLICATES, NULL);
  json_t *calls = json_object_get(json_object_get(root, "calls"), FULL_SCENARIO);
  const char *name;
  json_t *value;
  long sum = 0;
  json_object_foreach(calls, name, value) {
    bool counts = json_is_integer(value);
    for (size_t i = 0; i < sizeof(no_calls) / sizeof(no_calls[0]); i++) {
      counts = counts && strcmp(name, no_calls[i]) != 0;
    }
    sum += counts ? (long)json_integer_value(value) : 0;
  }
  json_decref(root);
  return sum;
}
