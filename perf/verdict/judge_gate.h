// Judging one gate from its own samples. For verdict.c alone.
#ifndef TLSGATE_PERF_VERDICT_JUDGE_GATE_H
#define TLSGATE_PERF_VERDICT_JUDGE_GATE_H

#include "perf/stats/sequential.h"
#include "perf/verdict/verdict.h"

// tg_judge_gate fills in value, spread, bound, distance, rounds, message and a status from the samples of a gate that
// is gated and not judged by its firm metric, as if neither the client nor the host were in the way.
void tg_judge_gate(struct tg_gate_verdict *out, const struct tg_gate *gate, const struct tg_samples *samples,
                   const struct tg_rule *rule);

// tg_describe_series fills in value, spread, rounds and client_bound alone.
void tg_describe_series(struct tg_gate_verdict *out, const struct tg_series *series);

// tg_compare decides by plain comparison of out->value with `bound`.
void tg_compare(struct tg_gate_verdict *out, double bound);

#endif
