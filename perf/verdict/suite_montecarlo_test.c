// What docs/gates.md claims of a whole run: synthetic suites of all gates of the shipped manifest, judged after every
// round by the code that judges runs. Usage: suite_montecarlo_test baselines/gates.json
#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "perf/manifest/manifest.h"
#include "perf/stats/noise.h"
#include "perf/verdict/samples.h"
#include "perf/verdict/verdict.h"

enum {
  ROUNDS = 24,       // what the default budget allows at most
  FIRST_LOOK = 5,    // nothing is decided before
  CONNECTIONS = 100  // of a round, for a gate on a fraction
};

// A healthy host stalls a connection in a thousand for reasons of its own.
static const double kHealthyFraction = 0.001;

static struct tg_manifest *manifest;

struct counts {
  size_t suites, pass, fail, undecided, rounds;
  size_t broken[TG_GATES_MAX];         // suites in which the gate was the broken one
  size_t broken_failed[TG_GATES_MAX];  // and failed
};

static double distance(double truth, struct tg_noise *noise, struct tg_random *random) {
  double d = truth + 0.3 * tg_noise_next(noise, random);
  // An outlier of x 3 counts against the truth: a healthy gate looks worse, a broken one better.
  if (tg_random_uniform(random) < 0.01) d += truth <= 0 ? log(3) : -log(3);
  return d;
}

static double last_value(const struct tg_samples *samples, const char *metric) {
  const struct tg_series *series = tg_samples_find(samples, metric);
  assert(series != NULL);
  return series->samples[series->num - 1].value;
}

static void add_fraction(struct tg_samples *samples, const struct tg_gate *gate, size_t round, bool broken,
                         struct tg_random *random) {
  const double p = broken ? 2 * gate->bound : kHealthyFraction;
  uint64_t hits = 0;
  for (int i = 0; i < CONNECTIONS; i++) hits += tg_random_uniform(random) < p;
  assert_true(tg_samples_add_count(samples, gate->name, round, hits, CONNECTIONS, NULL));
}

static void add_gate(struct tg_samples *samples, const struct tg_gate *gate, size_t round, bool broken,
                     struct tg_noise *noise, struct tg_random *random) {
  if (gate->judged_by == TG_JUDGED_FRACTION) {
    add_fraction(samples, gate, round, broken, random);
    return;
  }
  const double d = distance(broken ? log(2) : -log(1.5), noise, random);
  const double bound = gate->relative_to != NULL ? gate->factor * last_value(samples, gate->relative_to) : gate->bound;
  assert_true(
      tg_samples_add(samples, gate->name, round, bound * exp(gate->direction == TG_AT_MOST ? d : -d), false, NULL));
}

static bool has_samples(const struct tg_gate *gate) {
  return tg_gate_is_gated(gate) && gate->judged_by != TG_JUDGED_FIRM;
}

static bool is_control(const struct tg_gate *gate) {
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const char *relative_to = manifest->gates[i].relative_to;
    if (relative_to != NULL && strcmp(relative_to, gate->name) == 0) return true;
  }
  return false;
}

// Adds what a run would measure: of a gate that is decided nothing more, unless others are held against it.
static void add_round(struct tg_samples *samples, size_t round, const struct tg_gate *broken,
                      const struct tg_verdict *so_far, struct tg_noise *noise, struct tg_random *random) {
  // Controls come first: the others' bounds refer to them.
  for (int relative = 0; relative <= 1; relative++) {
    for (size_t i = 0; i < manifest->num_gates; i++) {
      const struct tg_gate *gate = &manifest->gates[i];
      if ((gate->relative_to != NULL) != relative) continue;
      if (has_samples(gate) && so_far != NULL && !so_far->gates[i].open && !is_control(gate)) continue;
      if (has_samples(gate)) {
        add_gate(samples, gate, round, gate == broken, &noise[i], random);
      } else if (is_control(gate)) {
        assert_true(tg_samples_add(samples, gate->name, round, 1, false, NULL));
      }
    }
  }
}

