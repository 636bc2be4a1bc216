#include "perf/exact/result_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perf/manifest/strict_json.h"

#define SCHEMA 1

// The result while it is decoded.
struct decoding {
  struct tg_exact_file *out;
  bool seen[TG_SCENARIOS_MAX][TG_EXACT_METRICS];
};

static const char *section_name(int section) {
  return tg_exact_section_name((enum tg_exact_section)section);
}

static const char *verdict_name(int verdict) {
  return tg_exact_verdict_name((enum tg_exact_verdict)verdict);
}

// Reads a text that is one of `num` names.
static bool take_name(struct tg_json_place *place, const char *key, const char *(*name)(int), int num, int *out) {
  const char *names[8];
  for (int i = 0; i < num; i++) {
    names[i] = name(i);
  }
  return tg_json_choice(place, key, names, (size_t)num, out);
}

_Static_assert(TG_EXACT_SECTIONS <= 8 && TG_EXACT_VERDICTS <= 8, "must fit take_name");

static bool take_metric(struct tg_json_place *row, int section, int *out) {
  const char *name = NULL;
  if (!tg_json_text(row, "name", &name)) {
    return false;
  }
  for (*out = 0; *out < (int)TG_EXACT_METRICS; (*out)++) {
    if (tg_exact_is_used(*out) && (int)tg_exact_section_of(*out) == section &&
        strcmp(tg_exact_metric_name(*out), name) == 0) {
      return true;
    }
  }
  return tg_json_fail(row, "name", "\"%.60s\" is no figure of the section %s", name, section_name(section));
}

static bool take_scenario(struct decoding *decoding, struct tg_json_place *row, size_t *out) {
  struct tg_exact_file *file = decoding->out;
  const char *name = NULL;
  if (!tg_json_text(row, "scenario", &name)) {
    return false;
  }
  if (strlen(name) >= TG_SCENARIO_NAME_MAX || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name)) {
    return tg_json_fail(row, "scenario", "\"%.60s\" is not a scenario's name: [a-z0-9_], fewer than %d characters",
                        name, TG_SCENARIO_NAME_MAX);
  }
  for (*out = 0; *out < file->num_scenarios; (*out)++) {
    if (strcmp(file->scenarios[*out], name) == 0) {
      return true;
    }
  }
  if (*out == TG_SCENARIOS_MAX) {
    return tg_json_fail(row, "scenario", "there are more than %d", TG_SCENARIOS_MAX);
  }
  file->scenarios[file->num_scenarios++] = name;
  return true;
}

// What the row was held against, and that its verdict follows from it.
static bool take_comparison(struct tg_json_place *place, struct tg_exact_row *row) {
  const bool judged = row->verdict == TG_EXACT_PASS || row->verdict == TG_EXACT_FAIL;
  long long baseline = 0;
  long long allowed = 0;
  if (!judged) {
    return (tg_json_is_null(place, "baseline") && tg_json_is_null(place, "allowed")) ||
           tg_json_fail(place, "baseline", "must be null, as must \"allowed\": the figure is %s",
                        verdict_name((int)row->verdict));
  }
  if (!tg_json_integer(place, "baseline", 0, INT64_MAX, &baseline) ||
      !tg_json_integer(place, "allowed", 0, INT64_MAX, &allowed)) {
    return false;
  }
  row->baseline = baseline;
  row->allowed = allowed;
  const bool within = llabs(row->now - baseline) <= allowed;
  return within == (row->verdict == TG_EXACT_PASS) ||
         tg_json_fail(place, "verdict", "is %s, but the figures say otherwise", verdict_name((int)row->verdict));
}

static bool take_row(struct decoding *decoding, struct tg_json_place *place) {
  struct tg_exact_row *row = &decoding->out->rows[decoding->out->num_rows];
  int section = 0;
  int verdict = 0;
  long long now = 0;
  if (!take_name(place, "section", section_name, TG_EXACT_SECTIONS, &section) ||
      !take_scenario(decoding, place, &row->scenario) || !take_metric(place, section, &row->metric) ||
      !tg_json_integer(place, "now", 0, INT64_MAX, &now) ||
      !take_name(place, "verdict", verdict_name, TG_EXACT_VERDICTS, &verdict)) {
    return false;
  }
  row->now = now;
  row->verdict = (enum tg_exact_verdict)verdict;
  bool *seen = &decoding->seen[row->scenario][row->metric];
  if (*seen) {
    return tg_json_fail(place, "name", "this figure is there already");
  }
  *seen = true;
  decoding->out->num_rows++;
  decoding->out->num[verdict]++;
  return take_comparison(place, row) && tg_json_close(place);
}

static bool take_rows(struct decoding *decoding, struct tg_json_place *root) {
  json_t *rows = NULL;
  if (!tg_json_array(root, "rows", &rows)) {
    return false;
  }
  const size_t num = json_array_size(rows);
  if (num == 0 || num > TG_EXACT_ROWS_MAX) {
    return tg_json_fail(root, "rows", "must have 1 to %zu elements, has %zu", (size_t)TG_EXACT_ROWS_MAX, num);
  }
  for (size_t i = 0; i < num; i++) {
    struct tg_json_place place;
    if (!tg_json_element(root, "rows", i, &place) || !take_row(decoding, &place)) {
      return false;
    }
  }
  return true;
}

