// The report of one run: report.json. docs/evidence.md describes the file for readers.
//
// It has two shapes. A *complete* report holds the verdict and every row. An *error* report says where and why a run
// came to no verdict, and has no measurement in it: passed is false, and there is an "error" object instead of rows.
//
// Encoding and decoding are strict and inverse to each other. What tg_report_decode accepts is consistent: the exit
// status follows from the verdict, `passed` from both, acceptance from the mode. perf/report/publish.h reads a report
// back before it takes its place.
#ifndef TLSGATE_PERF_REPORT_REPORT_H
#define TLSGATE_PERF_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/manifest/manifest.h"
#include "perf/report/environment.h"
#include "perf/verdict/verdict.h"

// The version of the file ("schema"). Version 1 had neither a run's identity nor its trust; it is refused.
#define TG_REPORT_SCHEMA 2

#define TG_REPORT_ROWS_MAX    1024  // timed gates (TG_GATES_MAX at the most), and exact ones
#define TG_REPORT_EARLIER_MAX 200   // earlier runs that are listed, the newest; all of them are counted
#define TG_REPORT_REASONS_MAX 16

// Length of a run's id: 128 random bits, hexadecimal.
#define TG_RUN_ID_LEN 32

enum tg_report_kind { TG_REPORT_COMPLETE, TG_REPORT_ERROR };

// What a run as a whole came to. Names in the file: pass, fail, undecided, unenforced, error.
enum tg_outcome {
  TG_OUTCOME_PASS,
  TG_OUTCOME_FAIL,
  TG_OUTCOME_UNDECIDED,
  TG_OUTCOME_UNENFORCED,  // a full run whose recorded baseline could not be enforced
  TG_OUTCOME_ERROR,       // only and always that of an error report
};

// Exit statuses of every program that judges.
enum tg_exit {
  TG_EXIT_PASS = 0,
  TG_EXIT_FAIL = 1,  // a gate failed, or the run did
  TG_EXIT_USAGE = 2,
  TG_EXIT_UNDECIDED = 3,
  TG_EXIT_UNENFORCED = 4,
};

// What a run judged. Names in the file: gates, full, ratios-only, only.
enum tg_mode {
  TG_MODE_GATES,        // bounds, ratios, exact gates, history of the CPU model
  TG_MODE_FULL,         // these, and the recorded baseline of the host
  TG_MODE_RATIOS_ONLY,  // ratios within the run, physics, exact gates: no acceptance
  TG_MODE_ONLY,         // some gates: a diagnostic, partial
};

// How much work a round does; runs of two profiles are never compared. Names in the file: short, published.
enum tg_profile { TG_PROFILE_SHORT, TG_PROFILE_PUBLISHED };

// One earlier run of the same revision on the same host, from the log of runs (perf/report/run_log.h).
struct tg_earlier_run {
  const char *id;
  const char *start;
  enum tg_mode mode;
  bool dirty;                // the tree was not exactly the commit, or git could not tell
  bool finished;             // false: it never said how it ended (killed, or still running)
  enum tg_outcome verdict;   // if finished
  enum tg_exit exit_status;  // if finished
};

// How a row compares with what was recorded elsewhere: a host baseline, or the history of a CPU model.
struct tg_comparison {
  bool present;           // false: there was nothing to compare with (null in the file)
  double reference;       // the recorded median, in the row's unit
  double allowance;       // 0.05: up to 5 % worse than the reference passes
  double ratio;           // how many times worse than the reference: above 1 is worse, whatever the direction
  size_t runs;            // that the reference is the median of
  enum tg_status status;  // pass, fail or undecided
};

// How far a row's value can be trusted, from its own samples and from earlier runs.
struct tg_trust {
  bool known;     // false: no samples (null in the file)
  double spread;  // robust relative standard deviation of the rounds: 0.05 is 5 %
  double
      instability;  // how far the median of the later half of the rounds is from that of the earlier half: 0.05 is 5 %
  size_t outliers;  // rounds that are farther than 3 robust standard deviations from the median
  // Run to run: this row's medians over earlier readable runs of the environment and profile.
  size_t history_runs;    // 0: "no_history" in the file, and the two below mean nothing
  double history_spread;  // robust relative standard deviation of their values
  double history_ratio;   // this value / their median
};

struct tg_report_row {
  const char *name;
  const char *unit;
  enum tg_gate_kind kind;
  enum tg_direction direction;
  enum tg_status status;
  bool has_value;
  double value;
  bool has_spread;  // false of a row without value
  double spread;    // as in tg_gate_verdict
  bool has_bound;
  double bound;
  bool has_distance;
  double distance;  // how many times the value is outside the bound: 0.5 is 2 x inside
  size_t rounds;
  size_t client_bound_rounds;
  bool judged_by_firm;
  const char *message;  // may be empty
  struct tg_comparison baseline;
  struct tg_comparison history;
  struct tg_trust trust;
};

// The calibration loop: CPU time of an in-memory handshake, once a round. Nothing that is judged runs in it, so what
// changes it is the machine.
struct tg_calibration {
  bool known;  // false: the run did not calibrate (null in the file)
  double median_us;
  double slowest;             // slowest round / median: 1.5 is 50 % slower
  double later_over_earlier;  // median of the later half of the rounds / that of the earlier half
  const json_t *values_us;    // array: one number a round
};

