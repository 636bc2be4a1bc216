// Instructions from repeated runs: medians, and what the runs say may be allowed.
#ifndef TLSGATE_PERF_EXACT_REPEAT_H
#define TLSGATE_PERF_EXACT_REPEAT_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/exact/baseline.h"
#include "perf/exact/figures.h"

// tg_exact_repeat measures the instructions `out_recorded->runs` times, each with an environment of another size, and
// puts each figure's median into `figures`, whose other figures are there already (run.h). The allowance of a section
// is twice the widest spread of its figures, at least TG_EXACT_ALLOWANCE_MIN; that of `dispatched`
// TG_EXACT_LIBRARY_ALLOWANCE. Returns false with `err` filled in when a run fails or when an allowance would be over
// what it may be (baseline.h): then `err` names the figure.
bool tg_exact_repeat(const char *measure, const char *scenarios, struct tg_exact_figures *figures,
                     struct tg_exact_recorded *out_recorded, struct tg_error *err);

#endif
