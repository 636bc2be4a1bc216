// The sections on the timed gates: table, headroom, and for each metric its rounds and its history.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perf/certify/charts.h"
#include "perf/certify/html.h"
#include "perf/certify/page_sections.h"
#include "perf/certify/samples_file.h"
#include "perf/manifest/strict_json.h"
#include "perf/report/report.h"

#define SMALL_WIDTH  220
#define SMALL_HEIGHT 110

// What is drawn, and the memory that the charts borrow.
struct gallery {
  const struct tg_report *report;
  const struct tg_samples *samples;
  const json_t *history;  // array of runs; NULL: none
  struct tg_chart charts[TG_CHARTS_MAX];
  struct tg_chart_point *points[TG_CHARTS_MAX];
  char *svgs[TG_CHARTS_MAX];
  size_t num;
  const char *names[TG_REPORT_ROWS_MAX];  // rows of the headroom chart
  size_t rounds_of[TG_REPORT_ROWS_MAX];   // chart of a row, or TG_CHARTS_MAX
  size_t history_of[TG_REPORT_ROWS_MAX];
};

// Points of a new chart, or NULL when there is no room for one more.
static struct tg_chart_point *begin_chart(struct gallery *gallery, size_t most, const char *title) {
  if (gallery->num == TG_CHARTS_MAX || most == 0) {
    return NULL;
  }
  struct tg_chart_point *points = calloc(most, sizeof(*points));
  gallery->points[gallery->num] = points;
  gallery->charts[gallery->num] =
      (struct tg_chart){.title = title, .width = SMALL_WIDTH, .height = SMALL_HEIGHT, .points = points};
  return points;
}

static size_t end_chart(struct gallery *gallery, size_t num_points) {
  gallery->charts[gallery->num].num_points = num_points;
  return gallery->num++;
}

// A reference is shown where it is near what was measured: elsewhere it would flatten the points to a line.
static void set_reference(struct tg_chart *chart, double reference) {
  double low = INFINITY;
  double high = -INFINITY;
  for (size_t i = 0; i < chart->num_points; i++) {
    low = fmin(low, chart->points[i].y);
    high = fmax(high, chart->points[i].y);
  }
  chart->has_reference = reference > 0 && reference < high * 2 && reference > low / 2;
  chart->reference = reference;
}

static size_t draw_rounds(struct gallery *gallery, const struct tg_report_row *row) {
  const struct tg_series *series = tg_samples_find(gallery->samples, row->name);
  size_t most = series != NULL && series->num < TG_CHART_POINTS_MAX ? series->num : 0;
  struct tg_chart_point *points = begin_chart(gallery, most, row->name);
  if (points == NULL) {
    return TG_CHARTS_MAX;
  }
  for (size_t i = 0; i < most; i++) {
    const struct tg_sample *sample = &series->samples[i];
    points[i] = (struct tg_chart_point){(double)sample->round + 1, sample->value, false};
  }
  size_t index = end_chart(gallery, most);
  if (row->has_bound) {
    set_reference(&gallery->charts[index], row->bound);
  }
  return index;
}

static size_t draw_history(struct gallery *gallery, const struct tg_report_row *row) {
  struct tg_chart_point *points = begin_chart(gallery, json_array_size(gallery->history), row->name);
  size_t num = 0;
  size_t i;
  const json_t *run;
  if (points == NULL) {
    return TG_CHARTS_MAX;
  }
  json_array_foreach(gallery->history, i, run) {
    const json_t *value = json_object_get(json_object_get(run, "values"), row->name);
    const char *id = json_string_value(json_object_get(run, "id"));
    if (json_is_number(value) && isfinite(json_number_value(value))) {
      bool marked = id != NULL && strcmp(id, gallery->report->id) == 0;
      points[num++] = (struct tg_chart_point){(double)i + 1, json_number_value(value), marked};
    }
  }
  if (num < 2) {
    free(points);
    gallery->points[gallery->num] = NULL;
    return TG_CHARTS_MAX;
  }
  size_t index = end_chart(gallery, num);
  if (row->baseline.present) {
    set_reference(&gallery->charts[index], row->baseline.reference);
  }
  return index;
}

