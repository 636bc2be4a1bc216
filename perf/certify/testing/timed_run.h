// report.json and samples.json of a timed run that nobody has measured: every gate is well inside its bound.
#ifndef TLSGATE_PERF_CERTIFY_TESTING_TIMED_RUN_H
#define TLSGATE_PERF_CERTIFY_TESTING_TIMED_RUN_H

#include <jansson.h>

struct tg_timed_run {
  const char *commit;
  double worse;           // every value is this many times worse; 1: as usual. A hundred times is outside of bounds
  const char *baselines;  // source tree with baselines/gates.json, and a baseline of this host or none
};

// tg_timed_run_write writes the files that a full run leaves into `folder`, row.json aside. A failure fails the test.
void tg_timed_run_write(const struct tg_timed_run *timed, const char *folder);

// tg_timed_run_baseline returns a new baseline of the host "quiet-1" with the usual values.
json_t *tg_timed_run_baseline(void);

#endif
