// Charts as SVG to be put into a page, drawn by gnuplot.
//
// The texts have no colours of their own: lines and text are var(--muted), points var(--point) and var(--mark), the
// reference var(--line-ref), so that a page's style says what they look like, by night as well. Points are the shape
// #gpPt6, which the page defines once (tg_chart_defs).
#ifndef TLSGATE_PERF_CERTIFY_CHARTS_H
#define TLSGATE_PERF_CERTIFY_CHARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

#define TG_CHART_POINTS_MAX 4096
#define TG_CHARTS_MAX       512

struct tg_chart_point {
  double x;
  double y;
  bool marked;  // drawn larger, in another colour
};

struct tg_chart {
  const char *title;  // for who cannot see it
  unsigned width;     // of the drawing, in units of a pixel; it scales with the page
  unsigned height;
  const struct tg_chart_point *points;
  size_t num_points;  // 1 or more; finite, and above 0 on a logarithmic axis
  bool has_reference;
  double reference;         // a dashed line at this y; at this x if there are rows
  const char *const *rows;  // names of the rows y = 0, 1, ... from the top; NULL: y is a number
  size_t num_rows;
  bool logarithmic_x;
  const char *x_label;  // NULL: none
};

// What a page needs once before any chart.
extern const char tg_chart_defs[];

// tg_charts_draw draws `num` charts, at most TG_CHARTS_MAX, with one run of gnuplot. svgs[i] are the caller's to
// free(). Returns false with `err` filled in, and nothing to free, when gnuplot cannot be run or draws nothing.
bool tg_charts_draw(const struct tg_chart *charts, size_t num, char **svgs, struct tg_error *err);

#endif
