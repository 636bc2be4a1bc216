#include "fuzz/service/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz/service/chart.h"
#include "fuzz/service/durable.h"
#include "fuzz/service/health.h"
#include "fuzz/service/page_style.h"
#include "perf/certify/html.h"

// "1.2 M": three digits are enough to see whether it grows.
static const char *count_text(char out[32], uint64_t count) {
  static const struct {
    double from;
    const char *unit;
  } kUnits[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e4, " k"}};
  for (size_t i = 0; i < sizeof(kUnits) / sizeof(kUnits[0]); i++) {
    if ((double)count >= kUnits[i].from) {
      double of = kUnits[i].from == 1e4 ? 1e3 : kUnits[i].from;
      double value = (double)count / of;
      (void)snprintf(out, 32, "%.*f%s", value < 100 ? 1 : 0, value, kUnits[i].unit);
      return out;
    }
  }
  (void)snprintf(out, 32, "%" PRIu64, count);
  return out;
}

static const char *time_text(char out[32], double seconds) {
  if (seconds < 120) {
    (void)snprintf(out, 32, "%.0f s", seconds);
  } else if (seconds < 7200) {
    (void)snprintf(out, 32, "%.0f min", seconds / 60);
  } else {
    (void)snprintf(out, 32, "%.1f h", seconds / 3600);
  }
  return out;
}

static const char *utc_text(char out[32], double at_s) {
  time_t at = (time_t)at_s;
  struct tm utc;
  out[0] = '\0';
  if (gmtime_r(&at, &utc) != NULL) {
    (void)strftime(out, 32, "%Y-%m-%d %H:%M:%S UTC", &utc);
  }
  return out;
}

static const char *bytes_text(char out[32], uint64_t bytes) {
  double kib = (double)bytes / 1024;
  (void)snprintf(out, 32, kib < 10240 ? "%.0f KiB" : "%.0f MiB", kib < 10240 ? kib : kib / 1024);
  return out;
}

static void write_pill(FILE *out, const char *word) {
  fprintf(out, "<span class=\"pill %s\">%s</span>", word, word);
}

static bool is_shown(const struct tg_page *page, size_t target) {
  return page->choice->targets[target];
}

