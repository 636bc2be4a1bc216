// How far a run can be believed: its rows, its machine, and the run as a whole.
//
// What decides whether a run is readable is measured in the run itself: CPU time that the hypervisor took, the speed of
// the calibration loop from round to round, and how far the rounds of the rows scatter. Load average and idle time are
// recorded as context and decide nothing: they say what else ran, not whether it disturbed.
#ifndef TLSGATE_PERF_TRUST_TRUST_H
#define TLSGATE_PERF_TRUST_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/report/report.h"
#include "perf/report/run_log.h"
#include "perf/verdict/samples.h"

// Stolen CPU time above this share makes a run unreadable. Two in a hundred move a median less than the rounds scatter
// on a quiet machine (2 to 10 %); beyond 5 the thief is the larger part of what is seen.
#define TG_TRUST_STOLEN_MAX 0.05

// The calibration loop is CPU time of computation alone and repeats within 3 % on a steady CPU. Its rounds may scatter
// by this much (robust relative standard deviation), and its later half may differ from its earlier half by this
// factor.
#define TG_TRUST_CALIBRATION_SPREAD_MAX 0.15
#define TG_TRUST_CALIBRATION_DRIFT_MAX  1.2

// The sequential rule declares noise of 0.3 (perf/stats/sequential.h). When more than half of the timed rows scatter
// beyond that, what is claimed of its error rates does not hold.
#define TG_TRUST_ROW_SPREAD_MAX 0.3

// A round farther than this many robust standard deviations from the median is an outlier, but not one that is within 1
// % of it: rounds that agree to the last digit have no scale.
#define TG_TRUST_OUTLIER_SCALES 3.0
#define TG_TRUST_OUTLIER_LEAST  0.01

// Earlier runs that run-to-run figures look back on, the newest.
#define TG_TRUST_HISTORY_RUNS 40

// The metric of the calibration loop.
#define TG_TRUST_CALIBRATION_METRIC "in_memory_handshake_us"

// tg_trust_of_series fills in spread, instability and outliers from a row's samples (NULL: none, and not known). A
// proportion has none of the three, and gets 0: its exact limits say more.
void tg_trust_of_series(struct tg_trust *out, const struct tg_series *series);

// tg_trust_run_to_run fills in the row's history from earlier runs: the newest TG_TRUST_HISTORY_RUNS finished readable
// ones of the genuine server (of the same described one, if that was judged), in the report's environment and profile,
// whatever their revision, that have a value above 0 of this row. Without any, or when the row has no value above 0, it
// stays "no_history".
void tg_trust_run_to_run(struct tg_report_row *row, const struct tg_report *report,
                         const struct tg_run_history *history);

// tg_trust_calibration fills in the calibration's figures from the run's samples. Its `values_us` is a new array in
// *out_values, to be released with json_decref; NULL if the run did not calibrate.
void tg_trust_calibration(struct tg_calibration *out, const struct tg_samples *samples, json_t **out_values);

// tg_trust_drift fills in the report's drift from the comparisons of its rows: with the baseline if any row has one,
// else with the CPU model's history.
void tg_trust_drift(struct tg_report *report);

// Room for the texts that the report's reasons borrow.
struct tg_trust_reasons {
  char texts[TG_REPORT_REASONS_MAX][200];
};

// tg_trust_read decides whether the run is readable and fills in `readable` and `reasons` of the report, from its
// stolen time, calibration and rows. The reasons borrow `texts`.
void tg_trust_read(struct tg_report *report, struct tg_trust_reasons *texts);

#endif
