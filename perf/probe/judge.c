#include "perf/probe/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "perf/probe/canary.h"

struct reasons {
  char *text;
  size_t size;
  bool failed;
};

static void __attribute__((format(printf, 2, 3))) add(struct reasons *reasons, const char *format, ...) {
  size_t used = strlen(reasons->text);
  va_list args;
  if (used > 0 && used + 2 < reasons->size) {
    (void)snprintf(reasons->text + used, reasons->size - used, "; ");
    used += 2;
  }
  va_start(args, format);
  (void)vsnprintf(reasons->text + used, reasons->size - used, format, args);
  va_end(args);
}

const char *tg_probe_outcome_name(enum tg_probe_outcome outcome) {
  static const char *const names[] = {"pass", "failed", "undecided"};
  return names[outcome];
}

bool tg_probe_at_rest(const struct tg_rest *before, const struct tg_rest *after) {
  return after->threads <= before->threads + TG_REST_THREADS && after->fds <= before->fds + TG_REST_FDS &&
         after->rss_mib <= before->rss_mib + TG_REST_RSS_MIB && after->cpu <= before->cpu + TG_REST_CPU;
}

static void judge_rest(const struct tg_observed *observed, struct reasons *reasons) {
  const struct tg_rest *before = &observed->before;
  const struct tg_rest *after = &observed->after;
  if (tg_probe_at_rest(before, after)) {
    return;
  }
  reasons->failed = true;
  if (after->threads > before->threads + TG_REST_THREADS) {
    add(reasons, "threads %ld, were %ld", after->threads, before->threads);
  }
  if (after->fds > before->fds + TG_REST_FDS) {
    add(reasons, "descriptors %ld, were %ld", after->fds, before->fds);
  }
  if (after->rss_mib > before->rss_mib + TG_REST_RSS_MIB) {
    add(reasons, "memory %.1f MiB, was %.1f", after->rss_mib, before->rss_mib);
  }
  if (after->cpu > before->cpu + TG_REST_CPU) {
    add(reasons, "CPU at rest %.0f %% of a core, was %.0f %%", after->cpu * 100, before->cpu * 100);
  }
}

enum tg_probe_outcome tg_probe_judge(const struct tg_observed *observed, char *why, size_t size) {
  struct reasons reasons = {.text = why, .size = size};
  why[0] = '\0';
  if (!observed->ready) {
    add(&reasons, "the server did not serve before the probe began");
    return TG_PROBE_UNDECIDED;
  }
  if (observed->seen.failed) {
    reasons.failed = true;
    add(&reasons, "%s", observed->seen.note);
  }
  if (!observed->alive) {
    reasons.failed = true;
    add(&reasons, "the server, or a process of it, has died");
  } else if (!observed->served_after) {
    reasons.failed = true;
    add(&reasons, "serves no more");
  }
  bool late_itself = observed->own_late_s > TG_CANARY_OWN_LATE_S;
  if (observed->others_lost > 0) {
    reasons.failed = reasons.failed || !late_itself;
    add(&reasons, "%zu of %zu others not served within %.0f s%s", observed->others_lost, observed->others,
        TG_CANARY_SERVED_S, late_itself ? ", but this machine itself was late" : "");
  }
  if (observed->alive) {
    judge_rest(observed, &reasons);
  }
  if (reasons.failed) {
    return TG_PROBE_FAILED;
  }
  if (observed->seen.undecided) {
    add(&reasons, "%s", observed->seen.note);
  }
  return observed->seen.undecided || observed->others_lost > 0 ? TG_PROBE_UNDECIDED : TG_PROBE_PASS;
}
