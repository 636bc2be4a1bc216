// What the tests of this folder share: a small manifest, and reports of runs made by hand.
#ifndef TLSGATE_PERF_BASELINE_BASELINE_FIXTURE_H
#define TLSGATE_PERF_BASELINE_BASELINE_FIXTURE_H

#include <limits.h>

#include "perf/baseline/host_baseline.h"
#include "perf/manifest/manifest.h"
#include "perf/report/report_fixture.h"

// The revisions of runs.
#define TG_REVISION_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define TG_REVISION_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

enum { TG_RUN_ROWS = 5 };

// A run's report, with rows for every gate of the manifest: rtt_ms (at_most), rps (at_least), cpu_us (at_most),
// curve (recorded only, at_most) and stalled (a fraction, which is 0).
struct tg_run_fixture {
  struct tg_report_fixture base;
  struct tg_report_row rows[TG_RUN_ROWS];
  char id[TG_RUN_ID_LEN + 1];
  char start[32];
  char finish[32];
  struct tg_report *report;  // &base.report
};

enum { TG_RTT, TG_RPS, TG_CPU, TG_CURVE, TG_STALLED };

// tg_fixture_manifest returns the manifest, to be freed by the caller.
struct tg_manifest *tg_fixture_manifest(void);

// tg_run_fixture_make makes the report of the run `number` (0 to 999), which started `number` minutes after the first:
// whole, readable, passing, in mode full, of a clean tree at `revision`, with 0.1 ms, 1000 1/s, 20 us and 7.
void tg_run_fixture_make(struct tg_run_fixture *out, int number, const char *revision);
void tg_run_fixture_free(struct tg_run_fixture *run);

// tg_fixture_folder makes an empty folder for the test. The path lives until the next call.
const char *tg_fixture_folder(void);

// tg_fixture_read returns the text of a file, to be freed; NULL if there is none.
char *tg_fixture_read(const char *path);

// tg_fixture_write writes a file.
void tg_fixture_write(const char *path, const char *text);

// A baseline as text, of the machine that fixtures are of. In it: rtt_ms 0.1 (allowance 0.10), rps 1000 (no allowance),
// cpu_us disabled, curve 7 (0.40).
extern const char tg_fixture_baseline[];

// A history of the fixtures' CPU model as text: six passing rows (rtt_ms 0.1, rps 1000), one kept apart as failed.
extern const char tg_fixture_history[];

#endif
