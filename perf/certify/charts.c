#include "perf/certify/charts.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/launcher/files.h"
#include "fuzz/schedule/files.h"
#include "perf/process/child.h"

#define GNUPLOT_TIMEOUT_S 120

const char tg_chart_defs[] =
    "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>"
    "<circle id=\"gpPt6\" r=\"1\" fill=\"currentColor\" stroke=\"none\"/></defs></svg>\n";

// Colours that stand for a style's. gnuplot writes them in two ways.
static const struct {
  const char *script;
  const char *in_lines;
  const char *in_text;
  const char *style;
} colours[] = {
    {"#010203", "rgb(  1,   2,   3)", "rgb(1,2,3)", "var(--muted)"},
    {"#040506", "rgb(  4,   5,   6)", "rgb(4,5,6)", "var(--point)"},
    {"#070809", "rgb(  7,   8,   9)", "rgb(7,8,9)", "var(--mark)"},
    {"#0a0b0c", "rgb( 10,  11,  12)", "rgb(10,11,12)", "var(--line-ref)"},
};
enum { MUTED, POINT, MARK, REFERENCE, COLOURS };

// A text between the script's quotes. What could end them or be more than text is left out.
static void put_text(FILE *script, const char *text) {
  fputc('"', script);
  for (const char *c = text; *c != '\0'; c++) {
    fputc((unsigned char)*c < ' ' || strchr("\"\\`$%", *c) != NULL ? ' ' : *c, script);
  }
  fputc('"', script);
}

// gnuplot leaves no room at the ends of an axis whose points are all the same.
static void put_range(FILE *script, const char *axis, double low, double high, bool logarithmic) {
  if (logarithmic) {
    double room = high / low > 1.05 ? pow(high / low, 0.08) : 1.5;
    fprintf(script, "set %srange [%.9g:%.9g]\n", axis, low / room, high * room);
  } else {
    double room = high > low ? 0.08 * (high - low) : high != 0 ? fabs(high) * 0.1 : 1;
    fprintf(script, "set %srange [%.9g:%.9g]\n", axis, low - room, high + room);
  }
}

static void put_axes(FILE *script, const struct tg_chart *chart) {
  double low_x = INFINITY;
  double high_x = -INFINITY;
  double low_y = INFINITY;
  double high_y = -INFINITY;
  for (size_t i = 0; i < chart->num_points; i++) {
    low_x = fmin(low_x, chart->points[i].x);
    high_x = fmax(high_x, chart->points[i].x);
    low_y = fmin(low_y, chart->points[i].y);
    high_y = fmax(high_y, chart->points[i].y);
  }
  if (chart->has_reference && chart->rows != NULL) {
    low_x = fmin(low_x, chart->reference);
    high_x = fmax(high_x, chart->reference);
  } else if (chart->has_reference) {
    low_y = fmin(low_y, chart->reference);
    high_y = fmax(high_y, chart->reference);
  }
  fprintf(script, "%sset logscale x\n", chart->logarithmic_x ? "" : "un");
  put_range(script, "x", low_x, high_x, chart->logarithmic_x);
  if (chart->rows == NULL) {
    put_range(script, "y", low_y, high_y, false);
    // Least and greatest say it all in a small chart.
    fprintf(script, "set format y '%%.4g'\nset ytics (%.9g, %.9g)\nset xtics (%.9g, %.9g)\n", low_y, high_y, low_x,
            high_x);
    return;
  }
  fprintf(script, "set yrange [%.9g:-0.7]\nset ytics (", (double)chart->num_rows - 0.3);
  for (size_t i = 0; i < chart->num_rows; i++) {
    fputs(i > 0 ? ", " : "", script);
    put_text(script, chart->rows[i]);
    fprintf(script, " %zu", i);
  }
  fputs(")\nset xtics autofreq\n", script);
}

static void put_points(FILE *script, const struct tg_chart *chart, size_t index) {
  for (int marked = 0; marked < 2; marked++) {
    fprintf(script, "$d%zu_%d << EOD\n", index, marked);
    for (size_t i = 0; i < chart->num_points; i++) {
      if (chart->points[i].marked == (marked == 1)) {
        fprintf(script, "%.9g %.9g\n", chart->points[i].x, chart->points[i].y);
      }
    }
    fputs("EOD\n", script);
  }
}

static bool has_point(const struct tg_chart *chart, bool marked) {
  for (size_t i = 0; i < chart->num_points; i++) {
    if (chart->points[i].marked == marked) {
      return true;
    }
  }
  return false;
}

static void put_chart(FILE *script, const char *folder, const struct tg_chart *chart, size_t index) {
  fprintf(script, "set terminal svg size %u,%u dynamic noenhanced font 'sans-serif,11'\nset output '%s/%zu.svg'\n",
          chart->width, chart->height, folder, index);
  put_axes(script, chart);
  fputs("unset arrow\nunset xlabel\n", script);
  if (chart->x_label != NULL) {
    fputs("set xlabel ", script);
    put_text(script, chart->x_label);
    fprintf(script, " tc rgb '%s'\n", colours[MUTED].script);
  }
  if (chart->has_reference && chart->rows != NULL) {
    fprintf(script, "set arrow from first %.9g, graph 0 to first %.9g, graph 1 nohead dt 2 lc rgb '%s'\n",
            chart->reference, chart->reference, colours[REFERENCE].script);
  } else if (chart->has_reference) {
    fprintf(script, "set arrow from graph 0, first %.9g to graph 1, first %.9g nohead dt 2 lc rgb '%s'\n",
            chart->reference, chart->reference, colours[REFERENCE].script);
  }
  put_points(script, chart, index);
  fputs("plot ", script);
  const char *comma = "";
  for (int marked = 0; marked < 2; marked++) {
    if (has_point(chart, marked == 1)) {
      fprintf(script, "%s$d%zu_%d using 1:2 with points pt 7 ps %s lc rgb '%s' title ", comma, index, marked,
              marked == 1 ? "0.8" : "0.55", colours[marked == 1 ? MARK : POINT].script);
      put_text(script, chart->title);
      comma = ", ";
    }
  }
  fputs("\nunset output\n", script);
}

