#include "fuzz/schedule/explain.h"

#include <string.h>

#include "fuzz/schedule/duration.h"
#include "fuzz/schedule/explain_settings.h"
#include "fuzz/schedule/explain_step.h"
#include "fuzz/schedule/wait.h"

// The time before which a step does not start: what has passed since the last rest, whose own length is not known.
struct earliest {
  unsigned rests;
  uint64_t ns;
};

static void write_earliest(const struct earliest *at, FILE *to) {
  char duration[TG_DURATION_TEXT_MAX], text[2 * TG_DURATION_TEXT_MAX];
  (void)tg_duration_format(at->ns, " ", duration);
  if (at->rests == 0) {
    (void)snprintf(text, sizeof(text), "%s", duration);
  } else {
    (void)snprintf(text, sizeof(text), "rest %u + %s", at->rests, duration);
  }
  (void)fprintf(to, "%-18s ", text);
}

static void pass(struct earliest *at, uint8_t wait) {
  if (wait == TG_SCHEDULE_WAIT_REST) {
    at->rests++;
    at->ns = 0;
  } else {
    at->ns += tg_schedule_wait_ns(wait);
  }
}

void tg_schedule_explain(const struct tg_schedule *schedule, FILE *to) {
  tg_explain_settings(&schedule->settings, to);
  struct earliest at = {.rests = 0};
  for (size_t i = 0; i < schedule->num_steps; i++) {
    const struct tg_schedule_step *step = &schedule->steps[i];
    char duration[TG_DURATION_TEXT_MAX];
    (void)fprintf(to, "%4zu  ", i + 1);
    write_earliest(&at, to);
    tg_explain_step(step, to);
    if (step->wait == TG_SCHEDULE_WAIT_REST) {
      (void)fputs("; then all comes to rest", to);
    } else if (step->wait != 0) {
      (void)tg_duration_format(tg_schedule_wait_ns(step->wait), " ", duration);
      (void)fprintf(to, "; then %s %s", duration, strncmp(duration, "1 ", 2) == 0 ? "passes" : "pass");
    }
    (void)fputc('\n', to);
    pass(&at, step->wait);
  }
}
