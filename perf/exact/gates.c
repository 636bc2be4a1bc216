#include "perf/exact/gates.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/exact/result_file.h"
#include "perf/verdict/narrow.h"

#define ACCEPT "; if that is meant, accept it: ./tlsgate record --exact"

_Static_assert(sizeof(((struct tg_exact_gate *)0)->num) / sizeof(size_t) == TG_EXACT_VERDICTS, "one for each verdict");

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...) {
  const size_t len = strlen(text);
  va_list list;
  va_start(list, format);
  (void)vsnprintf(text + len, size - len, format, list);
  va_end(list);
}

// The gate of a figure; made when it is the first of it.
static struct tg_exact_gate *gate_of(struct tg_exact_gates *gates, const char *scenario,
                                     enum tg_exact_section section) {
  char name[sizeof(gates->gates[0].name)];
  (void)snprintf(name, sizeof(name), TG_EXACT_GROUP "/%s/%s", scenario, tg_exact_section_name(section));
  for (size_t i = 0; i < gates->num; i++) {
    if (strcmp(gates->gates[i].name, name) == 0) {
      return &gates->gates[i];
    }
  }
  struct tg_exact_gate *made = &gates->gates[gates->num++];
  memcpy(made->name, name, sizeof(name));
  made->gate = (struct tg_gate){.name = made->name,
                                .unit = "changed",
                                .kind = tg_exact_is_counted(section) ? TG_KIND_COUNTED : TG_KIND_EXACT,
                                .direction = TG_AT_MOST,
                                .judged_by = TG_JUDGED_EVERY_ROUND,
                                .why = "baselines/exact.json"};
  made->verdict.gate = &made->gate;
  return made;
}

// Names the figures that have changed, as far as there is room.
static void tell_changes(struct tg_exact_gate *gate, const struct tg_exact_file *file) {
  char *message = gate->verdict.message;
  const size_t room = sizeof(gate->verdict.message) - sizeof(ACCEPT) - sizeof("; 1000 more");
  size_t told = 0;
  for (size_t i = 0; i < file->num_rows; i++) {
    const struct tg_exact_row *row = &file->rows[i];
    char name[sizeof(gate->name)];
    char change[160];
    (void)snprintf(name, sizeof(name), TG_EXACT_GROUP "/%s/%s", file->scenarios[row->scenario],
                   tg_exact_section_name(tg_exact_section_of(row->metric)));
    if (row->verdict != TG_EXACT_FAIL || strcmp(name, gate->name) != 0) {
      continue;
    }
    (void)snprintf(change, sizeof(change), "%s%s: baseline %" PRId64 ", now %" PRId64, told > 0 ? "; " : "",
                   tg_exact_metric_name(row->metric), row->baseline, row->now);
    if (strlen(message) + strlen(change) > room) {
      break;
    }
    append(message, sizeof(gate->verdict.message), "%s", change);
    told++;
  }
  if (told < gate->num[TG_EXACT_FAIL]) {
    append(message, sizeof(gate->verdict.message), "; %zu more", gate->num[TG_EXACT_FAIL] - told);
  }
  append(message, sizeof(gate->verdict.message), ACCEPT);
}

// A section is enforced as a whole, or not at all.
static void judge(struct tg_exact_gate *gate, const struct tg_exact_file *file, enum tg_exact_section section) {
  struct tg_gate_verdict *verdict = &gate->verdict;
  const size_t judged = gate->num[TG_EXACT_PASS] + gate->num[TG_EXACT_FAIL];
  verdict->folded = gate->num[TG_EXACT_FAIL] == 0;
  if (gate->num[TG_EXACT_UNENFORCED] > 0) {
    verdict->status = TG_STATUS_RECORDED;
    (void)snprintf(verdict->message, sizeof(verdict->message),
                   "UNENFORCED: %.40s has no figures for %.250s; ./tlsgate record --exact adds them", file->baseline,
                   file->keys[section]);
    gate->gate.recorded_only = verdict->message;
    return;
  }
  if (judged == 0) {
    verdict->status = TG_STATUS_DISABLED;
    gate->gate.disabled = true;
    (void)snprintf(verdict->message, sizeof(verdict->message), "every figure is null in %.40s", file->baseline);
    return;
  }
  verdict->status = gate->num[TG_EXACT_FAIL] > 0 ? TG_STATUS_FAIL : TG_STATUS_PASS;
  verdict->has_value = true;
  verdict->value = (double)gate->num[TG_EXACT_FAIL];
  verdict->has_bound = true;
  verdict->rounds = 1;
  if (gate->num[TG_EXACT_FAIL] > 0) {
    tell_changes(gate, file);
  } else if (gate->num[TG_EXACT_OFF] > 0) {
    (void)snprintf(verdict->message, sizeof(verdict->message), "%zu figures as accepted; %zu are null in %.40s",
                   gate->num[TG_EXACT_PASS], gate->num[TG_EXACT_OFF], file->baseline);
  }
}

