#include "perf/peers/page.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/certify/html.h"
#include "perf/peers/page_style.h"
#include "perf/stats/quantile.h"

// Rows of system calls: those that anybody makes this often per connection.
#define CALL_SHOWN 0.1

static void text_of(FILE *page, const char *before, const char *text, const char *after) {
  fputs(before, page);
  tg_html_text(page, text);
  fputs(after, page);
}

static void write_head(FILE *page, const struct tg_peers_result *result, const struct tg_peers_run_facts *facts) {
  const char *commit = json_string_value(json_object_get(facts->provenance, "commit"));
  const char *cpu = json_string_value(json_object_get(facts->provenance, "cpu_model"));
  fputs(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>tlsgate: servers compared</title>\n<style>\n",
      page);
  fputs(tg_peers_page_style, page);
  fputs("</style></head><body><main>\n<h1>Servers compared</h1>\n", page);
  text_of(page, "<p class=\"muted\">", facts->date, "");
  fprintf(page, " &middot; %zu interleaved round%s, %.0f s &middot; %d workers a server &middot; stolen CPU ",
          result->rounds, result->rounds == 1 ? "" : "s", facts->took_s, facts->workers);
  if (isfinite(facts->stolen)) {
    fprintf(page, "%.1f %%", 100 * facts->stolen);
  } else {
    fputs("unknown", page);
  }
  text_of(page, " &middot; ", cpu != NULL ? cpu : "unknown CPU", "");
  text_of(page, " &middot; commit <code>", commit != NULL ? commit : "unknown", "</code></p>\n");
}

static void write_bars(FILE *page, const struct tg_peers_bar bars[TG_PEERS_BARS]) {
  fprintf(page,
          "<h2>Bars</h2>\n<p>The project's own server against the best of nginx, haproxy and h2o: %zu of %d reached.",
          tg_peers_bars_with(bars, TG_PEERS_REACHED), TG_PEERS_BARS);
  fputs(
      "</p>\n<div class=\"scroll\"><table><tr><th>bar</th><th></th><th>value</th><th>bound</th><th>interval</th>"
      "<th></th></tr>\n",
      page);
  for (size_t i = 0; i < TG_PEERS_BARS; i++) {
    const struct tg_peers_bar *bar = &bars[i];
    text_of(page, "<tr><td>", bar->what, "</td>");
    fprintf(page, "<td><span class=\"pill %s\">%s</span></td><td class=\"num\">",
            bar->verdict == TG_PEERS_REACHED       ? "reached"
            : bar->verdict == TG_PEERS_NOT_REACHED ? "missed"
                                                   : "open",
            tg_peers_bar_word(bar->verdict));
    if (bar->has_value) {
      fprintf(page, "%.3f%s", bar->value.centre, bar->absolute ? " %" : "");
    }
    text_of(page, "</td><td class=\"num\">", bar->bound, "</td><td class=\"num\">");
    if (bar->has_value && bar->value.low < bar->value.high) {
      fprintf(page, "%.3f to %.3f", bar->value.low, bar->value.high);
    }
    text_of(page, "</td><td class=\"muted\">", bar->why, "</td></tr>\n");
  }
  fputs("</table></div>\n", page);
}

// The longest value of a metric, for the gauges.
static double longest(const struct tg_peers_result *result, int metric) {
  double most = 0;
  for (size_t i = 0; i < result->num_servers; i++) {
    const struct tg_peers_cell *cell = &result->servers[i].cells[metric];
    most = tg_peers_readable(result, cell) ? fmax(most, tg_peers_median(cell)) : most;
  }
  return most;
}

