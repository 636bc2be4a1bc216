// The log of runs: every run on a host, whatever became of it, so that a revision that was tried until it passed shows
// it.
//
// A log is a file of one JSON object a line, appended to with one write(2) under flock(2), so that runs that end at
// once do not mix. A run writes two lines: "start", before anything is measured, and "end". A run without an "end" was
// killed, or still runs; it counts as unfinished. Lines are never changed or removed. A last line without its newline
// (a full disk) is completed by the next writer, and skipped by readers with a diagnostic, as is any line that does not
// decode: a log that is damaged in one place still tells the rest.
//
// Each run is logged in two places: reports/runs.jsonl of the workspace, and $XDG_STATE_HOME/tlsgate/runs.jsonl
// (~/.local/state/tlsgate/runs.jsonl without it), which outlives the checkout; and in the file given to --history,
// which CI carries from one checkout to the next. Earlier runs are the union of what these logs hold, by run id.
#ifndef TLSGATE_PERF_REPORT_RUN_LOG_H
#define TLSGATE_PERF_REPORT_RUN_LOG_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/report/report.h"

#define TG_RUN_LOG_SCHEMA 1

// A run's log file beyond this size is refused, with the remedy to move it away: some 30,000 runs.
#define TG_RUN_LOG_BYTES_MAX ((long)64 << 20)

#define TG_RUN_LOGS_MAX 3

// tg_run_id_make writes 128 random bits (getrandom(2)) as hexadecimal digits to `out`. Returns false with `err` filled
// in when the kernel gives none.
bool tg_run_id_make(char out[TG_RUN_ID_LEN + 1], struct tg_error *err);

// tg_time_text writes the time now, "2026-01-31T23:59:59Z", to `out`.
void tg_time_text(char out[32]);

struct tg_run_logs {
  char paths[TG_RUN_LOGS_MAX][PATH_MAX];
  size_t num;
};

// tg_run_logs_find fills in where runs are logged. `workspace` may be NULL or empty; `history` is --history's argument
// or NULL. Without HOME and XDG_STATE_HOME there is no log outside of the workspace.
void tg_run_logs_find(struct tg_run_logs *out, const char *workspace, const char *history);

// tg_run_log_start and tg_run_log_end append a line about the report's run to every log, making files and folders that
// are missing. What they need of the report is the part of both shapes, and tg_run_log_end the rows too.
// They try all logs. Return false with `err` naming one that could not be written, if any: a start that cannot be
// logged anywhere must stop the run, see tg_run_log_start's *logged, the number of logs that have the line.
bool tg_run_log_start(const struct tg_run_logs *logs, const struct tg_report *report, size_t *logged,
                      struct tg_error *err);
bool tg_run_log_end(const struct tg_run_logs *logs, const struct tg_report *report, size_t *logged,
                    struct tg_error *err);

// A run as the logs tell it.
struct tg_logged_run {
  const char *id;
  const char *start;
  enum tg_mode mode;
  enum tg_profile profile;
  bool genuine;        // tg_report_is_genuine
  const char *server;  // as in a report; NULL: the project's own
  bool dirty;          // the tree was not known to be exactly the commit
  bool finished;
  enum tg_outcome verdict;   // if finished
  enum tg_exit exit_status;  // if finished
  bool readable;             // if finished
  struct tg_environment environment;
  const json_t *values;  // object: metric -> value; NULL unless finished with a verdict
};

// All runs of the logs, oldest first, each once.
struct tg_run_history {
  struct tg_logged_run *runs;
  size_t num;
  size_t damaged;                // lines that did not decode
  struct tg_error first_damage;  // where and why, of the first
  json_t *lines;                 // what the runs borrow from
};

// tg_run_history_load reads the logs; one that does not exist is empty. Returns false with `err` filled in when one
// cannot be read; then there is nothing to free.
bool tg_run_history_load(const struct tg_run_logs *logs, struct tg_run_history *out, struct tg_error *err);
void tg_run_history_free(struct tg_run_history *history);

// tg_run_judged_the_same says whether a logged run judged the report's server: both the project's own, or described
// ones of one name.
bool tg_run_judged_the_same(const struct tg_logged_run *run, const struct tg_report *report);

// tg_run_history_list fills in the report's list of earlier runs: those of its revision on its host that judged the
// same server, but itself. The
// list borrows `history` and is to be released with free(report->earlier). A run whose commit is not known has none.
void tg_run_history_list(const struct tg_run_history *history, struct tg_report *report);

#endif