static size_t unenforced_of(const struct tg_exact_file *file, int section) {
  size_t num = 0;
  for (size_t i = 0; i < file->num_rows; i++) {
    num += file->rows[i].verdict == TG_EXACT_UNENFORCED && (int)tg_exact_section_of(file->rows[i].metric) == section;
  }
  return num;
}

static bool take_key(struct tg_exact_file *out, struct tg_json_place *unenforced, int section) {
  struct tg_json_place keys;
  char *text = out->keys[section];
  size_t len = 0;
  if (!tg_json_object(unenforced, "key", &keys)) {
    return false;
  }
  for (size_t i = 0; i < tg_exact_num_keys((enum tg_exact_section)section); i++) {
    const char *value = NULL;
    if (!tg_json_text(&keys, tg_exact_key_name(i), &value)) {
      return false;
    }
    const int added = snprintf(text + len, TG_EXACT_KEY_TEXT_MAX - len, "%s%s \"%.90s\"", i > 0 ? ", " : "",
                               tg_exact_key_name(i), value);
    len += (size_t)added < TG_EXACT_KEY_TEXT_MAX - len ? (size_t)added : 0;
  }
  return tg_json_close(&keys);
}

// Every section that has figures without a baseline is listed, with their number.
static bool take_unenforced(struct tg_exact_file *out, struct tg_json_place *root) {
  json_t *list = NULL;
  size_t listed = 0;
  if (!tg_json_array(root, "unenforced", &list)) {
    return false;
  }
  for (size_t i = 0; i < json_array_size(list); i++) {
    struct tg_json_place place;
    int section = 0;
    long long rows = 0;
    if (!tg_json_element(root, "unenforced", i, &place) ||
        !take_name(&place, "section", section_name, TG_EXACT_SECTIONS, &section) || !take_key(out, &place, section) ||
        !tg_json_integer(&place, "rows", 1, INT64_MAX, &rows) || !tg_json_close(&place)) {
      return false;
    }
    if ((size_t)rows != unenforced_of(out, section)) {
      return tg_json_fail(&place, "rows", "the figures say otherwise: %zu", unenforced_of(out, section));
    }
    listed += (size_t)rows;
  }
  return listed == out->num[TG_EXACT_UNENFORCED] ||
         tg_json_fail(root, "unenforced", "lists %zu figures of %zu", listed, out->num[TG_EXACT_UNENFORCED]);
}

static bool take_totals(const struct tg_exact_file *file, struct tg_json_place *root, bool passed) {
  static const char *const keys[TG_EXACT_VERDICTS] = {
      [TG_EXACT_PASS] = "passed",
      [TG_EXACT_FAIL] = "failed",
      [TG_EXACT_UNENFORCED] = "not_enforced",
      [TG_EXACT_OFF] = "disabled",
  };
  for (int i = 0; i < TG_EXACT_VERDICTS; i++) {
    long long said = 0;
    if (!tg_json_integer(root, keys[i], 0, INT64_MAX, &said)) {
      return false;
    }
    if ((size_t)said != file->num[i]) {
      return tg_json_fail(root, keys[i], "the figures say otherwise: %zu", file->num[i]);
    }
  }
  return passed == (file->num[TG_EXACT_FAIL] == 0) || tg_json_fail(root, "verdict", "the figures say otherwise");
}

static bool take_keys(struct tg_json_place *root) {
  struct tg_json_place keys;
  const char *text = NULL;
  return tg_json_object(root, "keys", &keys) && tg_json_text(&keys, "boringssl", &text) &&
         tg_json_text(&keys, "compiler", &text) && tg_json_text(&keys, "cpu", &text) && tg_json_close(&keys) &&
         tg_json_text(root, "cpu_native", &text);
}

static bool decode(struct decoding *decoding, const char *name, struct tg_error *err) {
  static const char *const verdicts[] = {"pass", "fail", "error"};
  struct tg_exact_file *out = decoding->out;
  struct tg_json_place root;
  int verdict = 0;
  if (!tg_json_open(&root, name, out->root, err) || !tg_json_schema(&root, SCHEMA) ||
      !tg_json_choice(&root, "verdict", verdicts, 3, &verdict)) {
    return false;
  }
  if (verdict == 2) {
    return tg_json_text(&root, "message", &out->failure) && tg_json_close(&root);
  }
  return tg_json_text(&root, "baseline", &out->baseline) && take_keys(&root) && take_rows(decoding, &root) &&
         take_unenforced(out, &root) && take_totals(out, &root, verdict == 0) && tg_json_close(&root);
}

struct tg_exact_file *tg_exact_file_load(const char *file, struct tg_error *err) {
  struct decoding *decoding = calloc(1, sizeof(*decoding));
  struct tg_exact_file *out = calloc(1, sizeof(*out));
  bool ok = decoding != NULL && out != NULL;
  if (ok) {
    decoding->out = out;
    out->root = tg_json_load(file, err);
    ok = out->root != NULL && decode(decoding, file, err);
  } else {
    tg_error_set(err, "%s: out of memory", file);
  }
  free(decoding);
  if (ok) {
    return out;
  }
  tg_exact_file_free(out);
  return NULL;
}

void tg_exact_file_free(struct tg_exact_file *file) {
  if (file == NULL) {
    return;
  }
  json_decref(file->root);
  free(file);
}
