#include "fuzz/service/scheduler.h"

#include <math.h>
#include <stdio.h>

// What a slice costs at least: one that ran nothing used no CPU time to speak of.
#define COST_MIN_S 0.1

static bool takes_part(const struct tg_fuzzd_state *state, const struct tg_fuzzd_choice *choice, size_t target,
                       int engine) {
  return target < state->num_targets && choice->targets[target] && choice->engines[engine];
}

static double yield_of(const struct tg_fuzzd_arm *arm) {
  return arm->recent_cpu_s > 0 ? arm->recent_edges / arm->recent_cpu_s : 0;
}

double tg_fuzzd_share(const struct tg_fuzzd_state *state, const struct tg_fuzzd_choice *choice, size_t target,
                      enum tg_fuzzd_engine engine) {
  size_t arms = 0;
  double all = 0;
  for (size_t i = 0; i < state->num_targets; i++) {
    for (int e = 0; e < TG_FUZZD_ENGINES; e++) {
      if (takes_part(state, choice, i, e)) {
        arms++;
        all += yield_of(&state->targets[i].arms[e]);
      }
    }
  }
  if (!takes_part(state, choice, target, (int)engine)) {
    return 0;
  }
  double alike = 1.0 / (double)arms;
  double by_yield = all > 0 ? yield_of(&state->targets[target].arms[engine]) / all : alike;
  return TG_FUZZD_FLOOR * alike + (1 - TG_FUZZD_FLOOR) * by_yield;
}

bool tg_fuzzd_pick(const struct tg_fuzzd_state *state, const struct tg_fuzzd_choice *choice, double now_s,
                   size_t *target, enum tg_fuzzd_engine *engine) {
  double best = 0;
  bool found = false;
  for (size_t i = 0; i < state->num_targets; i++) {
    for (int e = 0; e < TG_FUZZD_ENGINES; e++) {
      const struct tg_fuzzd_arm *arm = &state->targets[i].arms[e];
      if (!takes_part(state, choice, i, e) || choice->busy[i] || now_s < arm->rest_until_s) {
        continue;
      }
      double owed = arm->begun == 0 ? INFINITY : arm->credit_s;
      if (!found || owed > best) {
        best = owed;
        found = true;
        *target = i;
        *engine = (enum tg_fuzzd_engine)e;
      }
    }
  }
  return found;
}

void tg_fuzzd_charge(struct tg_fuzzd_state *state, size_t target, enum tg_fuzzd_engine engine, double seconds) {
  state->targets[target].arms[engine].begun++;
  state->targets[target].arms[engine].credit_s -= seconds;
}

void tg_fuzzd_account(struct tg_fuzzd_state *state, const struct tg_fuzzd_choice *choice, size_t target,
                      enum tg_fuzzd_engine engine, double charged_s, const struct tg_fuzzd_slice_result *result,
                      double now_s) {
  struct tg_fuzzd_arm *arm = &state->targets[target].arms[engine];
  double cost_s = result->cpu_s > COST_MIN_S ? result->cpu_s : COST_MIN_S;
  for (size_t i = 0; i < state->num_targets; i++) {
    for (int e = 0; e < TG_FUZZD_ENGINES; e++) {
      state->targets[i].arms[e].credit_s += cost_s * tg_fuzzd_share(state, choice, i, (enum tg_fuzzd_engine)e);
    }
  }
  arm->credit_s += charged_s - cost_s;
  if (engine == TG_FUZZD_LIBFUZZER && arm->edges == 0 && result->edges_before > 0) {
    // What the seeds cover: the history begins with it.
    arm->edges = result->edges_before;
    tg_fuzzd_state_mark(&state->targets[target]);
  }
  arm->slices++;
  arm->cpu_s += result->cpu_s;
  arm->executions += result->executions;
  arm->new_edges += result->new_edges;
  arm->findings += result->finding ? 1 : 0;
  arm->edges = result->edges > arm->edges ? result->edges : arm->edges;
  arm->recent_cpu_s = arm->recent_cpu_s * TG_FUZZD_DECAY + cost_s;
  arm->recent_edges = arm->recent_edges * TG_FUZZD_DECAY + (double)result->new_edges;
  arm->idle_cpu_s += result->cpu_s;
  for (int e = 0; result->new_edges > 0 && e < TG_FUZZD_ENGINES; e++) {
    state->targets[target].arms[e].idle_cpu_s = 0;
  }
  arm->early = result->finding && result->early ? arm->early + 1 : 0;
  arm->failures = result->ran ? 0 : arm->failures + 1;
  arm->rest_until_s = 0;
  if (arm->failures > 0) {
    double rest_s = TG_FUZZD_REST_S;
    for (uint64_t i = 1; i < arm->failures && rest_s < TG_FUZZD_REST_MAX_S; i++) {
      rest_s *= 2;
    }
    arm->rest_until_s = now_s + (rest_s < TG_FUZZD_REST_MAX_S ? rest_s : TG_FUZZD_REST_MAX_S);
  }
  (void)snprintf(arm->last_error, sizeof(arm->last_error), "%s", result->ran ? "" : result->error);
  tg_fuzzd_state_mark(&state->targets[target]);
}
