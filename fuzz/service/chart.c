#include "fuzz/service/chart.h"

#include <inttypes.h>
#include <stdbool.h>

#define WIDTH  360.0
#define HEIGHT 130.0
#define LEFT   46.0
#define RIGHT  8.0
#define TOP    10.0
#define BOTTOM 22.0

struct scale {
  double most_s;
  double low;
  double high;
};

static double x_of(const struct scale *scale, double cpu_s) {
  return LEFT + cpu_s / scale->most_s * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct scale *scale, double edges) {
  return HEIGHT - BOTTOM - (edges - scale->low) / (scale->high - scale->low) * (HEIGHT - TOP - BOTTOM);
}

// A point holds until the next: what was covered before a slice ended is not known.
static void write_steps(FILE *page, const struct scale *scale, const struct tg_fuzzd_target_state *target,
                        size_t first) {
  for (size_t i = first + 1; i < target->num_history; i++) {
    const struct tg_fuzzd_point *point = &target->history[i];
    fprintf(page, "H%.1fV%.1f", x_of(scale, point->cpu_s), y_of(scale, (double)point->edges));
  }
}

static void write_time(FILE *page, double x, const char *anchor, double cpu_s) {
  const char *unit = cpu_s < 120 ? "s" : cpu_s < 7200 ? "min" : "h";
  double value = cpu_s < 120 ? cpu_s : cpu_s < 7200 ? cpu_s / 60 : cpu_s / 3600;
  fprintf(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%.*f CPU %s</text>", x, HEIGHT - 6, anchor,
          value < 10 ? 1 : 0, value, unit);
}

bool tg_fuzzd_chart(FILE *page, const struct tg_fuzzd_target_state *target) {
  size_t first = 0;
  // Before libFuzzer's first slice there is nothing to see.
  while (first < target->num_history && target->history[first].edges == 0) {
    first++;
  }
  if (target->num_history < first + 2) {
    return false;
  }
  const struct tg_fuzzd_point *begin = &target->history[first];
  const struct tg_fuzzd_point *end = &target->history[target->num_history - 1];
  struct scale scale = {.most_s = end->cpu_s > 0 ? end->cpu_s : 1,
                        .low = (double)begin->edges,
                        .high = (double)(end->edges > begin->edges ? end->edges : begin->edges + 1)};
  fprintf(page,
          "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"edges covered: %" PRIu64 " at first, %" PRIu64
          " now\"><path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\"/>",
          WIDTH, HEIGHT, begin->edges, end->edges, LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
  double x = x_of(&scale, begin->cpu_s);
  double y = y_of(&scale, (double)begin->edges);
  fprintf(page, "<path class=\"fill\" d=\"M%.1f %.1fV%.1f", x, HEIGHT - BOTTOM, y);
  write_steps(page, &scale, target, first);
  fprintf(page, "V%.1fZ\"/><path class=\"curve\" d=\"M%.1f %.1f", HEIGHT - BOTTOM, x, y);
  write_steps(page, &scale, target, first);
  fputs("\"/>", page);
  fprintf(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>", LEFT - 5, TOP + 8, scale.high);
  fprintf(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>", LEFT - 5, HEIGHT - BOTTOM, scale.low);
  write_time(page, LEFT, "start", 0);
  write_time(page, WIDTH - RIGHT, "end", scale.most_s);
  fputs("</svg>\n", page);
  return true;
}
