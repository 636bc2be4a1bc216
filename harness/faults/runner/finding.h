// What the output of a check says is wrong.
#ifndef TLSGATE_HARNESS_FAULTS_RUNNER_FINDING_H
#define TLSGATE_HARNESS_FAULTS_RUNNER_FINDING_H

#include <stdbool.h>

struct tg_finding {
  char name[96];   // "P5", "assertion", "timeout", "signal" or the name of a test
  char line[240];  // where the output says so
};

// tg_finding_first finds what `output` says first: a broken property (fuzz/world/finding.h), a sanitizer's report,
// which is property P1, an assertion of the code under test, libFuzzer's own time-out, a failed test of cmocka's, or a
// deadly signal. Returns false if it says none of these.
bool tg_finding_first(const char *output, struct tg_finding *out);

// tg_finding_count returns how often `output` has a line that begins with `prefix`.
unsigned tg_finding_count(const char *output, const char *prefix);

// tg_finding_last_line copies what follows `prefix` in the last line that begins with it. Returns false if there is
// none.
bool tg_finding_last_line(const char *output, const char *prefix, char *out, unsigned long size);

#endif
