#include "perf/peers/table.h"

#include <string.h>

#include "perf/verdict/table.h"

#define TITLE_WIDTH 24
#define UNIT_WIDTH  12
#define CELL_WIDTH  17
#define CELL_SIZE   64

static bool shown(const struct tg_peers_result *result, enum tg_peers_metric metric) {
  bool any = false;
  for (size_t i = 0; i < result->num_servers; i++) {
    const struct tg_peers_cell *cell = &result->servers[i].cells[metric];
    any = any || cell->num > 0 || cell->unreadable;
  }
  return any;
}

static void value_text(const struct tg_peers_result *result, const struct tg_peers_cell *cell, char out[CELL_SIZE]) {
  char number[32];
  if (!tg_peers_readable(result, cell)) {
    (void)snprintf(out, CELL_SIZE, "%s", cell->unreadable ? "unreadable" : "-");
    return;
  }
  (void)tg_table_number(number, tg_peers_median(cell));
  (void)snprintf(out, CELL_SIZE, "%s%s +-%.0f%%", number, 2 * cell->client_bound > cell->num ? "*" : "",
                 100 * tg_peers_spread(cell));
}

static void ratio_text(const struct tg_peers_result *result, enum tg_peers_metric metric,
                       const struct tg_peers_cell *cell, char out[CELL_SIZE]) {
  struct tg_interval ratio;
  int best = tg_peers_best(result, metric);
  out[0] = '\0';
  if (best < 0 || !tg_peers_ratio(result, cell, &result->servers[best].cells[metric], &ratio)) {
    return;
  }
  if (&result->servers[best].cells[metric] == cell) {
    (void)snprintf(out, CELL_SIZE, "best");
  } else if (cell->num == 1) {
    (void)snprintf(out, CELL_SIZE, "%.2fx", ratio.centre);
  } else {
    (void)snprintf(out, CELL_SIZE, "%.2fx %.2f-%.2f", ratio.centre, ratio.low, ratio.high);
  }
}

static void print_metric(FILE *out, const struct tg_peers_result *result, enum tg_peers_metric metric) {
  const struct tg_peers_metric_info *info = tg_peers_info(metric);
  char text[CELL_SIZE];
  fprintf(out, "%-*s %-*s", TITLE_WIDTH, info->title, UNIT_WIDTH, info->unit);
  for (size_t i = 0; i < result->num_servers; i++) {
    value_text(result, &result->servers[i].cells[metric], text);
    fprintf(out, " %*s", CELL_WIDTH, text);
  }
  fprintf(out, "\n%*s", TITLE_WIDTH + UNIT_WIDTH + 1, "");
  for (size_t i = 0; i < result->num_servers; i++) {
    ratio_text(result, metric, &result->servers[i].cells[metric], text);
    fprintf(out, " %*s", CELL_WIDTH, text);
  }
  fputc('\n', out);
}

// Each reason once: metrics of one workload fail together.
static void print_whys(FILE *out, const struct tg_peers_server *server) {
  const char *last = "";
  for (int metric = 0; metric < TG_PEERS_METRICS; metric++) {
    const struct tg_peers_cell *cell = &server->cells[metric];
    if (cell->unreadable && strcmp(last, cell->why) != 0) {
      fprintf(out, "unreadable: %s, %s: %s\n", server->name, tg_peers_info((enum tg_peers_metric)metric)->title,
              cell->why);
      last = cell->why;
    }
  }
}

void tg_peers_table(FILE *out, const struct tg_peers_result *result) {
  fprintf(out, "%-*s %-*s", TITLE_WIDTH, "metric", UNIT_WIDTH, "unit");
  for (size_t i = 0; i < result->num_servers; i++) {
    fprintf(out, " %*s", CELL_WIDTH, result->servers[i].name);
  }
  fputc('\n', out);
  for (int metric = 0; metric < TG_PEERS_METRICS; metric++) {
    if (shown(result, (enum tg_peers_metric)metric)) {
      print_metric(out, result, (enum tg_peers_metric)metric);
    }
  }
  if (result->in_memory.num > 0) {
    char number[32];
    fprintf(out, "in-memory handshake of own's library: %s us +-%.0f%%\n",
            tg_table_number(number, tg_peers_median(&result->in_memory)), 100 * tg_peers_spread(&result->in_memory));
  }
  if (result->exact_calls > 0) {
    fprintf(out, "system calls per connection of own by the exact gates (full_tls13): %ld\n", result->exact_calls);
  }
  fprintf(out,
          "medians of %zu round%s, +- the robust standard deviation; ratios to the best, paired by round, with their "
          "%.0f %% interval; * the client was the limit\n",
          result->rounds, result->rounds == 1 ? "" : "s", 100 * TG_PEERS_CONFIDENCE);
  if (result->in_memory.unreadable) {
    fprintf(out, "unreadable: in-memory handshake: %s\n", result->in_memory.why);
  }
  for (size_t i = 0; i < result->num_servers; i++) {
    print_whys(out, &result->servers[i]);
  }
  for (size_t i = 0; i < result->num_absent; i++) {
    fprintf(out, "skipped: %s\n", result->absent[i]);
  }
}

static void print_bar(FILE *out, const struct tg_peers_bar *bar) {
  char value[CELL_SIZE] = "-";
  if (bar->has_value && bar->absolute) {
    (void)snprintf(value, sizeof(value), "%.3f %%", bar->value.centre);
  } else if (bar->has_value) {
    (void)snprintf(value, sizeof(value), "%.3f x", bar->value.centre);
  }
  fprintf(out, "%-13s %-42s %10s  %-20s", tg_peers_bar_word(bar->verdict), bar->what, value, bar->bound);
  if (bar->has_value && bar->value.low < bar->value.high) {
    fprintf(out, " %.3f to %.3f", bar->value.low, bar->value.high);
  }
  if (bar->why[0] != '\0') {
    fprintf(out, " (%s)", bar->why);
  }
  fputc('\n', out);
}

void tg_peers_bars_table(FILE *out, const struct tg_peers_bar bars[TG_PEERS_BARS]) {
  fprintf(out, "%-13s %-42s %10s  %-20s %s\n", "bar", "of own against its peers", "value", "bound", "interval");
  for (size_t i = 0; i < TG_PEERS_BARS; i++) {
    print_bar(out, &bars[i]);
  }
  fprintf(out, "%zu of %d bars reached, %zu not reached, %zu not measured\n",
          tg_peers_bars_with(bars, TG_PEERS_REACHED), TG_PEERS_BARS, tg_peers_bars_with(bars, TG_PEERS_NOT_REACHED),
          tg_peers_bars_with(bars, TG_PEERS_NOT_MEASURED));
}
