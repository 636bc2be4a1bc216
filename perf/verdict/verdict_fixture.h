// What the tests of verdicts share: a small manifest with a gate of every kind, and samples for it.
#ifndef TLSGATE_PERF_VERDICT_VERDICT_FIXTURE_H
#define TLSGATE_PERF_VERDICT_VERDICT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf/manifest/manifest.h"
#include "perf/verdict/samples.h"
#include "perf/verdict/verdict.h"

struct tg_fixture {
  struct tg_manifest *manifest;
  struct tg_samples *samples;
  struct tg_verdict *verdict;  // the last one
};

// tg_fixture_set_up and tg_fixture_tear_down are cmocka's: `state` is a struct tg_fixture.
int tg_fixture_set_up(void **state);
int tg_fixture_tear_down(void **state);

// tg_fixture_add adds `rounds` samples around `value`.
void tg_fixture_add(struct tg_fixture *f, const char *metric, size_t rounds, double value, bool client_bound);

// tg_fixture_add_counts adds eight rounds of `hits` in 100 of the gate "stalled".
void tg_fixture_add_counts(struct tg_fixture *f, uint64_t hits);

// tg_fixture_add_calls adds three rounds of 12, 12 and `worst` of the exact gate "calls".
void tg_fixture_add_calls(struct tg_fixture *f, double worst);

// tg_fixture_add_healthy adds eight rounds in which all is well, but for the metrics named in `except`.
void tg_fixture_add_healthy(struct tg_fixture *f, const char *except);

// tg_fixture_judge judges what there is, and returns the verdict on one gate.
const struct tg_gate_verdict *tg_fixture_judge(struct tg_fixture *f, const char *gate);

// tg_fixture_judge_host is the same on a host that hides the stall by a setting.
const struct tg_gate_verdict *tg_fixture_judge_host(struct tg_fixture *f, const char *hidden_by, const char *gate);

#define assert_says(v, text)                                                                     \
  do {                                                                                           \
    if (strstr((v)->message, text) == NULL) fail_msg("\"%s\" lacks \"%s\"", (v)->message, text); \
  } while (0)

#define VERDICT_TEST(name) cmocka_unit_test_setup_teardown(name, tg_fixture_set_up, tg_fixture_tear_down)

#endif
