#include "perf/peers/strace.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/probe/resources.h"
#include "perf/process/child.h"

#define ATTACH_S     10.0
#define DETACH_S     10.0
#define POLL_US      5000
#define SUMMARY_MAX  65536
#define PIDS_MAX     64
#define VERSION_WAIT 10.0

static bool add(struct tg_strace_counts *out, const char *name, double calls, struct tg_error *err) {
  if (out->num == TG_STRACE_CALLS_MAX || strlen(name) >= TG_STRACE_NAME_SIZE) {
    tg_error_set(err, "strace: more than %d system calls, or a name as long as %.40s", TG_STRACE_CALLS_MAX, name);
    return false;
  }
  struct tg_strace_call *call = &out->calls[out->num++];
  (void)snprintf(call->name, sizeof(call->name), "%s", name);
  call->calls = calls;
  return true;
}

// A row: "% time", seconds, usecs/call, calls, errors (may be missing), name. The total has no name of a call, and
// strace writes a usecs/call for it since 5.x.
static bool parse_row(const char *line, struct tg_strace_counts *out, bool *total, struct tg_error *err) {
  char fields[6][64] = {""};
  char rest[2] = "";
  int num = sscanf(line, " %63s %63s %63s %63s %63s %63s %1s", fields[0], fields[1], fields[2], fields[3], fields[4],
                   fields[5], rest);
  char *end = NULL;
  double calls = num < 5 ? 0 : strtod(fields[3], &end);
  const char *name = num < 5 ? "" : fields[num - 1];
  if (num < 5 || num > 6 || *end != '\0' || calls < 0) {
    tg_error_set(err, "strace: a line of its summary cannot be read: %.100s", line);
    return false;
  }
  *total = strcmp(name, "total") == 0;
  if (*total) {
    out->total = calls;
    return true;
  }
  return add(out, name, calls, err);
}

bool tg_strace_parse(const char *text, struct tg_strace_counts *out, struct tg_error *err) {
  double sum = 0;
  bool begun = false;
  bool total = false;
  memset(out, 0, sizeof(*out));
  for (const char *at = text; *at != '\0';) {
    char line[256];
    size_t len = strcspn(at, "\n");
    (void)snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : sizeof(line) - 1), at);
    at += len + (at[len] == '\n');
    if (strncmp(line, "------", 6) == 0) {
      begun = true;
    } else if (begun && !total && line[strspn(line, " ")] != '\0' && !parse_row(line, out, &total, err)) {
      return false;
    }
  }
  for (size_t i = 0; i < out->num; i++) {
    sum += out->calls[i].calls;
  }
  if (text[strspn(text, " \n")] != '\0' && (!total || sum != out->total)) {
    tg_error_set(err, "strace: its summary %s", total ? "does not add up to its total" : "has no total");
    return false;
  }
  return true;
}

double tg_strace_calls(const struct tg_strace_counts *counts, const char *name) {
  for (size_t i = 0; i < counts->num; i++) {
    if (strcmp(counts->calls[i].name, name) == 0) {
      return counts->calls[i].calls;
    }
  }
  return 0;
}

bool tg_strace_installed(struct tg_error *err) {
  static const char *const argv[] = {"strace", "-V", NULL};
  struct tg_child_result result;
  bool ok = tg_child_run(argv, VERSION_WAIT, &result, NULL);
  bool runs = ok && result.exit_status == 0;
  if (ok) {
    tg_child_result_free(&result);
  }
  if (!runs) {
    tg_error_set(err, "strace is not installed; install it: apt-get install --no-install-recommends strace");
  }
  return runs;
}

static char *read_text(const char *path) {
  char *text = calloc(1, SUMMARY_MAX);
  FILE *file = fopen(path, "re");
  if (text != NULL && file != NULL) {
    text[fread(text, 1, SUMMARY_MAX - 1, file)] = '\0';
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return text;
}

static size_t count_lines_with(const char *text, const char *word) {
  size_t num = 0;
  for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
    num++;
  }
  return num;
}

// It says "attached" once for each process, whose threads are then all attached to.
static bool await_attached(const struct tg_strace *strace, size_t processes, struct tg_error *err) {
  double deadline = tg_now_s() + ATTACH_S;
  for (;;) {
    char *said = read_text(strace->said);
    bool attached = said != NULL && count_lines_with(said, " attached") >= processes;
    bool late = !attached && (tg_now_s() >= deadline || kill(strace->pid, 0) != 0);
    if (late) {
      tg_error_set(err, "strace cannot attach to the server: %.200s", said != NULL && *said != '\0' ? said : "no word");
    }
    free(said);
    if (attached || late) {
      return attached;
    }
    (void)usleep(POLL_US);
  }
}

// Ends it. It lets go of what it is attached to, writes its summary and ends by the same signal.
static void end(struct tg_strace *strace) {
  bool killed = false;
  (void)kill(strace->pid, SIGINT);
  (void)tg_child_wait(strace->pid, DETACH_S, &killed);
  close(strace->out_fd);
  strace->pid = 0;
}

bool tg_strace_attach(struct tg_strace *strace, const char *folder, pid_t pid, struct tg_error *err) {
  static char texts[PIDS_MAX][16];
  const char *argv[6 + 2 * PIDS_MAX] = {"strace", "-c", "-f", "-o", strace->summary};
  struct tg_resources tree;
  size_t n = 5;
  if (!tg_resources_read(pid, &tree) || tree.num_pids > PIDS_MAX) {
    tg_error_set(err, "the server is gone, or has more than %d processes", PIDS_MAX);
    return false;
  }
  for (size_t i = 0; i < tree.num_pids; i++) {
    (void)snprintf(texts[i], sizeof(texts[i]), "%d", tree.pids[i]);
    argv[n++] = "-p";
    argv[n++] = texts[i];
  }
  (void)snprintf(strace->summary, sizeof(strace->summary), "%s/strace.txt", folder);
  (void)snprintf(strace->said, sizeof(strace->said), "%s/strace-said.txt", folder);
  strace->pid = tg_child_start(argv, NULL, strace->said, &strace->out_fd, err);
  bool ok = strace->pid > 0;
  if (ok && !await_attached(strace, tree.num_pids, err)) {
    end(strace);
    ok = false;
  }
  return ok;
}

bool tg_strace_detach(struct tg_strace *strace, struct tg_strace_counts *out, struct tg_error *err) {
  end(strace);
  char *text = read_text(strace->summary);
  bool ok = text != NULL && tg_strace_parse(text, out, err);
  free(text);
  return ok;
}
