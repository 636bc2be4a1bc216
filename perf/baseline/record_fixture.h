// What the tests of recording share: runs of revision A, a request, and what recording said.
#ifndef TLSGATE_PERF_BASELINE_RECORD_FIXTURE_H
#define TLSGATE_PERF_BASELINE_RECORD_FIXTURE_H

#include "perf/baseline/baseline_fixture.h"
#include "perf/baseline/record.h"

enum { TG_RUNS = 48 };

struct tg_record_fixture {
  struct tg_manifest *manifest;
  struct tg_run_fixture runs[TG_RUNS];  // good ones of revision A; run k starts k minutes after the first
  struct tg_report *reports[TG_RUNS];   // these runs
  struct tg_report *deposits[TG_RUNS];  // none
  struct tg_record_request request;     // to record the first three as quiet-1, in the working folder, which is empty
  char *log;                            // of the last recording
  struct tg_error err;
};

extern struct tg_record_fixture tg_fixture;

// The file that is recorded, and its reservation.
#define TG_FIXTURE_FILE   "quiet-1.json"
#define TG_FIXTURE_STAGED "quiet-1.json.staged"

// For cmocka: before and after each test.
int tg_record_set_up(void **state);
int tg_record_tear_down(void **state);

// tg_fixture_record carries the request out.
bool tg_fixture_record(void);

// tg_fixture_recorded expects that to succeed, and returns what was recorded, to be freed.
struct tg_host_baseline *tg_fixture_recorded(void);

// tg_fixture_refused expects a refusal that says `expected`, with tg_fixture_baseline left as it is, byte by byte.
void tg_fixture_refused(const char *expected);

// tg_fixture_logged expects (or not) a text in the log.
void tg_fixture_logged(const char *expected);
void tg_fixture_not_logged(const char *unexpected);

#endif
