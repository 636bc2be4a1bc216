// Writing a JSON file so that a reader only ever sees the old file or the whole new one, and the new one only if it can
// be read back.
#ifndef TLSGATE_PERF_REPORT_PUBLISH_H
#define TLSGATE_PERF_REPORT_PUBLISH_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"

// Significant digits of the numbers in a report: no clock here resolves more. Samples, from which verdicts are derived
// again, are written exactly (17).
#define TG_REPORT_DIGITS 9
#define TG_EXACT_DIGITS  17

// tg_publish_check says whether `file`, just written, is what it should be; false with `err` filled in.
typedef bool tg_publish_check(const char *file, struct tg_error *err);

// tg_publish writes `value` with `digits` significant digits to a file of its own beside `path`, reads it back through
// `check` (NULL: it must parse, strictly), and renames it to `path`. Several writers may publish the same path at once:
// each publishes a whole file, and the last rename wins. Returns false with `err` filled in, beginning with "report
// unavailable"; then what was at `path` is still there, and nothing is left beside it. `value` is borrowed; NULL is an
// error (out of memory).
bool tg_publish(const char *path, const json_t *value, int digits, tg_publish_check *check, struct tg_error *err);

// tg_publish_report_check is the tg_publish_check of a report.json: it must decode (perf/report/report.h).
bool tg_publish_report_check(const char *file, struct tg_error *err);

#endif
