#include "perf/verdict/verdict.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/stats/sequential.h"
#include "perf/verdict/judge_gate.h"
#include "perf/verdict/narrow.h"

const char *tg_status_name(enum tg_status status) {
  static const char *const names[] = {"pass", "fail", "undecided", "client-bound", "recorded", "disabled", "left-out"};
  return names[status];
}

const struct tg_gate_verdict *tg_verdict_gate(const struct tg_verdict *verdict, const char *name) {
  assert(name != NULL);
  for (size_t i = 0; i < verdict->num_gates; i++) {
    if (strcmp(verdict->gates[i].gate->name, name) == 0) return &verdict->gates[i];
  }
  return NULL;
}

static struct tg_verdict *create(const struct tg_manifest *manifest) {
  struct tg_verdict *verdict = calloc(1, sizeof(*verdict));
  assert(verdict != NULL);
  verdict->gates = calloc(manifest->num_gates, sizeof(*verdict->gates));
  assert(verdict->gates != NULL);
  verdict->num_gates = manifest->num_gates;
  for (size_t i = 0; i < manifest->num_gates; i++) verdict->gates[i].gate = &manifest->gates[i];
  return verdict;
}

void tg_verdict_free(struct tg_verdict *verdict) {
  if (verdict == NULL) return;
  free(verdict->gates);
  free(verdict);
}

static void set_not_gated(struct tg_gate_verdict *out) {
  const bool recorded = out->gate->recorded_only != NULL;
  out->status = recorded ? TG_STATUS_RECORDED : TG_STATUS_DISABLED;
  snprintf(out->message, sizeof(out->message), "%s",
           recorded ? out->gate->recorded_only : "disabled: its bound is null in the manifest");
}

static size_t num_statistical(const struct tg_manifest *manifest) {
  size_t num = 0;
  for (size_t i = 0; i < manifest->num_gates; i++) num += tg_gate_is_gated(&manifest->gates[i]);
  return num;
}

static bool most(size_t some, size_t all) {
  return some > 0 && 2 * some >= all;
}

// A saturated client says that the server does at least so much. That is worth nothing against a bound that moves with
// the machine or with another metric, but a floor from physics is exceeded for good, or will be after more rounds. A
// control whose client was saturated makes a relative bound too easy: what fails it fails, what passes it proves
// nothing.
static bool client_decides(const struct tg_gate_verdict *v) {
  if (v->gate->direction != TG_AT_LEAST) return false;
  if (v->status != TG_STATUS_FAIL && v->gate->kind == TG_KIND_PHYSICS) return false;
  if (v->status == TG_STATUS_PASS && most(v->control_client_bound, v->rounds)) return true;
  return most(v->client_bound, v->rounds);
}

// Hands the verdict to the firm metric, which has been judged already.
static void judge_by_firm(struct tg_gate_verdict *out, const struct tg_gate_verdict *firm, const char *because) {
  out->judged_by_firm = true;
  out->status = firm->status;
  out->open = firm->open;
  const bool explain = firm->status != TG_STATUS_PASS;
  snprintf(out->message, sizeof(out->message), "%sjudged by server CPU per unit of work, %s: %s%s%s", because,
           firm->gate->name, tg_status_name(firm->status), explain ? "; " : "", explain ? firm->message : "");
}

static void consider_client(struct tg_verdict *verdict, struct tg_gate_verdict *out) {
  if (!client_decides(out)) return;
  if (out->gate->firm != NULL) {
    judge_by_firm(out, tg_verdict_gate(verdict, out->gate->firm), "client-bound, ");
    return;
  }
  const bool own = most(out->client_bound, out->rounds);
  out->status = TG_STATUS_CLIENT_BOUND;
  snprintf(out->message, sizeof(out->message),
           "client-bound in %zu of %zu rounds%s: the load client, not the server, was the limit; give it more CPUs, or "
           "name a firm metric in the manifest",
           own ? out->client_bound : out->control_client_bound, out->rounds, own ? "" : " of its control");
}

