// measure [--once] FOLDER: runs the scenarios of FOLDER and prints what they cost, as JSON on standard output.
//
//   {"schema": 1, "compiler": "...", "boringssl": "...", "cpu": "aes avx2",
//    "scenarios": {"full_tls13": {"calls": {"accept4": 2}, "rearms": 3, "wakeups": 4, "stalls": 0,
//                                 "allocations": 5, "bytes": 6, "peak_bytes": 7}}}
//
// Each scenario is run twice, and must cost the same; with --once, under callgrind, once. Exit status: 0; 1 a scenario
// failed, which is said on standard error; 2 usage. A broken property aborts.
#include <boringssl_revision.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/world/world.h"
#include "perf/exact/cpu.h"
#include "perf/exact/measure.h"

static json_t *calls_json(const struct tg_exact_counts *counts) {
  json_t *calls = json_object();
  for (int call = 0; call < TG_CALL_COUNT; call++) {
    if (counts->calls[call] > 0) {
      (void)json_object_set_new(calls, tg_call_name((enum tg_call)call), json_integer((json_int_t)counts->calls[call]));
    }
  }
  return calls;
}

static json_t *counts_json(const struct tg_exact_counts *counts) {
  return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "calls", calls_json(counts), "rearms",
                   (json_int_t)counts->rearms, "wakeups", (json_int_t)counts->wakeups, "stalls",
                   (json_int_t)counts->stalls, "allocations", (json_int_t)counts->allocations, "bytes",
                   (json_int_t)counts->bytes, "peak_bytes", (json_int_t)counts->peak_bytes);
}

static bool measure_one(const struct tg_scenario *scenario, bool once, json_t *into, struct tg_error *err) {
  struct tg_exact_counts counts;
  struct tg_exact_counts again;
  memset(&counts, 0, sizeof(counts));
  if (!tg_measure(scenario, &counts, err) || (!once && !tg_measure(scenario, &again, err))) {
    return false;
  }
  if (!once && memcmp(&counts, &again, sizeof(counts)) != 0) {
    tg_error_set(err, "scenario %s: run twice, it costs something else the second time: it depends on what came before",
                 scenario->name);
    return false;
  }
  return json_object_set_new(into, scenario->name, counts_json(&counts)) == 0;
}

static int measure_all(const char *folder, bool once) {
  static struct tg_scenario scenarios[TG_SCENARIOS_MAX];
  size_t num = 0;
  struct tg_error err = {.text = "no memory"};
  if (!tg_scenarios_read(folder, scenarios, &num, &err)) {
    fprintf(stderr, "measure: %s\n", err.text);
    return 1;
  }
  tg_world_init();
  json_t *all = json_object();
  for (size_t i = 0; i < num; i++) {
    fprintf(stderr, "scenario %s\n", scenarios[i].name);
    if (!measure_one(&scenarios[i], once, all, &err)) {
      fprintf(stderr, "measure: %s\n", err.text);
      json_decref(all);
      return 1;
    }
  }
  char cpu[TG_CPU_TEXT_MAX];
  tg_cpu_text(cpu);
  json_t *root = json_pack("{s:i, s:s, s:s, s:s, s:o}", "schema", 1, "compiler", __VERSION__, "boringssl",
                           TG_BORINGSSL_REVISION, "cpu", cpu, "scenarios", all);
  const bool ok = root != NULL && json_dumpf(root, stdout, JSON_INDENT(2)) == 0 && fputc('\n', stdout) != EOF &&
                  fflush(stdout) == 0;
  json_decref(root);
  if (!ok) {
    fprintf(stderr, "measure: cannot write the counts\n");
  }
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  const bool once = argc == 3 && strcmp(argv[1], "--once") == 0;
  if (!once && argc != 2) {
    fprintf(stderr, "usage: measure [--once] FOLDER\n");
    return 2;
  }
  return measure_all(argv[argc - 1], once);
}
