#include "perf/exact/measure.h"

#include <string.h>

#include "fuzz/world/world.h"
#include "harness/accept/accept.h"
#include "harness/kernel/kernel.h"

struct meter {
  const struct tg_scenario *scenario;
  struct tg_exact_counts at_first;
  uint64_t held_at_first;
  struct tg_exact_counts at_last;
};

// Not inlined, nor merged with each other, nor thought to be without effect.
__attribute__((noinline)) void tg_exact_measured_begins(void) {
  __asm__ volatile("nop" ::: "memory");
}

__attribute__((noinline)) void tg_exact_measured_ends(void) {
  __asm__ volatile("nop; nop" ::: "memory");
}

static void read_books(const struct tg_kernel *kernel, struct tg_exact_counts *out) {
  for (int call = 0; call < TG_CALL_COUNT; call++) {
    out->calls[call] = tg_kernel_calls(kernel, (enum tg_call)call);
  }
  out->rearms = tg_kernel_quickacks(kernel);
  out->wakeups = tg_kernel_wakeups(kernel);
  out->allocations = tg_kernel_allocations_made(kernel);
  out->bytes = tg_kernel_bytes_made(kernel);
  out->peak_bytes = tg_kernel_peak_bytes(kernel);
}

static void at_step(void *context, struct tg_kernel *kernel, size_t step) {
  struct meter *meter = context;
  if (step == meter->scenario->first_measured) {
    tg_kernel_mark_peak(kernel);
    meter->held_at_first = tg_kernel_allocated_bytes(kernel);
    read_books(kernel, &meter->at_first);
    tg_exact_measured_begins();
  }
  if (step == meter->scenario->schedule.num_steps) {
    tg_exact_measured_ends();
    read_books(kernel, &meter->at_last);
  }
}

static void subtract(const struct meter *meter, struct tg_exact_counts *out) {
  const struct tg_exact_counts *first = &meter->at_first;
  *out = meter->at_last;
  for (int call = 0; call < TG_CALL_COUNT; call++) {
    out->calls[call] -= first->calls[call];
  }
  out->rearms -= first->rearms;
  out->wakeups -= first->wakeups;
  out->allocations -= first->allocations;
  out->bytes -= first->bytes;
  out->peak_bytes -= meter->held_at_first;
  out->calls[TG_CALL_EPOLL_WAIT] -= out->wakeups;
  out->calls[TG_CALL_MALLOC] = 0;
}

bool tg_measure(const struct tg_scenario *scenario, struct tg_exact_counts *out, struct tg_error *err) {
  struct meter meter = {.scenario = scenario};
  const struct tg_world_meter told = {.context = &meter, .at_step = at_step};
  const struct tg_world_options options = {
      .quickack = TG_QUICKACK_REARM, .expect_stalls = true, .meter = &told, .post_unit = TG_SCENARIO_POST_UNIT};
  struct tg_world_outcome outcome;
  tg_world_run(&scenario->schedule, &options, &outcome);
  uint64_t responses = 0;
  for (size_t i = 0; i < TG_WORLD_PEERS; i++) {
    responses += outcome.clients[i].responses;
  }
  subtract(&meter, out);
  out->stalls = outcome.stalls;
  return tg_scenario_check(scenario, &outcome.counters, responses, err);
}
