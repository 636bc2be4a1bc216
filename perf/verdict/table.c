#include "perf/verdict/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What catches the eye first, comes first.
static const enum tg_status kOrder[] = {TG_STATUS_FAIL,     TG_STATUS_CLIENT_BOUND, TG_STATUS_UNDECIDED, TG_STATUS_PASS,
                                        TG_STATUS_LEFT_OUT, TG_STATUS_DISABLED,     TG_STATUS_RECORDED};

static const char *colour_of(enum tg_status status) {
  switch (status) {
    case TG_STATUS_PASS:
      return "\033[32m";
    case TG_STATUS_FAIL:
      return "\033[1;31m";
    case TG_STATUS_UNDECIDED:
    case TG_STATUS_CLIENT_BOUND:
      return "\033[33m";
    case TG_STATUS_RECORDED:
    case TG_STATUS_DISABLED:
    case TG_STATUS_LEFT_OUT:
      break;
  }
  return "\033[2m";
}

bool tg_table_wants_colour(FILE *out) {
  const char *term = getenv("TERM");
  const char *no_colour = getenv("NO_COLOR");
  if (no_colour != NULL && no_colour[0] != '\0') return false;
  if (term != NULL && strcmp(term, "dumb") == 0) return false;
  return isatty(fileno(out)) == 1;
}

char *tg_table_number(char out[32], double value) {
  if (fabs(value) < 10000 || fabs(value) >= 1e15) {
    snprintf(out, 32, "%.5g", value);
    return out;
  }
  char digits[32];
  snprintf(digits, sizeof(digits), "%.0f", value);
  const size_t len = strlen(digits);
  size_t to = 0;
  for (size_t i = 0; i < len; i++) {
    if (i > 0 && digits[i - 1] != '-' && (len - i) % 3 == 0) out[to++] = ',';
    out[to++] = digits[i];
  }
  out[to] = '\0';
  return out;
}

// The cells of one gate's line.
struct cells {
  char value[64];
  char bound[64];
  char margin[32];
  char spread[16];
  char rounds[16];
};

static void fill(struct cells *out, const struct tg_gate_verdict *v) {
  const struct tg_gate *gate = v->gate;
  char number[32];
  *out = (struct cells){.value = "-", .bound = "-", .margin = "-", .spread = "-", .rounds = "-"};
  if (v->has_value) {
    snprintf(out->value, sizeof(out->value), "%s %.24s", tg_table_number(number, v->value), gate->unit);
    snprintf(out->rounds, sizeof(out->rounds), "%zu", v->rounds);
  }
  if (v->has_value && v->rounds > 1 && gate->judged_by != TG_JUDGED_FRACTION) {
    snprintf(out->spread, sizeof(out->spread), "%.1f %%", 100 * v->spread);
  }
  if (v->has_bound) {
    snprintf(out->bound, sizeof(out->bound), "%s %s", tg_direction_sign(gate->direction),
             tg_table_number(number, v->bound));
  } else if (gate->judged_by == TG_JUDGED_FIRM) {
    snprintf(out->bound, sizeof(out->bound), "by firm metric");
  }
  if (v->has_bound && v->distance > 0) {
    const double times = v->distance > 1 ? v->distance : 1 / v->distance;
    snprintf(out->margin, sizeof(out->margin),
             times < 100   ? "%.2f x %s"
             : times < 1e6 ? "%.0f x %s"
                           : "%.1e x %s",
             times, v->distance > 1 ? "out" : "in");
  }
}

struct widths {
  int metric, value, bound, margin;
};

static void widen(int *width, const char *text) {
  const int len = (int)strlen(text);
  if (len > *width) *width = len;
}

static struct widths measure(const struct tg_verdict *verdict) {
  struct widths w = {.metric = 6, .value = 5, .bound = 5, .margin = 6};
  for (size_t i = 0; i < verdict->num_gates; i++) {
    if (verdict->gates[i].folded) continue;
    struct cells cells;
    fill(&cells, &verdict->gates[i]);
    widen(&w.metric, verdict->gates[i].gate->name);
    widen(&w.value, cells.value);
    widen(&w.bound, cells.bound);
    widen(&w.margin, cells.margin);
  }
  return w;
}

static void print_line(FILE *out, const struct widths *w, const struct tg_gate_verdict *v, bool colour) {
  struct cells cells;
  fill(&cells, v);
  fprintf(out, "%s%-12s%s  %-*s  %*s  %-*s  %*s  %7s  %6s\n", colour ? colour_of(v->status) : "",
          tg_status_name(v->status), colour ? "\033[0m" : "", w->metric, v->gate->name, w->value, cells.value, w->bound,
          cells.bound, w->margin, cells.margin, cells.spread, cells.rounds);
  if (v->message[0] != '\0') fprintf(out, "%12s  %s\n", "", v->message);
}

static void list(FILE *out, const struct tg_verdict *verdict, const char *what, size_t num, enum tg_status a,
                 enum tg_status b) {
  if (num == 0) return;
  fprintf(out, ", %zu %s:", num, what);
  for (size_t i = 0; i < verdict->num_gates; i++) {
    const struct tg_gate_verdict *v = &verdict->gates[i];
    if (v->status == a || v->status == b) fprintf(out, " %s", v->gate->name);
  }
}

void tg_table_summary(FILE *out, const struct tg_verdict *verdict) {
  fprintf(out, "%zu/%zu passed", verdict->passed, verdict->gated);
  list(out, verdict, "failed", verdict->failed, TG_STATUS_FAIL, TG_STATUS_FAIL);
  list(out, verdict, "undecided", verdict->undecided, TG_STATUS_UNDECIDED, TG_STATUS_CLIENT_BOUND);
  fputc('\n', out);
}

void tg_table_print(FILE *out, const struct tg_verdict *verdict, bool colour) {
  const struct widths w = measure(verdict);
  fprintf(out, "%-12s  %-*s  %*s  %-*s  %*s  %7s  %6s\n", "verdict", w.metric, "metric", w.value, "value", w.bound,
          "bound", w.margin, "margin", "spread", "rounds");
  for (size_t k = 0; k < sizeof(kOrder) / sizeof(kOrder[0]); k++) {
    for (size_t i = 0; i < verdict->num_gates; i++) {
      if (verdict->gates[i].status == kOrder[k] && !verdict->gates[i].folded)
        print_line(out, &w, &verdict->gates[i], colour);
    }
  }
  if (verdict->note != NULL) fputs(verdict->note, out);
  fputc('\n', out);
  if (colour) fputs(colour_of(verdict->status), out);
  tg_table_summary(out, verdict);
  if (colour) fputs("\033[0m", out);
}
