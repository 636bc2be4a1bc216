#include "perf/report/report_row.h"

#include <string.h>

#include "perf/report/json_fields.h"
#include "perf/verdict/samples.h"

#define NAME_LEN_MAX     96
#define HISTORY_RUNS_MAX 100000

static const char *kind_name(int kind) {
  return tg_gate_kind_name((enum tg_gate_kind)kind);
}

static const char *direction_sign(int direction) {
  return tg_direction_sign((enum tg_direction)direction);
}

static const char *status_name(int status) {
  return tg_status_name((enum tg_status)status);
}

static bool decode_name(struct tg_report_row *out, struct tg_json_place *place) {
  if (!tg_json_text(place, "name", &out->name)) {
    return false;
  }
  size_t good = strspn(out->name, "abcdefghijklmnopqrstuvwxyz0123456789_./");
  return (good <= NAME_LEN_MAX && out->name[good] == '\0') ||
         tg_json_fail(place, "name", "\"%.60s\" is not a row's name: [a-z0-9_./], at most %d characters", out->name,
                      NAME_LEN_MAX);
}

static bool decode_comparison(struct tg_comparison *out, struct tg_json_place *row, const char *key) {
  struct tg_json_place place;
  int status = 0;
  if (!tg_field_object_or_null(row, key, &out->present, &place)) {
    return false;
  }
  if (!out->present) {
    return true;
  }
  if (!tg_json_number(&place, "reference", &out->reference) || !tg_json_number(&place, "allowance", &out->allowance) ||
      !tg_json_number(&place, "ratio", &out->ratio) || !tg_field_size(&place, "runs", HISTORY_RUNS_MAX, &out->runs) ||
      !tg_field_name(&place, "status", status_name, TG_STATUS_UNDECIDED + 1, &status) || !tg_json_close(&place)) {
    return false;
  }
  out->status = (enum tg_status)status;
  return true;
}

static json_t *encode_comparison(const struct tg_comparison *comparison) {
  if (!comparison->present) {
    return json_null();
  }
  return json_pack("{s:f, s:f, s:f, s:I, s:s}", "reference", comparison->reference, "allowance", comparison->allowance,
                   "ratio", comparison->ratio, "runs", (json_int_t)comparison->runs, "status",
                   tg_status_name(comparison->status));
}

static bool decode_run_to_run(struct tg_trust *out, struct tg_json_place *trust) {
  static const char *const none[] = {"no_history"};
  struct tg_json_place place;
  int index = 0;
  if (json_is_string(json_object_get(trust->object, "run_to_run"))) {
    return tg_json_choice(trust, "run_to_run", none, 1, &index);
  }
  if (!tg_json_object(trust, "run_to_run", &place) ||
      !tg_field_size(&place, "runs", HISTORY_RUNS_MAX, &out->history_runs) ||
      !tg_json_number(&place, "spread", &out->history_spread) ||
      !tg_json_number(&place, "ratio", &out->history_ratio)) {
    return false;
  }
  return out->history_runs > 0 ? tg_json_close(&place)
                               : tg_json_fail(&place, "runs", "must be above 0; write \"no_history\" instead");
}

static bool decode_trust(struct tg_trust *out, struct tg_json_place *row) {
  struct tg_json_place place;
  if (!tg_field_object_or_null(row, "trust", &out->known, &place)) {
    return false;
  }
  return !out->known ||
         (tg_json_number(&place, "spread", &out->spread) && tg_json_number(&place, "instability", &out->instability) &&
          tg_field_size(&place, "outliers", TG_ROUNDS_MAX, &out->outliers) && decode_run_to_run(out, &place) &&
          tg_json_close(&place));
}

