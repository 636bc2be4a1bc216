#include "perf/compare/compare.h"

#include <math.h>
#include <string.h>

#include "perf/host/provenance.h"
#include "perf/process/child.h"
#include "perf/verdict/table.h"

static bool measure_set(const struct tg_compare_config *config, struct tg_compare_result *out, size_t index,
                        const bool workloads[TG_COMPARE_WORKLOADS], double deadline, struct tg_error *err) {
  static const char *const names[TG_COMPARE_SETS] = {"first set", "second set, to confirm"};
  char what[160];
  struct tg_compare_plan plan = {
      .servers = {config->servers[TG_BASE], config->servers[TG_CANDIDATE]},
      .rtt_client = config->rtt_client,
      .rounds = config->rounds,
      .deadline = deadline,
  };
  memcpy(plan.workloads, workloads, sizeof(plan.workloads));
  if (config->what != NULL) {
    (void)snprintf(what, sizeof(what), "%.100s, %s", config->what, names[index]);
    plan.what = what;
  }
  return tg_compare_measure(&plan, &out->sets[index], err);
}

static bool measure_and_judge(const struct tg_compare_config *config, struct tg_compare_result *out,
                              struct tg_error *err) {
  bool workloads[TG_COMPARE_WORKLOADS];
  double deadline = tg_now_s() + config->budget_s;
  for (int i = 0; i < TG_COMPARE_WORKLOADS; i++) {
    workloads[i] = true;
  }
  if (!measure_set(config, out, 0, workloads, deadline, err) ||
      !tg_compare_judge(&out->verdict, &out->sets[0], NULL, config->allow, err)) {
    return false;
  }
  // Without time for a round nothing is confirmed, and the suspicion stays one.
  if (out->verdict.suspected == 0 || tg_now_s() >= deadline) {
    return true;
  }
  tg_compare_needs(&out->verdict, workloads);
  out->has_second = true;
  return measure_set(config, out, 1, workloads, deadline, err) &&
         tg_compare_judge(&out->verdict, &out->sets[0], &out->sets[1], config->allow, err);
}

bool tg_compare_run(const struct tg_compare_config *config, struct tg_compare_result *out, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  struct tg_cpu_times before = {.total = 0};
  struct tg_cpu_times after = {.total = 0};
  double begin = tg_now_s();
  for (int i = 0; i < TG_COMPARE_SETS; i++) {
    tg_compare_set_init(&out->sets[i]);
  }
  bool counted = tg_cpu_times_read(&before);
  bool ok = measure_and_judge(config, out, err);
  counted = tg_cpu_times_read(&after) && counted;
  out->stolen = counted ? tg_stolen_fraction(&before, &after) : NAN;
  out->measured_s = tg_now_s() - begin;
  if (!ok) {
    tg_compare_result_free(out);
  }
  return ok;
}

void tg_compare_result_free(struct tg_compare_result *result) {
  for (int i = 0; i < TG_COMPARE_SETS; i++) {
    tg_compare_set_free(&result->sets[i]);
  }
}

static void print_row(FILE *out, const struct tg_compare_row *row) {
  char numbers[TG_COMPARE_SIDES][32];
  char interval[32] = "-";
  const struct tg_compare_estimate *first = &row->sets[0];
  // Told as candidate over base, whichever way is better.
  const bool less = row->metric->direction == TG_AT_MOST;
  const double low = less ? first->worse.low : 1 / first->worse.high;
  const double high = less ? first->worse.high : 1 / first->worse.low;
  if (first->has_interval) {
    (void)snprintf(interval, sizeof(interval), "%.3f to %.3f", low, high);
  }
  fprintf(out, "%-13s %-26s %10s %10s %-7s %9.3f  %-16s %6zu\n", tg_status_name(row->status), row->metric->name,
          tg_table_number(numbers[TG_BASE], first->median[TG_BASE]),
          tg_table_number(numbers[TG_CANDIDATE], first->median[TG_CANDIDATE]), row->metric->unit,
          less ? first->worse.centre : 1 / first->worse.centre, interval, first->rounds);
  if (row->message[0] != '\0') {
    fprintf(out, "%-13s %s\n", "", row->message);
  }
}

void tg_compare_print(FILE *out, const struct tg_ab_judgement *comparison) {
  fprintf(out, "%-13s %-26s %10s %10s %-7s %9s  %-16s %6s\n", "verdict", "metric", "base", "candidate", "unit", "ratio",
          "95 % interval", "rounds");
  for (size_t i = 0; i < TG_COMPARE_METRICS; i++) {
    print_row(out, &comparison->rows[i]);
  }
  fprintf(out, "\n%s: candidate against base, where %.3g %% worse is allowed\n", tg_status_name(comparison->status),
          100 * comparison->allow);
}