static void write_cell(FILE *page, const struct tg_peers_result *result, int metric, size_t server) {
  const struct tg_peers_cell *cell = &result->servers[server].cells[metric];
  int best = tg_peers_best(result, (enum tg_peers_metric)metric);
  struct tg_interval ratio;
  fprintf(page, "<td class=\"num%s\">", result->servers[server].own ? " own" : "");
  if (!tg_peers_readable(result, cell)) {
    if (cell->unreadable) {
      fputs("<span class=\"pill missed\">unreadable</span>", page);
    } else {
      fputs("<span class=\"muted\">&ndash;</span>", page);
    }
    fputs("</td>", page);
    return;
  }
  double most = longest(result, metric);
  fputs(best == (int)server ? "<b>" : "", page);
  tg_html_number(page, tg_peers_median(cell));
  fputs(best == (int)server ? "</b>" : "", page);
  fprintf(page,
          "%s <span class=\"muted\">&plusmn;%.0f&nbsp;%%</span><div class=\"gauge\" style=\"width:%.1f%%\"></div>",
          2 * cell->client_bound > cell->num ? "*" : "", 100 * tg_peers_spread(cell),
          most > 0 ? fmax(0, 100 * tg_peers_median(cell) / most) : 0);
  if (best == (int)server) {
    fputs("<small>best</small>", page);
  } else if (best >= 0 && tg_peers_ratio(result, cell, &result->servers[best].cells[metric], &ratio)) {
    fprintf(page, "<small>%.2f&times;", ratio.centre);
    if (ratio.low < ratio.high) {
      fprintf(page, " (%.2f&ndash;%.2f)", ratio.low, ratio.high);
    }
    fputs("</small>", page);
  }
  fputs("</td>", page);
}

static bool measured(const struct tg_peers_result *result, int metric) {
  bool any = false;
  for (size_t i = 0; i < result->num_servers; i++) {
    const struct tg_peers_cell *cell = &result->servers[i].cells[metric];
    any = any || cell->num > 0 || cell->unreadable;
  }
  return any;
}

static void write_names(FILE *page, const struct tg_peers_result *result, const char *first) {
  fprintf(page, "<div class=\"scroll\"><table><tr><th>%s</th>", first);
  for (size_t i = 0; i < result->num_servers; i++) {
    text_of(page, "<th style=\"text-align:right\">", result->servers[i].name, "</th>");
  }
  fputs("</tr>\n", page);
}

static void write_metrics(FILE *page, const struct tg_peers_result *result) {
  fputs(
      "<h2>Figures</h2>\n<p>Medians with their robust standard deviation, and ratios to the best, paired by round, "
      "with their 95&nbsp;% interval. * The client was the limit.</p>\n",
      page);
  write_names(page, result, "metric");
  for (int metric = 0; metric < TG_PEERS_METRICS; metric++) {
    if (measured(result, metric)) {
      const struct tg_peers_metric_info *info = tg_peers_info((enum tg_peers_metric)metric);
      text_of(page, "<tr><td>", info->title, "");
      fprintf(page, "<small>%s, %s is better</small></td>", info->unit, info->more_is_better ? "more" : "less");
      for (size_t i = 0; i < result->num_servers; i++) {
        write_cell(page, result, metric, i);
      }
      fputs("</tr>\n", page);
    }
  }
  fputs("</table></div>\n", page);
  if (result->in_memory.num > 0) {
    fputs("<p>The server's half of a handshake in memory, by the library of the project's own server: ", page);
    tg_html_number(page, tg_peers_median(&result->in_memory));
    fputs(" us.</p>\n", page);
  }
}

// Calls of one name per connection, -1 if a server's were not counted.
static double each_call(const struct tg_peers_result *result, size_t server, const char *name) {
  const struct tg_peers_server *of = &result->servers[server];
  if (!tg_peers_readable(result, &of->cells[TG_PEERS_CALLS_EACH])) {
    return -1;
  }
  for (size_t i = 0; i < of->num_calls; i++) {
    if (strcmp(of->calls[i].name, name) == 0) {
      return tg_median(of->calls[i].values, result->rounds);
    }
  }
  return 0;
}

