#include "perf/report/run_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "perf/report/folder.h"
#include "perf/report/json_fields.h"
#include "perf/report/publish.h"

bool tg_run_id_make(char out[TG_RUN_ID_LEN + 1], struct tg_error *err) {
  unsigned char bytes[TG_RUN_ID_LEN / 2];
  if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
    tg_error_set(err, "no random bytes for the run's id: %s", strerror(errno));
    return false;
  }
  for (size_t i = 0; i < sizeof(bytes); i++) {
    (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
  }
  return true;
}

void tg_time_text(char out[32]) {
  time_t now = time(NULL);
  struct tm utc;
  (void)gmtime_r(&now, &utc);
  (void)strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static void add_path(struct tg_run_logs *logs, const char *folder, const char *rest) {
  if (snprintf(logs->paths[logs->num], PATH_MAX, "%s%s", folder, rest) < PATH_MAX) {
    logs->num++;
  }
}

void tg_run_logs_find(struct tg_run_logs *out, const char *workspace, const char *history) {
  const char *state = getenv("XDG_STATE_HOME");
  const char *home = getenv("HOME");
  out->num = 0;
  if (workspace != NULL && workspace[0] != '\0') {
    add_path(out, workspace, "/reports/runs.jsonl");
  }
  // A relative XDG_STATE_HOME is to be ignored (XDG Base Directory Specification).
  if (state != NULL && state[0] == '/') {
    add_path(out, state, "/tlsgate/runs.jsonl");
  } else if (home != NULL && home[0] == '/') {
    add_path(out, home, "/.local/state/tlsgate/runs.jsonl");
  }
  if (history != NULL) {
    add_path(out, history, "");
  }
}

static json_t *values_of(const struct tg_report *report) {
  json_t *values = json_object();
  for (size_t i = 0; i < report->num_rows; i++) {
    if (report->rows[i].has_value) {
      (void)json_object_set_new(values, report->rows[i].name, json_real(report->rows[i].value));
    }
  }
  return values;
}

static json_t *start_line(const struct tg_report *report) {
  return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:b, s:s*, s:o}", "schema", TG_RUN_LOG_SCHEMA, "event", "start",
                   "id", report->id, "start", report->start, "mode", tg_mode_name(report->mode), "profile",
                   tg_profile_name(report->profile), "genuine", tg_report_is_genuine(report), "server", report->server,
                   "provenance", tg_environment_encode(&report->environment));
}

static json_t *end_line(const struct tg_report *report) {
  bool complete = report->kind == TG_REPORT_COMPLETE;
  return json_pack("{s:i, s:s, s:s, s:s, s:s, s:i, s:b, s:o}", "schema", TG_RUN_LOG_SCHEMA, "event", "end", "id",
                   report->id, "finish", report->finish, "verdict", tg_outcome_name(report->verdict), "exit_status",
                   (int)report->exit_status, "readable", complete && report->readable, "values",
                   complete ? values_of(report) : json_null());
}

// Says whether the last byte is a newline, or there is none: a line cut short is ended before the next.
static bool ends_a_line(int fd) {
  char last = '\n';
  off_t end = lseek(fd, 0, SEEK_END);
  return end <= 0 || pread(fd, &last, 1, end - 1) != 1 || last == '\n';
}

static bool append_text(const char *path, const char *text, struct tg_error *err) {
  // O_RDWR: its last byte is looked at.
  int fd = tg_folder_of_file_make(path, err) ? open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -2;
  if (fd < 0) {
    if (fd == -1) {
      tg_error_set(err, "cannot open the log of runs %s: %s", path, strerror(errno));
    }
    return false;
  }
  bool ok = flock(fd, LOCK_EX) == 0;
  if (ok && !ends_a_line(fd)) {
    ok = write(fd, "\n", 1) == 1;
  }
  size_t len = strlen(text);
  errno = 0;
  ok = ok && write(fd, text, len) == (ssize_t)len;
  if (!ok) {
    tg_error_set(err, "cannot write to the log of runs %s: %s", path,
                 errno != 0 ? strerror(errno) : "only part of a line fitted");
  }
  close(fd);
  return ok;
}

// Takes over `line`.
static bool append(const struct tg_run_logs *logs, json_t *line, size_t *logged, struct tg_error *err) {
  char *json = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(TG_REPORT_DIGITS));
  size_t room = json == NULL ? 0 : strlen(json) + 2;
  char *text = json == NULL ? NULL : malloc(room);
  bool ok = text != NULL;
  *logged = 0;
  if (!ok) {
    tg_error_set(err, "out of memory for the log of runs");
  } else {
    (void)snprintf(text, room, "%s\n", json);
    for (size_t i = 0; i < logs->num; i++) {
      bool wrote = append_text(logs->paths[i], text, ok ? err : NULL);
      *logged += wrote;
      ok = ok && wrote;
    }
  }
  free(text);
  free(json);
  json_decref(line);
  return ok;
}

bool tg_run_log_start(const struct tg_run_logs *logs, const struct tg_report *report, size_t *logged,
                      struct tg_error *err) {
  return append(logs, start_line(report), logged, err);
}

bool tg_run_log_end(const struct tg_run_logs *logs, const struct tg_report *report, size_t *logged,
                    struct tg_error *err) {
  return append(logs, end_line(report), logged, err);
}