// Every row's ratio to what it is compared with (the baseline; where there is none, the CPU model's history). A median
// well off 1 means that the run was slow (or fast) as a whole.
struct tg_drift {
  size_t rows;          // 0: nothing to compare with (null in the file)
  const char *against;  // "baseline" or "history"
  double median;
  double lower_quartile;
  double upper_quartile;
};

struct tg_report {
  const char *file;  // as given to tg_report_load
  enum tg_report_kind kind;

  // Both shapes.
  const char *id;     // of the run: TG_RUN_ID_LEN hexadecimal digits, made before anything is measured
  const char *start;  // UTC, "2026-01-31T23:59:59Z"
  const char *finish;
  enum tg_mode mode;
  enum tg_profile profile;
  const char *server;    // name of the described server that was judged; NULL: the project's own
  const char *quickack;  // mode of the server that was judged: rearm, or a planted fault
  const char *fault;     // planted; NULL: none. tg_report_is_genuine() says whether the server was the real one
  bool evidence;         // --evidence: the exit status says only whether the report is complete; no acceptance
  enum tg_outcome verdict;
  enum tg_exit exit_status;
  bool passed;      // verdict and exit status are pass
  bool acceptance;  // a pass that accepts the change: a whole run of the genuine server in mode gates or full
  bool enforced;    // the recorded baseline was enforced on every row that it has
  const char *unenforced_because;     // of a full run that is not enforced; else NULL
  bool partial;                       // not every gate of the manifest was measured
  struct tg_environment environment;  // "provenance" in the file
  size_t num_earlier_total;           // earlier runs of this revision on this host, those not listed included
  struct tg_earlier_run *earlier;     // newest last
  size_t num_earlier;

  // Error reports only.
  const char *error_stage;     // setup, exact, server, warm-up, measurement, teardown
  const char *error_message;   // names client and phase; never holds bytes of a reply
  const char *error_workload;  // NULL if it was none's
  long long error_round;       // from 1; 0 if it was in none

  // Complete reports only.
  double measured_s;
  bool budget_extended;
  bool undecided_reported;                     // TLSGATE_UNDECIDED=report: undecided, and yet exit status 0
  bool readable;                               // if not, only physics, exact and counted gates were decided
  const char *reasons[TG_REPORT_REASONS_MAX];  // why it is not readable
  size_t num_reasons;
  bool has_stolen;
  double stolen;  // share of the machine's CPU time that the hypervisor gave to others
  bool host_stalls;
  double off_p50_ms[2];      // the run's own negative control, before and after
  const char *hidden_by;     // NULL if host_stalls
  const json_t *background;  // object: load averages and idle time, context that decides nothing
  struct tg_calibration calibration;
  struct tg_drift drift;
  struct tg_report_row *rows;  // in the order of the manifest
  size_t num_rows;
  const json_t *commands;   // object: what was started and run
  const json_t *diagnosis;  // object: why stall-sensitive gates failed (perf/diagnose); NULL: none was made

  void *impl;  // private; NULL of a report that was not decoded
};

// tg_report_load decodes `file`. Returns a report that owns what it points to, to be released with tg_report_free, or
// NULL with `err` filled in: file, place, what is wrong and the remedy.
struct tg_report *tg_report_load(const char *file, struct tg_error *err);

// tg_report_parse is tg_report_load for `len` bytes of text; `file` is the name for errors.
struct tg_report *tg_report_parse(const char *file, const char *text, size_t len, struct tg_error *err);

// tg_report_from_json is tg_report_load for a value that was parsed already (borrowed).
struct tg_report *tg_report_from_json(const char *file, json_t *value, struct tg_error *err);

// tg_report_free releases a report that one of the three above returned. NULL is ignored.
void tg_report_free(struct tg_report *report);

// tg_report_encode returns a new JSON value that decodes to the same report; NULL when out of memory.
json_t *tg_report_encode(const struct tg_report *report);

// tg_report_row returns the row of that name, or NULL.
const struct tg_report_row *tg_report_row_named(const struct tg_report *report, const char *name);

struct tg_report_counts {
  size_t judged;  // rows that are neither recorded, disabled nor left out
  size_t passed;
  size_t failed;
  size_t undecided;  // client-bound ones included
};

// tg_report_count counts the rows by status.
struct tg_report_counts tg_report_count(const struct tg_report *report);

// tg_report_verdict_of_rows returns what the rows of a complete report come to: fail if one failed; else unenforced if
// the mode is full and the baseline was not enforced; else undecided if one is; else pass. A full report with every
// baseline row skipped has established nothing, so that undecided rows do not hide it.
enum tg_outcome tg_report_verdict_of_rows(const struct tg_report *report);

// tg_report_is_genuine says whether the server that was judged is the project's own as it ships: re-arming, without
// planted fault.
bool tg_report_is_genuine(const struct tg_report *report);

// tg_report_is_whole says whether the run judged everything that a baseline needs: complete, not partial, mode gates or
// full, profile short, genuine server, every gated row with a value.
bool tg_report_is_whole(const struct tg_report *report);

// tg_report_conclude fills in `passed`, `exit_status` and `acceptance` from what has been decided: verdict, mode,
// partial, undecided_reported, quickack, fault, profile. It is the only place that knows the exit statuses.
void tg_report_conclude(struct tg_report *report);

// Names as in the file.
const char *tg_outcome_name(enum tg_outcome outcome);
const char *tg_mode_name(enum tg_mode mode);
const char *tg_profile_name(enum tg_profile profile);

#endif