static void write_fact(FILE *out, const char *name, const char *value) {
  fprintf(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

static void write_facts(FILE *out, const struct tg_page *page) {
  uint64_t executions = 0;
  uint64_t new_edges = 0;
  double cpu_s = 0;
  for (size_t i = 0; i < page->state->num_targets; i++) {
    for (int e = 0; e < TG_FUZZD_ENGINES; e++) {
      executions += page->state->targets[i].arms[e].executions;
      new_edges += page->state->targets[i].arms[e].new_edges;
      cpu_s += page->state->targets[i].arms[e].cpu_s;
    }
  }
  char text[32];
  char disk[96];
  fputs("<dl class=\"facts\">\n", out);
  write_fact(out, "executions", count_text(text, executions));
  write_fact(out, "new edges", count_text(text, new_edges));
  write_fact(out, "findings", count_text(text, page->all_candidates));
  write_fact(out, "CPU time", time_text(text, cpu_s));
  write_fact(out, "has run for", time_text(text, page->state->up_s));
  (void)snprintf(disk, sizeof(disk), "%" PRIu64 " <span class=\"muted\">of %u MiB</span>", page->disk.bytes >> 20,
                 page->max_disk_mb);
  write_fact(out, "disk", disk);
  fputs("</dl>\n", out);
}

static void write_warnings(FILE *out, const struct tg_page *page) {
  bool begun = false;
  for (size_t i = 0; i < page->num_warnings; i++) {
    fputs(begun ? "<li>" : "<ul class=\"warnings\">\n<li>", out);
    tg_html_text(out, page->warnings[i]);
    fputs("</li>\n", out);
    begun = true;
  }
  for (size_t i = 0; i < page->state->num_targets; i++) {
    const struct tg_fuzzd_target_state *target = &page->state->targets[i];
    char text[512];
    enum tg_health health = tg_health_judge(target, page->choice->engines, text, sizeof(text));
    if (!is_shown(page, i) || health < TG_HEALTH_IDLE) {
      continue;
    }
    fputs(begun ? "<li><b>" : "<ul class=\"warnings\">\n<li><b>", out);
    tg_html_text(out, target->name);
    fputs("</b> ", out);
    tg_html_text(out, text);
    fputs("</li>\n", out);
    begun = true;
  }
  if (begun) {
    fputs("</ul>\n", out);
  }
}

static void write_targets(FILE *out, const struct tg_page *page) {
  fputs(
      "<h2>Targets</h2>\n<div class=\"scroll\"><table>\n<tr><th>target</th><th>health</th><th>now</th>"
      "<th class=\"num\">CPU time</th><th class=\"num\">executions</th><th class=\"num\">per CPU s</th>"
      "<th class=\"num\">edges</th><th class=\"num\">corpus</th><th class=\"num\">findings</th></tr>\n",
      out);
  for (size_t i = 0; i < page->state->num_targets; i++) {
    const struct tg_fuzzd_target_state *target = &page->state->targets[i];
    const struct tg_page_target *more = &page->targets[i];
    if (!is_shown(page, i)) {
      continue;
    }
    char text[512];
    char number[32];
    char size[32];
    double cpu_s = tg_fuzzd_target_cpu_s(target);
    uint64_t executions = target->arms[TG_FUZZD_LIBFUZZER].executions + target->arms[TG_FUZZD_AFL].executions;
    fputs("<tr><td><code>", out);
    tg_html_text(out, target->name);
    fputs("</code></td><td>", out);
    write_pill(out, tg_health_word(tg_health_judge(target, page->choice->engines, text, sizeof(text))));
    fputs("</td><td>", out);
    tg_html_text(out, more->now);
    fprintf(out, "</td><td class=\"num\">%s</td>", time_text(number, cpu_s));
    fprintf(out, "<td class=\"num\">%s</td>", count_text(number, executions));
    fprintf(out, "<td class=\"num\">%s</td>",
            count_text(number, cpu_s > 0 ? (uint64_t)((double)executions / cpu_s) : 0));
    fprintf(out, "<td class=\"num\">%" PRIu64 "</td>", target->arms[TG_FUZZD_LIBFUZZER].edges);
    fprintf(out, "<td class=\"num\">%s, %s</td>", count_text(number, more->corpus.files),
            bytes_text(size, more->corpus.bytes));
    fprintf(out, "<td class=\"num\">%u</td></tr>\n", more->candidates);
  }
  fputs("</table></div>\n", out);
}

static void write_charts(FILE *out, const struct tg_page *page) {
  fputs(
      "<h2>Coverage</h2>\n<p class=\"muted\">Edges that libFuzzer counts, over the CPU time spent on the target. The "
      "axis "
      "begins at what the seeds cover.</p>\n<div class=\"cards\">\n",
      out);
  for (size_t i = 0; i < page->state->num_targets; i++) {
    const struct tg_fuzzd_target_state *target = &page->state->targets[i];
    if (!is_shown(page, i)) {
      continue;
    }
    char text[512];
    enum tg_health health = tg_health_judge(target, page->choice->engines, text, sizeof(text));
    fputs("<section class=\"card\"><header><h3>", out);
    tg_html_text(out, target->name);
    fputs("</h3>", out);
    write_pill(out, tg_health_word(health));
    fputs("</header>\n", out);
    if (!tg_fuzzd_chart(out, target)) {
      fputs("<p class=\"muted\">nothing to draw yet</p>\n", out);
    }
    fputs("<p class=\"muted\">", out);
    tg_html_text(out, text);
    fputs("</p></section>\n", out);
  }
  fputs("</div>\n", out);
}

// Links are of names that this program made: letters, digits, dashes.
static void write_findings(FILE *out, const struct tg_page *page) {
  fputs("<h2>Findings</h2>\n", out);
  if (page->num_candidates == 0) {
    fputs("<p class=\"muted\">None so far.</p>\n", out);
    return;
  }
  fputs(
      "<div class=\"scroll\"><table>\n<tr><th>found</th><th>target</th><th>what</th><th>explanation</th>"
      "<th class=\"num\">bytes</th><th class=\"num\">seen</th></tr>\n",
      out);
  for (size_t i = 0; i < page->num_candidates; i++) {
    const struct tg_candidate *candidate = &page->candidates[i];
    char text[32];
    fprintf(out, "<tr><td class=\"whole\">%s<br><span class=\"muted\">", utc_text(text, candidate->found_at_s));
    tg_html_text(out, candidate->engine);
    fputs("</span></td><td><code>", out);
    tg_html_text(out, candidate->target);
    fputs("</code></td><td class=\"says\">", out);
    tg_html_text(out, candidate->line);
    fputs("</td><td class=\"whole\"><a href=\"candidates/", out);
    tg_html_text(out, candidate->target);
    fputs("/explanations/", out);
    tg_html_text(out, candidate->name);
    fputs(".txt\">", out);
    tg_html_text(out, candidate->name);
    fprintf(out, "</a></td><td class=\"num\">%" PRIu64 "</td><td class=\"num\">%" PRIu64 "</td></tr>\n",
            candidate->size, candidate->seen);
  }
  fputs("</table></div>\n", out);
  if (page->all_candidates > page->num_candidates) {
    fprintf(out, "<p class=\"muted\">%zu earlier ones are in candidates/.</p>\n",
            page->all_candidates - page->num_candidates);
  }
}

static void write_engines(FILE *out, const struct tg_page *page) {
  fputs(
      "<h2>How time is shared</h2>\n<p class=\"muted\">A share is what an engine on a target is to have of all CPU "
      "time: "
      "part of it is equal, the rest follows the yield of its latest slices, new edges for each CPU second.</p>\n"
      "<div class=\"scroll\"><table>\n<tr><th>target</th><th>engine</th><th class=\"num\">share</th>"
      "<th class=\"num\">CPU time</th><th class=\"num\">slices</th><th class=\"num\">executions</th>"
      "<th class=\"num\">its edges</th><th class=\"num\">new edges</th><th class=\"num\">findings</th></tr>\n",
      out);
  for (size_t i = 0; i < page->state->num_targets; i++) {
    const struct tg_fuzzd_target_state *target = &page->state->targets[i];
    for (int e = 0; e < TG_FUZZD_ENGINES; e++) {
      const struct tg_fuzzd_arm *arm = &target->arms[e];
      if (!is_shown(page, i) || !page->choice->engines[e]) {
        continue;
      }
      char text[32];
      fputs("<tr><td><code>", out);
      tg_html_text(out, target->name);
      fprintf(out, "</code></td><td>%s</td>", tg_fuzzd_engine_names[e]);
      fprintf(out, "<td class=\"num\">%.0f %%</td>",
              100 * tg_fuzzd_share(page->state, page->choice, i, (enum tg_fuzzd_engine)e));
      fprintf(out, "<td class=\"num\">%s</td>", time_text(text, arm->cpu_s));
      fprintf(out, "<td class=\"num\">%" PRIu64 "</td>", arm->slices);
      fprintf(out, "<td class=\"num\">%s</td>", count_text(text, arm->executions));
      fprintf(out,
              "<td class=\"num\">%" PRIu64 "</td><td class=\"num\">%" PRIu64 "</td><td class=\"num\">%" PRIu64
              "</td></tr>\n",
              arm->edges, arm->new_edges, arm->findings);
    }
  }
  fputs("</table></div>\n", out);
}

static void write_page(FILE *out, const struct tg_page *page) {
  char text[32];
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n", out);
  if (page->refresh_s > 0) {
    fprintf(out, "<meta http-equiv=\"refresh\" content=\"%u\">\n", page->refresh_s);
  }
  fputs("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>fuzzd: ", out);
  tg_html_text(out, page->status);
  fprintf(out, "</title>\n<style>%s</style></head>\n<body><main>\n<h1>tlsgate fuzzd ", tg_fuzzd_page_style);
  write_pill(out, page->status);
  fputs("</h1>\n<p class=\"muted\">", out);
  if (page->note[0] != '\0') {
    tg_html_text(out, page->note);
    fputs(". ", out);
  }
  fprintf(out, "Written %s", utc_text(text, page->now_s));
  if (page->refresh_s > 0) {
    fprintf(out, "; anew every %u s as long as fuzzd runs", page->refresh_s);
  }
  fputs(".</p>\n", out);
  write_facts(out, page);
  write_warnings(out, page);
  write_findings(out, page);
  write_targets(out, page);
  write_charts(out, page);
  write_engines(out, page);
  fputs("<footer>Everything is in <code>", out);
  tg_html_text(out, page->root);
  fprintf(out, "</code>. First started %s, %" PRIu64 " starts in all.</footer>\n</main></body></html>\n",
          utc_text(text, page->state->begun_at_s), page->state->starts);
}

bool tg_page_write(const char *path, const struct tg_page *page, struct tg_error *err) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  bool ok = out != NULL;
  if (ok) {
    write_page(out, page);
    ok = fclose(out) == 0;
  }
  if (!ok) {
    tg_error_set(err, "cannot write %s: out of memory", path);
  }
  ok = ok && tg_fuzzd_write(path, text, len, err);
  free(text);
  return ok;
}