// How many times a value is outside its bound: above 1 is outside.
static double times_outside(const struct tg_report_row *row, double value) {
  return row->direction == TG_AT_MOST ? value / row->bound : row->bound / value;
}

// Every round of every gate with a bound, as a multiple of the bound. A fraction of 0 has no place on this axis.
static void draw_headroom(struct gallery *gallery) {
  size_t most = 0;
  for (size_t i = 0; i < gallery->report->num_rows; i++) {
    const struct tg_series *series = tg_samples_find(gallery->samples, gallery->report->rows[i].name);
    most += series != NULL ? series->num + 1 : 0;
  }
  struct tg_chart_point *points = begin_chart(gallery, most, "Headroom of the gates");
  size_t num = 0;
  size_t rows = 0;
  for (size_t i = 0; points != NULL && i < gallery->report->num_rows; i++) {
    const struct tg_report_row *row = &gallery->report->rows[i];
    const struct tg_series *series = tg_samples_find(gallery->samples, row->name);
    if (!row->has_bound || row->bound <= 0 || !row->has_value || row->value <= 0 || series == NULL) {
      continue;
    }
    for (size_t j = 0; j < series->num; j++) {
      if (series->samples[j].value > 0) {
        points[num++] = (struct tg_chart_point){times_outside(row, series->samples[j].value), (double)rows, false};
      }
    }
    points[num++] = (struct tg_chart_point){times_outside(row, row->value), (double)rows, true};
    gallery->names[rows++] = row->name;
  }
  if (rows == 0) {
    return;
  }
  struct tg_chart *chart = &gallery->charts[gallery->num];
  chart->width = 900;
  chart->height = (unsigned)(60 + 21 * rows);
  chart->rows = gallery->names;
  chart->num_rows = rows;
  chart->logarithmic_x = true;
  chart->has_reference = true;
  chart->reference = 1;
  chart->x_label = "times the bound: 1 is the bound, left of it is inside";
  (void)end_chart(gallery, num);
}

static void put_row(FILE *page, const struct tg_report_row *row) {
  bool noted = row->message != NULL && row->message[0] != '\0';
  fprintf(page, "<tr%s><td>", noted ? " class=\"joined\"" : "");
  tg_html_pill(page, tg_status_name(row->status));
  fputs("</td><td><code>", page);
  tg_html_text(page, row->name);
  fputs("</code></td><td class=\"num\">", page);
  if (row->has_value) {
    tg_html_number(page, row->value);
    fputs(" ", page);
    tg_html_text(page, row->unit);
  }
  fputs("</td><td class=\"num\">", page);
  if (row->has_bound) {
    fputs(row->direction == TG_AT_MOST ? "&le; " : "&ge; ", page);
    tg_html_number(page, row->bound);
  } else if (row->judged_by_firm) {
    fputs("by firm metric", page);
  }
  fputs("</td><td class=\"num roomy\">", page);
  if (row->has_distance && row->distance > 0) {
    tg_html_number(page, row->distance > 1 ? row->distance : 1 / row->distance);
    fputs(row->distance > 1 ? " x out" : " x in", page);
  }
  fputs("</td><td class=\"num roomy\">", page);
  if (row->baseline.present) {
    fprintf(page, "%.2f of %.2f ", row->baseline.ratio, 1 + row->baseline.allowance);
    tg_html_pill(page, tg_status_name(row->baseline.status));
  }
  fprintf(page, "</td><td class=\"num roomy\">%zu</td></tr>\n", row->rounds);
  if (noted) {
    fputs("<tr class=\"note\"><td></td><td colspan=\"6\">", page);
    tg_html_text(page, row->message);
    fputs("</td></tr>\n", page);
  }
}

// The exact gates are many and mostly as accepted: those that are have a table of their own, which opens on demand.
enum table { JUDGED, AS_ACCEPTED, NOT_JUDGED };

