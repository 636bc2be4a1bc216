#include "perf/manifest/gate_decode.h"

#include <string.h>

enum { NAME_LEN_MAX = 48 };

static const char *const kKinds[] = {"exact", "counted", "physics", "relative", "absolute"};
static const char *const kDirections[] = {"at_most", "at_least"};
static const char *const kJudges[] = {"sequential", "fraction", "firm", "every_round"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *tg_gate_kind_name(enum tg_gate_kind kind) {
  return kKinds[kind];
}

const char *tg_direction_sign(enum tg_direction direction) {
  return direction == TG_AT_MOST ? "<=" : ">=";
}

static bool decode_name(struct tg_gate *out, struct tg_json_place *place) {
  if (!tg_json_text(place, "name", &out->name)) return false;
  const size_t good = strspn(out->name, "abcdefghijklmnopqrstuvwxyz0123456789_");
  const bool starts_well = out->name[0] >= 'a' && out->name[0] <= 'z';
  if (out->name[good] == '\0' && good <= NAME_LEN_MAX && starts_well) return true;
  return tg_json_fail(place, "name", "\"%.60s\" is not a metric's name: [a-z][a-z0-9_]*, at most %d characters",
                      out->name, NAME_LEN_MAX);
}

static bool decode_judge(struct tg_gate *out, struct tg_json_place *place) {
  const bool counts = out->kind == TG_KIND_EXACT || out->kind == TG_KIND_COUNTED;
  int judge = counts ? TG_JUDGED_EVERY_ROUND : TG_JUDGED_SEQUENTIAL;
  if (tg_json_has(place, "judged_by") && !tg_json_choice(place, "judged_by", kJudges, COUNT(kJudges), &judge))
    return false;
  out->judged_by = (enum tg_judged_by)judge;
  if (counts != (out->judged_by == TG_JUDGED_EVERY_ROUND)) {
    return tg_json_fail(place, "judged_by", "kinds exact and counted are judged by every_round, and no other kind is");
  }
  if (out->judged_by == TG_JUDGED_FRACTION && out->direction != TG_AT_MOST) {
    return tg_json_fail(place, "direction", "a fraction is judged at_most its bound; count the opposite instead");
  }
  return true;
}

static bool decode_relative_bound(struct tg_gate *out, struct tg_json_place *place) {
  struct tg_json_place relative;
  if (tg_json_has(place, "bound")) {
    return tg_json_fail(place, "relative_to", "cannot stand beside bound; keep one of them");
  }
  if (out->judged_by != TG_JUDGED_SEQUENTIAL) {
    return tg_json_fail(place, "relative_to", "only a gate that is judged by the sequential rule can be relative");
  }
  return tg_json_object(place, "relative_to", &relative) && tg_json_text(&relative, "metric", &out->relative_to) &&
         tg_json_positive(&relative, "factor", &out->factor) && tg_json_close(&relative);
}

static bool decode_fixed_bound(struct tg_gate *out, struct tg_json_place *place) {
  if (tg_json_is_null(place, "bound")) {
    out->disabled = true;
    return true;
  }
  if (!tg_json_number(place, "bound", &out->bound)) return false;
  const bool zero_allowed = out->judged_by == TG_JUDGED_EVERY_ROUND;
  if (out->bound < 0 || (out->bound == 0 && !zero_allowed)) {
    return tg_json_fail(place, "bound", "must be %s 0, is %g", zero_allowed ? "at least" : "above", out->bound);
  }
  if (out->judged_by == TG_JUDGED_FRACTION && out->bound >= 0.5) {
    return tg_json_fail(place, "bound", "of a fraction must be below 0.5, is %g", out->bound);
  }
  return true;
}

static bool decode_bound(struct tg_gate *out, struct tg_json_place *place) {
  if (tg_json_has(place, "relative_to")) return decode_relative_bound(out, place);
  return decode_fixed_bound(out, place);
}

static bool decode_numbers(struct tg_gate *out, struct tg_json_place *place) {
  long long value = 0;
  if (out->judged_by == TG_JUDGED_FRACTION) {
    if (!tg_json_integer(place, "min_trials", 1, 1000000000, &value)) return false;
    out->min_trials = (uint64_t)value;
  }
  if (!tg_json_has(place, "min_rounds")) return true;
  // Fewer rounds than the rule's own minimum would void what it claims.
  if (!tg_json_integer(place, "min_rounds", 5, 1000, &value)) return false;
  out->min_rounds = (size_t)value;
  return true;
}

static bool decode_gated(struct tg_gate *out, enum tg_purpose purpose, struct tg_json_place *place) {
  if (!decode_judge(out, place)) return false;
  if (!tg_json_optional_text(place, "firm", &out->firm)) return false;
  if (out->judged_by == TG_JUDGED_FIRM) {
    if (out->firm == NULL) return tg_json_fail(place, "firm", "missing; judged_by says that this metric decides");
  } else if (!decode_bound(out, place) || !tg_json_text(place, "why", &out->why)) {
    return false;
  }
  if (!out->disabled && purpose == TG_PURPOSE_RUN && !tg_json_text(place, "fault", &out->fault)) return false;
  if ((out->disabled || purpose == TG_PURPOSE_REPLAY) && !tg_json_optional_text(place, "fault", &out->fault))
    return false;
  return tg_json_optional_bool(place, "stall_sensitive", &out->stall_sensitive) &&
         tg_json_optional_bool(place, "interval", &out->interval) && decode_numbers(out, place);
}

bool tg_gate_decode(struct tg_gate *out, enum tg_purpose purpose, struct tg_json_place *place) {
  int kind = 0;
  int direction = 0;
  if (!decode_name(out, place) || !tg_json_text(place, "unit", &out->unit)) return false;
  if (!tg_json_choice(place, "kind", kKinds, COUNT(kKinds), &kind)) return false;
  if (!tg_json_choice(place, "direction", kDirections, COUNT(kDirections), &direction)) return false;
  out->kind = (enum tg_gate_kind)kind;
  out->direction = (enum tg_direction)direction;
  if (purpose == TG_PURPOSE_RUN && !tg_json_text(place, "workload", &out->workload)) return false;
  if (purpose == TG_PURPOSE_REPLAY && !tg_json_optional_text(place, "workload", &out->workload)) return false;
  if (!tg_json_optional_text(place, "recorded_only", &out->recorded_only)) return false;
  if (out->recorded_only == NULL && !decode_gated(out, purpose, place)) return false;
  // A metric that is recorded only has no bound, hence no reason for one: tg_json_close refuses them.
  return tg_json_close(place);
}