static json_t *encode_trust(const struct tg_trust *trust) {
  if (!trust->known) {
    return json_null();
  }
  json_t *run_to_run = trust->history_runs == 0
                           ? json_string("no_history")
                           : json_pack("{s:I, s:f, s:f}", "runs", (json_int_t)trust->history_runs, "spread",
                                       trust->history_spread, "ratio", trust->history_ratio);
  return json_pack("{s:f, s:f, s:I, s:o}", "spread", trust->spread, "instability", trust->instability, "outliers",
                   (json_int_t)trust->outliers, "run_to_run", run_to_run);
}

static bool decode_figures(struct tg_report_row *out, struct tg_json_place *place) {
  return tg_field_number_or_null(place, "value", &out->has_value, &out->value) &&
         tg_field_number_or_null(place, "spread", &out->has_spread, &out->spread) &&
         tg_field_number_or_null(place, "bound", &out->has_bound, &out->bound) &&
         tg_field_number_or_null(place, "times_outside", &out->has_distance, &out->distance) &&
         tg_field_size(place, "rounds", TG_ROUNDS_MAX, &out->rounds) &&
         tg_field_size(place, "client_bound_rounds", TG_ROUNDS_MAX, &out->client_bound_rounds) &&
         tg_field_bool(place, "judged_by_firm_metric", &out->judged_by_firm);
}

// The message may be empty, which tg_json_text refuses.
static bool decode_message(struct tg_report_row *out, struct tg_json_place *place) {
  if (!tg_field_text_or_null(place, "message", &out->message)) {
    return false;
  }
  out->message = out->message == NULL ? "" : out->message;
  return true;
}

static bool check(const struct tg_report_row *row, struct tg_json_place *place) {
  bool decided = row->status == TG_STATUS_PASS || row->status == TG_STATUS_FAIL;
  if (decided && !row->has_value) {
    return tg_json_fail(place, "value", "null, and yet the row is decided: %s", tg_status_name(row->status));
  }
  if (row->has_value != (row->rounds > 0)) {
    return tg_json_fail(place, "rounds", "a row has a value if, and only if, it has rounds");
  }
  return true;
}

bool tg_report_row_decode(struct tg_report_row *out, struct tg_json_place *place) {
  int kind = 0;
  int direction = 0;
  int status = 0;
  memset(out, 0, sizeof(*out));
  if (!decode_name(out, place) || !tg_json_text(place, "unit", &out->unit) ||
      !tg_field_name(place, "kind", kind_name, TG_KIND_ABSOLUTE + 1, &kind) ||
      !tg_field_name(place, "direction", direction_sign, TG_AT_LEAST + 1, &direction) ||
      !tg_field_name(place, "status", status_name, TG_STATUS_LEFT_OUT + 1, &status)) {
    return false;
  }
  out->kind = (enum tg_gate_kind)kind;
  out->direction = (enum tg_direction)direction;
  out->status = (enum tg_status)status;
  return decode_figures(out, place) && decode_message(out, place) &&
         decode_comparison(&out->baseline, place, "baseline") && decode_comparison(&out->history, place, "history") &&
         decode_trust(&out->trust, place) && tg_json_close(place) && check(out, place);
}

json_t *tg_report_row_encode(const struct tg_report_row *row) {
  return json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:o, s:o, s:o, s:o}", "name", row->name, "status",
      tg_status_name(row->status), "unit", row->unit, "kind", tg_gate_kind_name(row->kind), "direction",
      tg_direction_sign(row->direction), "value", tg_field_from_number(row->has_value, row->value), "spread",
      tg_field_from_number(row->has_spread, row->spread), "bound", tg_field_from_number(row->has_bound, row->bound),
      "times_outside", tg_field_from_number(row->has_distance, row->distance), "rounds", (json_int_t)row->rounds,
      "client_bound_rounds", (json_int_t)row->client_bound_rounds, "judged_by_firm_metric", row->judged_by_firm,
      "message", tg_field_from_text(row->message[0] == '\0' ? NULL : row->message), "baseline",
      encode_comparison(&row->baseline), "history", encode_comparison(&row->history), "trust",
      encode_trust(&row->trust));
}
