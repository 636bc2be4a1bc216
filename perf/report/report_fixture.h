// What tests of reports share: one complete report and one error report, made by hand.
#ifndef TLSGATE_PERF_REPORT_REPORT_FIXTURE_H
#define TLSGATE_PERF_REPORT_REPORT_FIXTURE_H

#include "perf/report/report.h"

#define TG_FIXTURE_ROWS 4

struct tg_report_fixture {
  struct tg_report report;
  struct tg_report_row rows[TG_FIXTURE_ROWS];  // rtt_ms (physics), rps (absolute), cpu_us (relative), curve (recorded)
  struct tg_earlier_run earlier[2];
  json_t *owned;  // what the report borrows
};

// tg_report_fixture_complete fills in a complete, readable report of mode gates that passes. Tests change what they are
// about and conclude again (tg_report_conclude). To be released with tg_report_fixture_free.
void tg_report_fixture_complete(struct tg_report_fixture *fixture);

// tg_report_fixture_error fills in an error report.
void tg_report_fixture_error(struct tg_report_fixture *fixture);

void tg_report_fixture_free(struct tg_report_fixture *fixture);

#endif