static enum tg_exact_section section_of(const struct tg_exact_gate *gate) {
  const char *name = strrchr(gate->name, '/') + 1;
  int section = 0;
  while (strcmp(tg_exact_section_name((enum tg_exact_section)section), name) != 0) {
    section++;
  }
  return (enum tg_exact_section)section;
}

static void note(struct tg_exact_gates *gates, const struct tg_exact_file *file) {
  char *text = gates->note;
  append(text, sizeof(gates->note), "%-12s  %zu figures in %zu scenarios as accepted", TG_EXACT_GROUP,
         file->num[TG_EXACT_PASS], file->num_scenarios);
  if (file->num[TG_EXACT_FAIL] > 0) {
    append(text, sizeof(gates->note), ", %zu changed", file->num[TG_EXACT_FAIL]);
  }
  if (file->num[TG_EXACT_OFF] > 0) {
    append(text, sizeof(gates->note), ", %zu not judged (null in %.40s)", file->num[TG_EXACT_OFF], file->baseline);
  }
  append(text, sizeof(gates->note), "\n");
  for (int section = 0; section < TG_EXACT_SECTIONS; section++) {
    if (file->keys[section][0] != '\0') {
      append(text, sizeof(gates->note), "%-12s  UNENFORCED, %s: %.40s has no figures for %s\n", TG_EXACT_GROUP,
             tg_exact_section_name((enum tg_exact_section)section), file->baseline, file->keys[section]);
    }
  }
}

static void fill(struct tg_exact_gates *gates, const struct tg_exact_file *file) {
  for (size_t i = 0; i < file->num_rows; i++) {
    const struct tg_exact_row *row = &file->rows[i];
    gate_of(gates, file->scenarios[row->scenario], tg_exact_section_of(row->metric))->num[row->verdict]++;
  }
  for (size_t i = 0; i < gates->num; i++) {
    judge(&gates->gates[i], file, section_of(&gates->gates[i]));
  }
  gates->changed = file->num[TG_EXACT_FAIL];
  note(gates, file);
}

struct tg_exact_gates *tg_exact_gates_load(const char *file, struct tg_error *err) {
  struct tg_exact_file *result = tg_exact_file_load(file, err);
  struct tg_exact_gates *gates = NULL;
  if (result == NULL) {
    return NULL;
  }
  if (result->failure != NULL) {
    tg_error_set(err, "%s", result->failure);
  } else {
    gates = calloc(1, sizeof(*gates));
    if (gates != NULL) {
      fill(gates, result);
    } else {
      tg_error_set(err, "%s: out of memory", file);
    }
  }
  tg_exact_file_free(result);
  return gates;
}

bool tg_exact_gates_add(const struct tg_exact_gates *gates, struct tg_verdict *verdict) {
  struct tg_gate_verdict *all = realloc(verdict->gates, (verdict->num_gates + gates->num) * sizeof(*all));
  if (all == NULL) {
    return false;
  }
  verdict->gates = all;
  for (size_t i = 0; i < gates->num; i++) {
    all[verdict->num_gates++] = gates->gates[i].verdict;
  }
  verdict->note = gates->note;
  tg_verdict_recount(verdict);
  return true;
}

void tg_exact_gates_free(struct tg_exact_gates *gates) {
  free(gates);
}