struct tg_verdict *tg_verdict_judge(const struct tg_manifest *manifest, const struct tg_samples *samples,
                                    const struct tg_host_view *host) {
  struct tg_verdict *verdict = create(manifest);
  struct tg_rule rule;
  const size_t num = num_statistical(manifest);
  tg_rule_for_suite(&rule, num > 0 ? num : 1);
  for (size_t i = 0; i < verdict->num_gates; i++) {
    struct tg_gate_verdict *out = &verdict->gates[i];
    if (tg_gate_is_gated(out->gate) && out->gate->judged_by != TG_JUDGED_FIRM) {
      tg_judge_gate(out, out->gate, samples, &rule);
      continue;
    }
    tg_describe_series(out, tg_samples_find(samples, out->gate->name));
    if (!tg_gate_is_gated(out->gate)) set_not_gated(out);
  }
  // A firm metric has no firm metric itself (manifest.c): what has none is settled first.
  for (int with_firm = 0; with_firm <= 1; with_firm++) {
    for (size_t i = 0; i < verdict->num_gates; i++) {
      struct tg_gate_verdict *out = &verdict->gates[i];
      if (!tg_gate_is_gated(out->gate) || (out->gate->firm != NULL) != with_firm) continue;
      if (out->gate->judged_by == TG_JUDGED_FIRM) {
        judge_by_firm(out, tg_verdict_gate(verdict, out->gate->firm), "");
      } else {
        consider_client(verdict, out);
      }
      tg_gate_hide(out, host->stall_hidden_by);
    }
  }
  tg_verdict_recount(verdict);
  return verdict;
}

static const struct tg_row_value *row_value(const struct tg_row *row, const char *name) {
  for (size_t i = 0; i < row->num_values; i++) {
    if (strcmp(row->values[i].name, name) == 0) return &row->values[i];
  }
  return NULL;
}

static void replay_gate(struct tg_gate_verdict *out, const struct tg_row *row) {
  const struct tg_gate *gate = out->gate;
  const struct tg_row_value *value = row_value(row, gate->name);
  if (value != NULL) {
    out->has_value = true;
    out->value = value->value;
    out->rounds = 1;
  }
  if (!tg_gate_is_gated(gate)) {
    set_not_gated(out);
    return;
  }
  if (gate->judged_by == TG_JUDGED_FIRM) return;
  const struct tg_row_value *other = gate->relative_to != NULL ? row_value(row, gate->relative_to) : NULL;
  if (value == NULL || (gate->relative_to != NULL && other == NULL)) {
    out->status = TG_STATUS_UNDECIDED;
    snprintf(out->message, sizeof(out->message), "the row has no %s; complete it",
             value == NULL ? gate->name : gate->relative_to);
    return;
  }
  const double bound = other != NULL ? gate->factor * other->value : gate->bound;
  if (other != NULL && !(bound > 0 && isfinite(bound))) {
    out->status = TG_STATUS_UNDECIDED;
    snprintf(out->message, sizeof(out->message), "no bound follows from %s %g; correct the row", other->name,
             other->value);
    return;
  }
  tg_compare(out, bound);
}

struct tg_verdict *tg_verdict_replay(const struct tg_manifest *manifest, const struct tg_row *row) {
  struct tg_verdict *verdict = create(manifest);
  for (size_t i = 0; i < verdict->num_gates; i++) replay_gate(&verdict->gates[i], row);
  for (size_t i = 0; i < verdict->num_gates; i++) {
    struct tg_gate_verdict *out = &verdict->gates[i];
    if (!tg_gate_is_gated(out->gate) || out->gate->judged_by != TG_JUDGED_FIRM) continue;
    judge_by_firm(out, tg_verdict_gate(verdict, out->gate->firm), "");
  }
  tg_verdict_recount(verdict);
  return verdict;
}

bool tg_verdict_settled(const struct tg_verdict *verdict) {
  for (size_t i = 0; i < verdict->num_gates; i++) {
    if (verdict->gates[i].open) return false;
  }
  return true;
}

int tg_verdict_exit_code(const struct tg_verdict *verdict) {
  switch (verdict->status) {
    case TG_STATUS_PASS:
      return 0;
    case TG_STATUS_FAIL:
      return 1;
    default:
      return 3;
  }
}