static enum table table_of(const struct tg_report_row *row) {
  if (row->status == TG_STATUS_RECORDED || row->status == TG_STATUS_DISABLED || row->status == TG_STATUS_LEFT_OUT) {
    return NOT_JUDGED;
  }
  bool exact = row->kind == TG_KIND_EXACT || row->kind == TG_KIND_COUNTED;
  return exact && row->status == TG_STATUS_PASS ? AS_ACCEPTED : JUDGED;
}

static size_t count_rows(const struct tg_report *report, enum table table) {
  size_t num = 0;
  for (size_t i = 0; i < report->num_rows; i++) {
    num += table_of(&report->rows[i]) == table;
  }
  return num;
}

static void put_rows(FILE *page, const struct tg_report *report, enum table table) {
  fputs(
      "<div class=\"scroll\"><table><tr><th>Verdict</th><th class=\"grow\">Metric</th><th class=\"num\">Value</th>"
      "<th class=\"num\">Bound</th><th class=\"num roomy\">Margin</th><th class=\"num roomy\">Times as recorded</th>"
      "<th class=\"num roomy\">Rounds</th></tr>\n",
      page);
  for (size_t i = 0; i < report->num_rows; i++) {
    if (table_of(&report->rows[i]) == table) {
      put_row(page, &report->rows[i]);
    }
  }
  fputs("</table></div>\n", page);
}

static void put_earlier_runs(FILE *page, const struct tg_report *report) {
  fprintf(page, "<p>Earlier runs of this revision on this host: %zu.</p>", report->num_earlier_total);
  if (report->num_earlier == 0) {
    return;
  }
  fputs("<details><summary>Earlier runs</summary><ul class=\"plain\">", page);
  for (size_t i = 0; i < report->num_earlier; i++) {
    const struct tg_earlier_run *run = &report->earlier[i];
    fputs("<li>", page);
    tg_html_pill(page, run->finished ? tg_outcome_name(run->verdict) : "unfinished");
    fputs(" ", page);
    tg_html_text(page, run->start);
    fprintf(page, ", %s%s</li>\n", tg_mode_name(run->mode), run->dirty ? ", of a tree that was not clean" : "");
  }
  fputs("</ul></details>\n", page);
}

static void put_table(FILE *page, const struct tg_report *report) {
  fprintf(page, "<p>Measured %.0f s. Without the re-arm, a request took %.1f ms on this host: %s. Stolen CPU time: ",
          report->measured_s, report->off_p50_ms[0],
          report->host_stalls ? "the fault shows here" : "this host hides the fault");
  fprintf(page, report->has_stolen ? "%.1f %%.</p>\n" : "not known.</p>\n", report->stolen * 100);
  for (size_t i = 0; i < report->num_reasons; i++) {
    fputs("<p>", page);
    tg_html_pill(page, "undecided");
    fputs(" The run is not readable: ", page);
    tg_html_text(page, report->reasons[i]);
    fputs("</p>\n", page);
  }
  put_rows(page, report, JUDGED);
  size_t as_accepted = count_rows(report, AS_ACCEPTED);
  if (as_accepted > 0) {
    fprintf(page, "<details><summary>Exact gates whose figures are as accepted: %zu</summary>", as_accepted);
    put_rows(page, report, AS_ACCEPTED);
    fputs("</details>\n", page);
  }
  fputs("<details><summary>Metrics that are recorded and not judged</summary>", page);
  put_rows(page, report, NOT_JUDGED);
  fputs("</details>\n", page);
  put_earlier_runs(page, report);
}

static void put_figure(FILE *page, const struct gallery *gallery, size_t chart, const char *caption,
                       const char *without) {
  fputs(chart < gallery->num ? "<figure>" : "<figure class=\"none\">", page);
  if (chart < gallery->num) {
    fputs(gallery->svgs[chart], page);
  }
  fprintf(page, "<figcaption>%s</figcaption></figure>", chart < gallery->num ? caption : without);
}

