#include "perf/verdict/narrow.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

void tg_verdict_recount(struct tg_verdict *verdict) {
  verdict->passed = 0;
  verdict->failed = 0;
  verdict->undecided = 0;
  for (size_t i = 0; i < verdict->num_gates; i++) {
    switch (verdict->gates[i].status) {
      case TG_STATUS_PASS:
        verdict->passed++;
        break;
      case TG_STATUS_FAIL:
        verdict->failed++;
        break;
      case TG_STATUS_UNDECIDED:
      case TG_STATUS_CLIENT_BOUND:
        verdict->undecided++;
        break;
      case TG_STATUS_RECORDED:
      case TG_STATUS_DISABLED:
      case TG_STATUS_LEFT_OUT:
        break;
    }
  }
  verdict->gated = verdict->passed + verdict->failed + verdict->undecided;
  verdict->status = verdict->failed > 0      ? TG_STATUS_FAIL
                    : verdict->undecided > 0 ? TG_STATUS_UNDECIDED
                                             : TG_STATUS_PASS;
}

void tg_gate_hide(struct tg_gate_verdict *gate, const char *hidden_by) {
  if (hidden_by == NULL || !gate->gate->stall_sensitive || gate->status == TG_STATUS_FAIL) return;
  // A gate that was still open would only go on to the same end.
  gate->status = TG_STATUS_UNDECIDED;
  gate->open = false;
  snprintf(
      gate->message, sizeof(gate->message),
      "this host hides the stall (%s): a server without the re-arm does not stall here either; undo that setting, or "
      "run elsewhere",
      hidden_by);
}

void tg_gate_leave_out(struct tg_gate_verdict *gate, const char *why) {
  *gate = (struct tg_gate_verdict){.gate = gate->gate, .status = TG_STATUS_LEFT_OUT};
  (void)snprintf(gate->message, sizeof(gate->message), "%.390s", why);
}

void tg_verdict_leave_out_group(struct tg_verdict *verdict, const struct tg_gate *gate, const char *why) {
  struct tg_gate_verdict *all = realloc(verdict->gates, (verdict->num_gates + 1) * sizeof(*all));
  assert(all != NULL);
  verdict->gates = all;
  all[verdict->num_gates] = (struct tg_gate_verdict){.gate = gate};
  tg_gate_leave_out(&all[verdict->num_gates], why);
  verdict->num_gates++;
}

void tg_verdict_hide(struct tg_verdict *verdict, const char *hidden_by) {
  for (size_t i = 0; i < verdict->num_gates; i++) {
    // What is recorded says nothing, hidden or not.
    const bool judged = tg_gate_is_gated(verdict->gates[i].gate) && verdict->gates[i].status != TG_STATUS_LEFT_OUT;
    if (judged) tg_gate_hide(&verdict->gates[i], hidden_by);
  }
  tg_verdict_recount(verdict);
}

// What the verdict on a gate rests on: its own kind, or that of the firm metric that judged it.
static enum tg_gate_kind kind_of(const struct tg_verdict *verdict, const struct tg_gate_verdict *gate) {
  if (!gate->judged_by_firm) return gate->gate->kind;
  const struct tg_gate_verdict *firm = tg_verdict_gate(verdict, gate->gate->firm);
  return firm != NULL ? firm->gate->kind : gate->gate->kind;
}

static bool holds_anyway(enum tg_gate_kind kind) {
  return kind == TG_KIND_PHYSICS || kind == TG_KIND_EXACT || kind == TG_KIND_COUNTED;
}

void tg_verdict_unreadable(struct tg_verdict *verdict, const char *reason) {
  for (size_t i = 0; i < verdict->num_gates; i++) {
    struct tg_gate_verdict *gate = &verdict->gates[i];
    const bool decided = gate->status == TG_STATUS_PASS || gate->status == TG_STATUS_FAIL;
    if (!decided || holds_anyway(kind_of(verdict, gate))) continue;
    const char *was = gate->status == TG_STATUS_PASS ? "pass" : "fail";
    gate->status = TG_STATUS_UNDECIDED;
    gate->open = false;
    snprintf(gate->message, sizeof(gate->message),
             "the run cannot be read, so that this %s is none: %.200s; quiet the machine, and run again", was, reason);
  }
  tg_verdict_recount(verdict);
}

void tg_verdict_ratios_only(struct tg_verdict *verdict) {
  for (size_t i = 0; i < verdict->num_gates; i++) {
    struct tg_gate_verdict *gate = &verdict->gates[i];
    if (!tg_gate_is_gated(gate->gate) || gate->status == TG_STATUS_LEFT_OUT) continue;
    if (kind_of(verdict, gate) != TG_KIND_ABSOLUTE) continue;
    gate->status = TG_STATUS_RECORDED;
    gate->open = false;
    snprintf(gate->message, sizeof(gate->message), "not judged: --ratios-only");
  }
  tg_verdict_recount(verdict);
}