static void run_suite(const struct tg_gate *broken, struct tg_random *random, struct counts *counts) {
  struct tg_samples *samples = tg_samples_create();
  struct tg_noise noise[TG_GATES_MAX];
  for (size_t i = 0; i < TG_GATES_MAX; i++) noise[i] = (struct tg_noise){.correlation = 0.5};
  struct tg_verdict *verdict = NULL;
  size_t round = 0;
  while (round < ROUNDS && (verdict == NULL || !tg_verdict_settled(verdict))) {
    add_round(samples, round++, broken, verdict, noise, random);
    if (round < FIRST_LOOK) continue;
    tg_verdict_free(verdict);
    verdict = tg_verdict_judge(manifest, samples, &(struct tg_host_view){NULL});
  }
  counts->suites++;
  counts->rounds += round;
  counts->pass += verdict->status == TG_STATUS_PASS;
  counts->fail += verdict->status == TG_STATUS_FAIL;
  counts->undecided += verdict->status == TG_STATUS_UNDECIDED;
  if (broken != NULL) {
    const size_t index = (size_t)(broken - manifest->gates);
    counts->broken[index]++;
    counts->broken_failed[index] += verdict->gates[index].status == TG_STATUS_FAIL;
  }
  tg_verdict_free(verdict);
  tg_samples_free(samples);
}

static void report(const char *what, const struct counts *counts) {
  const double n = (double)counts->suites;
  printf("%-36s %zu suites of %zu metrics: %7.3f %% pass, %7.3f %% fail, %7.3f %% undecided; %.1f rounds\n", what,
         counts->suites, manifest->num_gates, 100 * (double)counts->pass / n, 100 * (double)counts->fail / n,
         100 * (double)counts->undecided / n, (double)counts->rounds / n);
}

static void healthy_suites_pass(void **state) {
  (void)state;
  struct tg_random random = {.state = TG_NOISE_SEED};
  struct counts counts = {0};
  while (counts.suites < TG_NOISE_SUITES) run_suite(NULL, &random, &counts);
  report("every gate 1.5 x inside", &counts);
  assert_true((double)counts.fail <= 0.001 * (double)counts.suites);
  assert_true((double)counts.undecided <= 0.05 * (double)counts.suites);
}

static void a_gate_at_half_its_bound_fails_whichever_it_is(void **state) {
  (void)state;
  struct tg_random random = {.state = TG_NOISE_SEED};
  struct counts counts = {0};
  while (counts.suites < TG_NOISE_SUITES) {
    for (size_t i = 0; i < manifest->num_gates && counts.suites < TG_NOISE_SUITES; i++) {
      if (has_samples(&manifest->gates[i])) run_suite(&manifest->gates[i], &random, &counts);
    }
  }
  report("one gate 2 x outside, each in turn", &counts);
  assert_true((double)counts.fail >= 0.95 * (double)counts.suites);
  assert_true((double)counts.undecided <= 0.05 * (double)counts.suites);
  for (size_t i = 0; i < manifest->num_gates; i++) {
    if (counts.broken[i] == 0) continue;
    const double rate = (double)counts.broken_failed[i] / (double)counts.broken[i];
    printf("  %-32s fails in %5.1f %% of %zu\n", manifest->gates[i].name, 100 * rate, counts.broken[i]);
    // One more may be chance: a sanitizer's build counts over a handful.
    assert_true((double)(counts.broken[i] - counts.broken_failed[i]) <= 1 + 0.05 * (double)counts.broken[i]);
  }
}

static void the_suite_is_as_large_as_the_claims(void **state) {
  (void)state;
  size_t gated = 0;
  for (size_t i = 0; i < manifest->num_gates; i++) gated += tg_gate_is_gated(&manifest->gates[i]);
  assert_true(gated >= 16);
}

int main(int argc, char **argv) {
  struct tg_error err;
  manifest = argc == 2 ? tg_manifest_load(argv[1], &err) : NULL;
  if (manifest == NULL) {
    fprintf(stderr, "%s\n", argc == 2 ? err.text : "usage: suite_montecarlo_test MANIFEST");
    return 2;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_suite_is_as_large_as_the_claims),
      cmocka_unit_test(healthy_suites_pass),
      cmocka_unit_test(a_gate_at_half_its_bound_fails_whichever_it_is),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tg_manifest_free(manifest);
  return failed;
}
