#include "perf/report/report.h"

#include <string.h>

const char *tg_outcome_name(enum tg_outcome outcome) {
  static const char *const names[] = {"pass", "fail", "undecided", "unenforced", "error"};
  return names[outcome];
}

const char *tg_mode_name(enum tg_mode mode) {
  static const char *const names[] = {"gates", "full", "ratios-only", "only"};
  return names[mode];
}

const char *tg_profile_name(enum tg_profile profile) {
  static const char *const names[] = {"short", "published"};
  return names[profile];
}

const struct tg_report_row *tg_report_row_named(const struct tg_report *report, const char *name) {
  for (size_t i = 0; i < report->num_rows; i++) {
    if (strcmp(report->rows[i].name, name) == 0) {
      return &report->rows[i];
    }
  }
  return NULL;
}

struct tg_report_counts tg_report_count(const struct tg_report *report) {
  struct tg_report_counts counts = {.judged = 0};
  for (size_t i = 0; i < report->num_rows; i++) {
    switch (report->rows[i].status) {
      case TG_STATUS_PASS:
        counts.passed++;
        break;
      case TG_STATUS_FAIL:
        counts.failed++;
        break;
      case TG_STATUS_UNDECIDED:
      case TG_STATUS_CLIENT_BOUND:
        counts.undecided++;
        break;
      case TG_STATUS_RECORDED:
      case TG_STATUS_DISABLED:
      case TG_STATUS_LEFT_OUT:
        break;
    }
  }
  counts.judged = counts.passed + counts.failed + counts.undecided;
  return counts;
}

enum tg_outcome tg_report_verdict_of_rows(const struct tg_report *report) {
  struct tg_report_counts counts = tg_report_count(report);
  return counts.failed > 0                                   ? TG_OUTCOME_FAIL
         : report->mode == TG_MODE_FULL && !report->enforced ? TG_OUTCOME_UNENFORCED
         : counts.undecided > 0                              ? TG_OUTCOME_UNDECIDED
                                                             : TG_OUTCOME_PASS;
}

bool tg_report_is_genuine(const struct tg_report *report) {
  return report->server == NULL && report->fault == NULL && strcmp(report->quickack, "rearm") == 0;
}

bool tg_report_is_whole(const struct tg_report *report) {
  bool whole = report->kind == TG_REPORT_COMPLETE && !report->partial && report->profile == TG_PROFILE_SHORT &&
               (report->mode == TG_MODE_GATES || report->mode == TG_MODE_FULL) && tg_report_is_genuine(report) &&
               report->num_rows > 0;
  for (size_t i = 0; whole && i < report->num_rows; i++) {
    enum tg_status status = report->rows[i].status;
    whole = status == TG_STATUS_RECORDED || status == TG_STATUS_DISABLED || report->rows[i].has_value;
  }
  return whole;
}

static enum tg_exit exit_status(const struct tg_report *report) {
  if (report->evidence && !report->partial && report->kind == TG_REPORT_COMPLETE) {
    return TG_EXIT_PASS;
  }
  switch (report->verdict) {
    case TG_OUTCOME_PASS:
      // A part that passes is no pass.
      return report->partial ? TG_EXIT_UNDECIDED : TG_EXIT_PASS;
    case TG_OUTCOME_FAIL:
    case TG_OUTCOME_ERROR:
      return TG_EXIT_FAIL;
    case TG_OUTCOME_UNENFORCED:
      return TG_EXIT_UNENFORCED;
    case TG_OUTCOME_UNDECIDED:
      break;
  }
  return report->undecided_reported && !report->partial ? TG_EXIT_PASS : TG_EXIT_UNDECIDED;
}

void tg_report_conclude(struct tg_report *report) {
  report->exit_status = exit_status(report);
  report->passed = report->verdict == TG_OUTCOME_PASS && report->exit_status == TG_EXIT_PASS && !report->partial;
  report->acceptance = report->passed && !report->evidence && tg_report_is_whole(report);
}