static void write_call_row(FILE *page, const struct tg_peers_result *result, const char *name) {
  double most = 0;
  for (size_t i = 0; i < result->num_servers; i++) {
    most = fmax(most, each_call(result, i, name));
  }
  if (most < CALL_SHOWN) {
    return;
  }
  text_of(page, "<tr><td><code>", name, "</code></td>");
  for (size_t i = 0; i < result->num_servers; i++) {
    double each = each_call(result, i, name);
    fprintf(page, "<td class=\"num%s\">", result->servers[i].own ? " own" : "");
    if (each < 0) {
      fputs("<span class=\"muted\">&ndash;</span></td>", page);
    } else {
      fprintf(page, "%.2f</td>", each);
    }
  }
  fputs("</tr>\n", page);
}

static bool named_before(const struct tg_peers_result *result, size_t server, const char *name) {
  bool found = false;
  for (size_t i = 0; i < server; i++) {
    for (size_t j = 0; j < result->servers[i].num_calls; j++) {
      found = found || strcmp(result->servers[i].calls[j].name, name) == 0;
    }
  }
  return found;
}

static void write_calls(FILE *page, const struct tg_peers_result *result) {
  if (!measured(result, TG_PEERS_CALLS_EACH)) {
    return;
  }
  fputs("<h2>System calls per connection</h2>\n<p>By strace, one connection at a time: handshake, request, teardown.",
        page);
  if (result->exact_calls > 0) {
    fprintf(page, " The exact gates hold the project's own server to %ld.", result->exact_calls);
  }
  fputs("</p>\n", page);
  write_names(page, result, "call");
  for (size_t i = 0; i < result->num_servers; i++) {
    for (size_t j = 0; j < result->servers[i].num_calls; j++) {
      const char *name = result->servers[i].calls[j].name;
      if (!named_before(result, i, name)) {
        write_call_row(page, result, name);
      }
    }
  }
  fputs("</table></div>\n", page);
}

static void write_servers(FILE *page, const struct tg_peers_result *result) {
  fputs(
      "<h2>Servers</h2>\n<div class=\"scroll\"><table><tr><th>server</th><th>package</th><th>command</th>"
      "<th>not measured</th></tr>\n",
      page);
  for (size_t i = 0; i < result->num_servers; i++) {
    const struct tg_peers_server *server = &result->servers[i];
    const char *last = "";
    text_of(page, "<tr><td>", server->name,
            server->floor ? "<small>one client at a time: the floor</small></td><td>" : "</td><td>");
    text_of(page, "", server->package, " ");
    text_of(page, "", server->version, "</td><td><code>");
    text_of(page, "", server->command, "</code></td><td>");
    for (int metric = 0; metric < TG_PEERS_METRICS; metric++) {
      const struct tg_peers_cell *cell = &server->cells[metric];
      bool said = measured(result, metric) && (cell->unreadable || cell->left_out) && strcmp(last, cell->why) != 0;
      if (said) {
        text_of(page, "", tg_peers_info((enum tg_peers_metric)metric)->title, ": ");
        text_of(page, "", cell->why, "<br>");
        last = cell->why;
      }
    }
    fputs("</td></tr>\n", page);
  }
  fputs("</table></div>\n", page);
  for (size_t i = 0; i < result->num_absent; i++) {
    text_of(page, "<p>Skipped: ", result->absent[i], "</p>\n");
  }
}

bool tg_peers_page(const char *path, const struct tg_peers_result *result,
                   const struct tg_peers_bar bars[TG_PEERS_BARS], const struct tg_peers_run_facts *facts,
                   struct tg_error *err) {
  char beside[PATH_MAX];
  (void)snprintf(beside, sizeof(beside), "%.3900s.%ld.new", path, (long)getpid());
  FILE *page = fopen(beside, "wxe");
  if (page == NULL) {
    tg_error_set(err, "report unavailable: %s: %s", beside, strerror(errno));
    return false;
  }
  write_head(page, result, facts);
  write_bars(page, bars);
  write_metrics(page, result);
  write_calls(page, result);
  write_servers(page, result);
  fputs("</main></body></html>\n", page);
  bool ok = ferror(page) == 0;
  ok = fclose(page) == 0 && ok && rename(beside, path) == 0;
  if (!ok) {
    tg_error_set(err, "report unavailable: %s: %s", path, strerror(errno));
    (void)unlink(beside);
  }
  return ok;
}