static bool write_script(const char *path, const char *folder, const struct tg_chart *charts, size_t num,
                         struct tg_error *err) {
  FILE *script = fopen(path, "we");
  if (script == NULL) {
    tg_error_set(err, "%s: %s", path, strerror(errno));
    return false;
  }
  fprintf(
      script,
      "set border 3 lc rgb '%s'\nset tics nomirror textcolor rgb '%s'\nset key off\nset grid lc rgb '%s' dt 3 lw 0.5\n",
      colours[MUTED].script, colours[MUTED].script, colours[MUTED].script);
  for (size_t i = 0; i < num; i++) {
    put_chart(script, folder, &charts[i], i);
  }
  bool ok = ferror(script) == 0;
  ok = fclose(script) == 0 && ok;
  if (!ok) {
    tg_error_set(err, "%s: cannot be written", path);
  }
  return ok;
}

// Replaces every `from` in `text`, which has room for `to` in place of it.
static void replace_all(char *text, const char *from, const char *to) {
  size_t from_len = strlen(from);
  size_t to_len = strlen(to);
  for (char *at = text; (at = strstr(at, from)) != NULL; at += to_len) {
    memmove(at + to_len, at + from_len, strlen(at + from_len) + 1);
    for (size_t i = 0; i < to_len; i++) {
      at[i] = to[i];
    }
  }
}

// Cuts from each `from` up to and with the next `to`.
static void cut_all(char *text, const char *from, const char *to) {
  for (char *at = text; (at = strstr(at, from)) != NULL;) {
    char *end = strstr(at + strlen(from), to);
    if (end == NULL) {
      return;
    }
    memmove(at, end + strlen(to), strlen(end + strlen(to)) + 1);
  }
}

// Makes of a file of gnuplot's what can stand in a page with others of its kind.
static char *inlined(const struct tg_whole_file *file) {
  const char *svg = memmem(file->bytes, file->len, "<svg", strlen("<svg"));
  size_t len = svg != NULL ? file->len - (size_t)(svg - (const char *)file->bytes) : 0;
  // No colour of a style is longer than three times what stands for it.
  char *out = svg != NULL ? calloc(3, len + 1) : NULL;
  if (out == NULL) {
    return NULL;
  }
  (void)snprintf(out, len + 1, "%.*s", (int)len, svg);  // a text: it has no NUL
  cut_all(out, "<defs>", "</defs>");
  cut_all(out, "<desc>", "</desc>");
  cut_all(out, "<title>", "</title>");
  cut_all(out, " id=\"", "\"");
  for (size_t i = 0; i < COLOURS; i++) {
    replace_all(out, colours[i].in_lines, colours[i].style);
    replace_all(out, colours[i].in_text, colours[i].style);
  }
  replace_all(out, "font-family=\"sans-serif\"", "");
  replace_all(out, "<svg", "<svg class=\"chart\" aria-hidden=\"true\"");
  return out;
}

static bool read_charts(const char *folder, size_t num, char **svgs, struct tg_error *err) {
  for (size_t i = 0; i < num; i++) {
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%.200s/%zu.svg", folder, i);
    struct tg_whole_file file;
    bool read = tg_whole_file_read(path, &file, err);
    svgs[i] = read ? inlined(&file) : NULL;
    if (read) {
      tg_whole_file_free(&file);
    }
    if (svgs[i] == NULL) {
      if (read) {
        tg_error_set(err, "%s: gnuplot has drawn nothing", path);
      }
      while (i > 0) {
        free(svgs[--i]);
      }
      return false;
    }
  }
  return true;
}

bool tg_charts_draw(const struct tg_chart *charts, size_t num, char **svgs, struct tg_error *err) {
  char folder[] = "/tmp/tlsgate-charts-XXXXXX";
  char script[64];
  if (mkdtemp(folder) == NULL) {
    tg_error_set(err, "cannot make a folder %s: %s", folder, strerror(errno));
    return false;
  }
  (void)snprintf(script, sizeof(script), "%s/script", folder);
  const char *const argv[] = {"gnuplot", script, NULL};
  struct tg_child_result result;
  bool ok = write_script(script, folder, charts, num, err) && tg_child_run(argv, GNUPLOT_TIMEOUT_S, &result, err);
  if (ok) {
    if (result.exit_status != 0) {
      tg_error_set(err, "gnuplot failed: %.300s", result.err);
      ok = false;
    }
    tg_child_result_free(&result);
  }
  ok = ok && read_charts(folder, num, svgs, err);
  tg_files_remove_folder(folder);
  return ok;
}
