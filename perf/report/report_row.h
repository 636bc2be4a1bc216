// One row of a report: coding of what is measured and compared of one metric.
#ifndef TLSGATE_PERF_REPORT_REPORT_ROW_H
#define TLSGATE_PERF_REPORT_REPORT_ROW_H

#include "perf/report/report.h"

// tg_report_row_decode reads and closes `place`. Returns false with its error filled in.
bool tg_report_row_decode(struct tg_report_row *out, struct tg_json_place *place);

// tg_report_row_encode returns a new object, or NULL when out of memory.
json_t *tg_report_row_encode(const struct tg_report_row *row);

#endif