static void put_gallery(FILE *page, const struct gallery *gallery) {
  if (gallery->num == 0) {
    return;
  }
  if (gallery->charts[0].rows != NULL) {
    fputs(
        "<h2>Headroom</h2><p class=\"muted\">Every round of every gate that has a bound, and in the stronger colour "
        "its value.</p><div class=\"card wide-chart\">",
        page);
    fputs(gallery->svgs[0], page);
    fputs("</div>\n", page);
  }
  fputs(
      "<h2>Metrics</h2><p class=\"muted\">Left, the rounds of this run; the dashed line is the bound, where it is "
      "near. Right, earlier runs on this machine, this one in the stronger colour; the dashed line is what was "
      "recorded of this host.</p><div class=\"cards\">\n",
      page);
  for (size_t i = 0; i < gallery->report->num_rows; i++) {
    const struct tg_report_row *row = &gallery->report->rows[i];
    if (gallery->rounds_of[i] >= gallery->num) {
      continue;
    }
    fputs("<section class=\"card\"><h3><code>", page);
    tg_html_text(page, row->name);
    fputs("</code></h3><span class=\"muted\">", page);
    if (row->has_value) {
      tg_html_number(page, row->value);
      fputs(" ", page);
    }
    tg_html_text(page, row->unit);
    fputs("</span> ", page);
    tg_html_pill(page, tg_status_name(row->status));
    fputs("<div class=\"pair\">", page);
    put_figure(page, gallery, gallery->rounds_of[i], "rounds of this run", "");
    put_figure(page, gallery, gallery->history_of[i], "run to run, oldest first", "no earlier run on this machine");
    fputs("</div></section>\n", page);
  }
  fputs("</div>\n", page);
}

static bool put_charts(FILE *page, struct gallery *gallery, struct tg_error *err) {
  draw_headroom(gallery);
  for (size_t i = 0; i < gallery->report->num_rows; i++) {
    gallery->rounds_of[i] = draw_rounds(gallery, &gallery->report->rows[i]);
    gallery->history_of[i] = draw_history(gallery, &gallery->report->rows[i]);
  }
  bool ok = gallery->num == 0 || tg_charts_draw(gallery->charts, gallery->num, gallery->svgs, err);
  if (ok) {
    put_gallery(page, gallery);
  }
  for (size_t i = 0; i < TG_CHARTS_MAX; i++) {
    free(gallery->svgs[i]);
    free(gallery->points[i]);
  }
  return ok;
}

// Draws what the raw files hold. Files that do not decode are the verdict's concern, which has said so.
static bool put_report(FILE *page, const char *folder, const struct tg_report *report, struct tg_error *err) {
  char path[PATH_MAX];
  if (report->kind == TG_REPORT_ERROR) {
    fputs("<p>The run came to no figures: ", page);
    tg_html_text(page, report->error_message);
    fputs("</p>\n", page);
    return true;
  }
  put_table(page, report);
  (void)snprintf(path, sizeof(path), "%.4000s/samples.json", folder);
  struct tg_samples *samples = tg_samples_load(path, report->id, NULL);
  (void)snprintf(path, sizeof(path), "%.4000s/history.json", folder);
  json_t *history = tg_json_load(path, NULL);
  struct gallery *gallery = calloc(1, sizeof(*gallery));
  bool ok = true;
  if (gallery != NULL && samples != NULL) {
    gallery->report = report;
    gallery->samples = samples;
    gallery->history = json_object_get(history, "runs");
    ok = put_charts(page, gallery, err);
  }
  free(gallery);
  json_decref(history);
  tg_samples_free(samples);
  return ok;
}

bool tg_page_put_gates(FILE *page, const char *folder, const struct tg_certificate *certificate, struct tg_error *err) {
  const struct tg_cert_part *part = tg_certificate_part(certificate, "gates");
  char raw[PATH_MAX];
  char path[PATH_MAX];
  if (part == NULL) {
    return true;
  }
  fputs("<h2>Timed gates</h2>", page);
  (void)snprintf(raw, sizeof(raw), "%.3000s/%.100s", folder, tg_cert_part_last(part)->folder);
  (void)snprintf(path, sizeof(path), "%.4000s/report.json", raw);
  struct tg_report *report = tg_report_load(path, NULL);
  if (report == NULL) {
    fputs("<p>There is no report of a timed run.</p>\n", page);
    return true;
  }
  bool ok = put_report(page, raw, report, err);
  tg_report_free(report);
  return ok;
}
