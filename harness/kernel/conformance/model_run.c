#include "harness/kernel/conformance/model_run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define START_NS      (1000 * TG_SIM_NS_PER_MS)
#define GIVE_UP_NS    (2000 * TG_SIM_NS_PER_MS)
#define HALF_OF_SPACE 2u  // what of a buffer the kernel offers at first (TCP_DEFAULT_SCALING_RATIO)

struct run {
  struct tg_sim sim;
  struct tg_trace trace;
  struct tg_tcp_pair *pair;
  const struct tg_circumstances *circumstances;
};

static uint8_t zeros[65536];
static uint8_t sink[1 << 20];

static void pass(struct run *run, uint64_t ns) {
  tg_sim_pass_to(&run->sim, run->sim.now_ns + ns);
}

// Returns how long it took until `unread` bytes were there, or UINT64_MAX.
static uint64_t await(struct run *run, struct tg_tcp *end, uint64_t unread) {
  uint64_t start_ns = run->sim.now_ns;
  if (unread == 0) {
    unread = tg_tcp_written(tg_tcp_other(end)) - tg_tcp_consumed(end);
  }
  while (tg_tcp_unread(end) < unread) {
    uint64_t next_ns = tg_sim_next_ns(&run->sim);
    if (next_ns == TG_SIM_NEVER || next_ns > start_ns + GIVE_UP_NS) {
      return UINT64_MAX;
    }
    tg_sim_pass_to(&run->sim, next_ns);
  }
  return run->sim.now_ns - start_ns;
}

static void step(struct run *run, const struct tg_step *step_at) {
  struct tg_tcp *end = tg_tcp_end(run->pair, step_at->side);
  switch (step_at->verb) {
    case TG_VERB_WRITE:
    case TG_VERB_MORE: {
      ssize_t sent = tg_tcp_send(end, zeros, step_at->value, step_at->verb == TG_VERB_MORE);
      assert(sent == (ssize_t)step_at->value);  // schedules write less than a send buffer holds
      break;
    }
    case TG_VERB_READ:
      tg_tcp_recv(end, sink, step_at->value != 0 ? step_at->value : sizeof(sink), false);
      break;
    case TG_VERB_QUICKACK:
      tg_tcp_set_quickack(end, (int)step_at->value);
      break;
    case TG_VERB_NODELAY:
      tg_tcp_set_nodelay(end, step_at->value != 0);
      break;
    case TG_VERB_CORK:
      tg_tcp_set_cork(end, step_at->value != 0);
      break;
    case TG_VERB_SHUTDOWN:
      tg_tcp_shutdown_write(end);
      break;
    case TG_VERB_SLEEP:
      pass(run, step_at->value * TG_SIM_NS_PER_MS + run->circumstances->oversleep_ns);
      break;
    default:
      abort();
  }
}

static void options_of(const struct tg_schedule *schedule, uint32_t rules, uint64_t delay_ns,
                       struct tg_tcp_options *out) {
  tg_tcp_options_default(out);
  out->delay_ns = delay_ns;
  out->rules = rules;
  out->pingpong_threshold = schedule->threshold;
  if (schedule->mss != 0) {
    out->mss = schedule->mss;
  }
  for (int side = 0; side < 2; side++) {
    if (schedule->buffer[side] != 0) {
      out->window[side] = schedule->buffer[side] / HALF_OF_SPACE;
    }
  }
}

void tg_model_run(const struct tg_schedule *schedule, uint32_t rules, const struct tg_circumstances *circumstances,
                  FILE *trace, struct tg_outcome *out) {
  static struct run run;
  struct tg_tcp_options options;
  options_of(schedule, rules, circumstances->delay_ns, &options);
  tg_sim_init(&run.sim, START_NS + circumstances->phase_ns);
  tg_trace_init(&run.trace, &run.sim, trace);
  run.trace.silent = trace == NULL;
  run.circumstances = circumstances;
  run.pair =
      tg_tcp_pair_create(&run.sim, &run.trace, 0, &options, schedule->listen == 0 ? schedule->threshold : 0, false);
  if (run.pair == NULL) {
    fprintf(stderr, "conformance: no memory for a connection\n");
    abort();
  }
  memset(out, 0, sizeof(*out));
  size_t waits = 0;
  for (size_t i = 0; i < schedule->num_steps; i++) {
    const struct tg_step *step_at = &schedule->steps[i];
    pass(&run, circumstances->call_ns);
    if (step_at->verb != TG_VERB_AWAIT) {
      step(&run, step_at);
      continue;
    }
    uint64_t took_ns = await(&run, tg_tcp_end(run.pair, step_at->side), step_at->value);
    out->waits[waits++] = (char)(took_ns == UINT64_MAX ? TG_WAIT_ODD : tg_wait_of(took_ns));
    if (took_ns == UINT64_MAX) {
      break;
    }
  }
  out->delayed_acks = tg_tcp_stats_of(tg_tcp_end(run.pair, TG_TCP_SERVER))->acks_delayed +
                      tg_tcp_stats_of(tg_tcp_end(run.pair, TG_TCP_CLIENT))->acks_delayed;
  tg_tcp_pair_destroy(run.pair);
}

bool tg_model_predict(const struct tg_schedule *schedule, uint32_t rules, struct tg_outcome *out,
                      bool *out_counts_agree) {
  static const uint64_t phases_ns[] = {100000, 1100000, 2100000, 3100000, 3900000};
  static const struct tg_circumstances kinds[] = {
      {0, 60000, 20000, 2000},
      {0, 1000000, 50000, 5000},
      {0, 2500000, 100000, 10000},
  };
  bool agree = true;
  bool first = true;
  *out_counts_agree = true;
  for (size_t p = 0; p < sizeof(phases_ns) / sizeof(*phases_ns); p++) {
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
      struct tg_circumstances circumstances = kinds[k];
      circumstances.phase_ns = phases_ns[p];
      struct tg_outcome outcome;
      tg_model_run(schedule, rules, &circumstances, NULL, &outcome);
      if (first) {
        *out = outcome;
        first = false;
      }
      agree = agree && strcmp(out->waits, outcome.waits) == 0;
      *out_counts_agree = *out_counts_agree && out->delayed_acks == outcome.delayed_acks;
    }
  }
  return agree;
}
