// Taking back what a verdict must not say: on a host that hides the stall, in a run that cannot be read, and when only
// ratios are to be judged. None of them turns a verdict into a better one, but for what is no longer judged at all.
#ifndef TLSGATE_PERF_VERDICT_NARROW_H
#define TLSGATE_PERF_VERDICT_NARROW_H

#include "perf/verdict/verdict.h"

// tg_gate_hide makes a stall-sensitive gate that has not failed undecided: `hidden_by` keeps a stalled server from
// stalling here. Counts of the verdict are not touched.
void tg_gate_hide(struct tg_gate_verdict *gate, const char *hidden_by);

// tg_gate_leave_out makes a gate one that does not apply to the server, for the reason `why`, whatever its samples say.
// Counts of the verdict are not touched.
void tg_gate_leave_out(struct tg_gate_verdict *gate, const char *why);

// tg_verdict_leave_out_group adds a line for gates that the manifest does not hold and that do not apply. `gate`, which
// is kept, stands for all of them.
void tg_verdict_leave_out_group(struct tg_verdict *verdict, const struct tg_gate *gate, const char *why);

// tg_verdict_hide is tg_gate_hide for all gates.
void tg_verdict_hide(struct tg_verdict *verdict, const char *hidden_by);

// tg_verdict_unreadable makes every gate that was decided undecided, but those that hold however noisy the machine was:
// physics, exact and counted. A gate that its firm metric judged goes with the firm metric. `reason` says why the run
// cannot be read.
void tg_verdict_unreadable(struct tg_verdict *verdict, const char *reason);

// tg_verdict_ratios_only takes absolute gates, and gates that an absolute firm metric judged, out of the judgement:
// they become TG_STATUS_RECORDED. What depends on the speed of the machine is not judged then.
void tg_verdict_ratios_only(struct tg_verdict *verdict);

// tg_verdict_recount counts the gates anew and derives the verdict's status, after any of them has changed.
void tg_verdict_recount(struct tg_verdict *verdict);

#endif
