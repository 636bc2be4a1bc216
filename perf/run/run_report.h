// From a measured run to its report: identity, trust, what it is compared with, verdict and exit status.
//
//     tg_run_report_begin -> measure -> tg_run_report_complete or tg_run_report_fail -> tg_run_report_publish
//
// begin logs that the run exists, before anything is measured, and publish logs how it ended: see run_log.h.
#ifndef TLSGATE_PERF_RUN_RUN_REPORT_H
#define TLSGATE_PERF_RUN_RUN_REPORT_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/baseline/cpu_history.h"
#include "perf/baseline/host_baseline.h"
#include "perf/host/provenance.h"
#include "perf/report/report.h"
#include "perf/report/run_log.h"
#include "perf/run/run.h"
#include "perf/trust/trust.h"

struct tg_run_report_config {
  enum tg_mode mode;
  enum tg_profile profile;
  const char *server;  // name of a described server; NULL: the project's own
  const char *quickack;
  const char *fault;         // NULL: none
  bool evidence;             // see tg_report
  bool report_undecided;     // TLSGATE_UNDECIDED=report; not of a full run
  const char *history;       // --history; NULL
  const char *workspace;     // the source tree, where baselines and the log are; empty: unknown
  const char *timed;         // the program that is timed
  const json_t *provenance;  // tg_provenance's; borrowed until tg_run_report_end
  const struct tg_manifest *manifest;
};

struct tg_run_report {
  struct tg_run_report_config config;
  struct tg_report report;  // points into what follows
  char id[TG_RUN_ID_LEN + 1];
  char start[32];
  char finish[32];
  char unenforced_because[400];
  char message[sizeof(((struct tg_error *)0)->text)];
  struct tg_trust_reasons reasons;
  struct tg_run_logs logs;
  struct tg_run_history history;
  struct tg_host_baseline *baseline;   // NULL unless mode full and there is one for this host
  struct tg_cpu_history *cpu_history;  // NULL unless mode gates or full and there is one of this CPU model
  json_t *load_at_start;
  json_t *background;
  json_t *calibration_values;
  json_t *diagnosis;
};

// tg_run_report_begin gives the run its id, logs its start and looks up what it will be compared with. Logs that cannot
// be written or read and lines of them that are damaged are told on stderr. Returns false with `err` filled in when the
// run has no id, can be logged nowhere, or its provenance does not decode. A baseline or a history that there is and
// that does not decode, or a label that cannot name a host, fills `problem` in: the run must fail; else its text is
// empty. Either way tg_run_report_end is to be called.
bool tg_run_report_begin(struct tg_run_report *out, const struct tg_run_report_config *config, struct tg_error *problem,
                         struct tg_error *err);

// tg_run_report_fail makes it an error report.
void tg_run_report_fail(struct tg_run_report *out, const struct tg_run_failure *failure);

// tg_run_report_complete makes it the report of `run`, to whose verdict it adds the exact gates and which it may
// narrow: an unreadable run decides only what holds anyway, and a row that is worse than what was recorded of it fails.
// Borrows `run`. When the program that was timed is not the same any more, it becomes an error report.
void tg_run_report_complete(struct tg_run_report *out, struct tg_run *run);

// tg_run_report_publish writes the report's files into `folder` (see output.h; `run` is NULL of an error report) and
// logs how the run ended. Returns false with `err` filled in when they cannot be published; the run is then logged as
// an error.
bool tg_run_report_publish(struct tg_run_report *out, const char *folder, const struct tg_run *run,
                           struct tg_error *err);

// tg_run_report_end releases everything.
void tg_run_report_end(struct tg_run_report *report);

#endif
