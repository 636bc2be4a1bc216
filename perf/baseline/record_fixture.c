#include "perf/baseline/record_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct tg_record_fixture tg_fixture;

int tg_record_set_up(void **state) {
  (void)state;
  struct tg_record_fixture *f = &tg_fixture;
  memset(f, 0, sizeof(*f));
  f->manifest = tg_fixture_manifest();
  for (int i = 0; i < TG_RUNS; i++) {
    tg_run_fixture_make(&f->runs[i], i, TG_REVISION_A);
    f->runs[i].report->file = "run.json";
    f->reports[i] = f->runs[i].report;
  }
  f->request = (struct tg_record_request){.folder = ".",
                                          .label = "quiet-1",
                                          .revision = TG_REVISION_A,
                                          .date = "2026-03-01T00:00:00Z",
                                          .manifest = f->manifest,
                                          .reports = f->reports,
                                          .num_reports = 3,
                                          .deposits = f->deposits};
  return chdir(tg_fixture_folder());
}

int tg_record_tear_down(void **state) {
  (void)state;
  tg_manifest_free(tg_fixture.manifest);
  for (int i = 0; i < TG_RUNS; i++) {
    tg_run_fixture_free(&tg_fixture.runs[i]);
  }
  free(tg_fixture.log);
  return 0;
}

bool tg_fixture_record(void) {
  size_t len = 0;
  free(tg_fixture.log);
  FILE *log = open_memstream(&tg_fixture.log, &len);
  tg_fixture.err.text[0] = '\0';
  const bool ok = tg_record(&tg_fixture.request, log, &tg_fixture.err);
  (void)fclose(log);
  return ok;
}

struct tg_host_baseline *tg_fixture_recorded(void) {
  if (!tg_fixture_record()) {
    fail_msg("%s", tg_fixture.err.text);
  }
  struct tg_host_baseline *baseline = tg_host_baseline_load(TG_FIXTURE_FILE, &tg_fixture.err);
  assert_non_null(baseline);
  assert_int_not_equal(access(TG_FIXTURE_STAGED, F_OK), 0);
  return baseline;
}

void tg_fixture_refused(const char *expected) {
  const bool left_by_another = access(TG_FIXTURE_STAGED, F_OK) == 0;
  tg_fixture_write(TG_FIXTURE_FILE, tg_fixture_baseline);
  if (tg_fixture_record() || strstr(tg_fixture.err.text, expected) == NULL) {
    fail_msg("\"%s\" where \"%s\" was expected", tg_fixture.err.text, expected);
  }
  char *now = tg_fixture_read(TG_FIXTURE_FILE);
  assert_string_equal(now, tg_fixture_baseline);
  free(now);
  assert_int_equal(access(TG_FIXTURE_STAGED, F_OK) == 0, left_by_another);
}

void tg_fixture_logged(const char *expected) {
  if (strstr(tg_fixture.log, expected) == NULL) {
    fail_msg("\"%s\" is not in:\n%s", expected, tg_fixture.log);
  }
}

void tg_fixture_not_logged(const char *unexpected) {
  if (strstr(tg_fixture.log, unexpected) != NULL) {
    fail_msg("\"%s\" is in:\n%s", unexpected, tg_fixture.log);
  }
}
