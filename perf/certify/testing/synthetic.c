#include "perf/certify/testing/synthetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/launcher/files.h"
#include "fuzz/launcher/summary.h"
#include "fuzz/schedule/files.h"
#include "harness/faults/runner/record.h"
#include "perf/baseline/host_baseline.h"
#include "perf/certify/plan.h"
#include "perf/certify/runner.h"
#include "perf/certify/state.h"
#include "perf/certify/testing/timed_run.h"
#include "perf/exact/judge.h"
#include "perf/process/child.h"
#include "perf/process/runfiles.h"

static const struct tg_synthetic *current;  // what the runs below write

static void put(const struct tg_part_run *run, const char *name, json_t *value) {
  struct tg_error err;
  assert_non_null(value);
  if (!tg_state_write(run->folder, name, value, &err)) {
    fail_msg("%s", err.text);
  }
  json_decref(value);
}

static bool run_build(const struct tg_part_run *run, struct tg_error *err) {
  json_t *plan = tg_plan_new(
      "//perf/stats:stats_test\n//perf/stats:stats_test_asan\n//harness/kernel/conformance:conformance_test\n"
      "//fuzz:one\n//harness/faults:early\n//perf:gates_selftest\n//perf:gates_faults\n//perf:gates_full\n",
      "//perf:gates\n", err);
  put(run, TG_PLAN_FILE, plan);
  put(run, "build.json", json_pack("{s:i, s:i}", "schema", 1, "exit_status", 0));
  return true;
}

static bool run_listed(const struct tg_part_run *run, struct tg_error *err) {
  json_t *plan = tg_plan_load(run->plan, err);
  const json_t *asked = tg_plan_tests(plan, run->part->name);
  bool fails = current->options.failing_test && strcmp(run->part->name, "release") == 0;
  json_t *tests = json_array();
  size_t i;
  const json_t *label;
  json_array_foreach(asked, i, label) {
    (void)json_array_append_new(tests, json_pack("{s:s, s:s, s:b, s:i}", "label", json_string_value(label), "status",
                                                 fails ? "FAILED" : "PASSED", "cached", i % 2 == 0, "duration_ms", 12));
  }
  put(run, "tests.json",
      json_pack("{s:i, s:O, s:{s:s, s:i}, s:o}", "schema", 1, "asked", asked, "exit", "name",
                fails ? "TESTS_FAILED" : "SUCCESS", "code", fails ? 3 : 0, "tests", tests));
  json_decref(plan);
  return true;
}

static bool run_faults(const struct tg_part_run *run, struct tg_error *err) {
  static const char *const names[] = {"early", "late"};
  char records[PATH_MAX];
  (void)snprintf(records, sizeof(records), "%s/records", run->folder);
  assert_true(run_listed(run, err) && tg_files_make_folder(records, err));
  for (size_t i = 0; i < 2; i++) {
    char name[64];
    struct tg_fault_record record = {
        .caught = i == 0 || !current->options.fault_missed, .executions = 12, .seconds = 1};
    (void)snprintf(record.fault, sizeof(record.fault), "%s", names[i]);
    (void)snprintf(record.check, sizeof(record.check), "accept_schedule");
    (void)snprintf(record.said, sizeof(record.said), record.caught ? "P5" : "");
    (void)snprintf(record.how, sizeof(record.how), "corpus");
    (void)snprintf(name, sizeof(name), "records/%s.json", names[i]);
    put(run, name, tg_fault_record_encode(&record));
  }
  return true;
}

static bool run_fuzz(const struct tg_part_run *run, struct tg_error *err) {
  static const char *const targets[] = {"bytes", "schedule"};
  static const char *const engines[] = {"libfuzzer", "afl"};
  for (size_t i = 0; i < 4; i++) {
    char path[PATH_MAX];
    struct tg_fuzz_summary summary = {.asked_s = 15,
                                      .elapsed_s = 15.2,
                                      .executions = 40000 + 1000 * i,
                                      .edges = 2000,
                                      .new_entries = i,
                                      .has_finding = current->options.finding && i == 0};
    (void)snprintf(summary.target, sizeof(summary.target), "%s", targets[i / 2]);
    (void)snprintf(summary.engine, sizeof(summary.engine), "%s", engines[i % 2]);
    if (summary.has_finding) {
      (void)snprintf(summary.finding, sizeof(summary.finding), "crash-1");
      (void)snprintf(path, sizeof(path), "%s/findings/bytes-libfuzzer", run->folder);
      assert_true(tg_files_make_folder(path, err));
      (void)snprintf(path, sizeof(path), "%s/findings/bytes-libfuzzer/crash-1", run->folder);
      assert_true(tg_whole_file_write(path, (const uint8_t *)"x", 1, err));
    }
    (void)snprintf(path, sizeof(path), "%s/%s-%s.json", run->folder, summary.target, summary.engine);
    assert_true(tg_fuzz_summary_write(path, &summary, err));
  }
  return true;
}

static void fill_figures(struct tg_exact_figures *figures) {
  memset(figures, 0, sizeof(*figures));
  figures->keys = (struct tg_exact_keys){.boringssl = "r1", .compiler = "c1", .cpu = "aes"};
  (void)snprintf(figures->native_cpu, sizeof(figures->native_cpu), "aes sha");
  figures->num_scenarios = 1;
  (void)snprintf(figures->scenarios[0], sizeof(figures->scenarios[0]), "full");
  figures->values[0][TG_CALL_ACCEPT] = 2;
  for (int metric = TG_EXACT_REARMS; metric < (int)TG_EXACT_METRICS; metric++) {
    figures->values[0][metric] = 10000;
  }
}

// The file that accepts these figures; without the sections that have a key unless `all`.
static json_t *exact_baseline(bool all) {
  static struct tg_exact_figures figures;
  fill_figures(&figures);
  json_t *sections[TG_EXACT_SECTIONS];
  for (int section = 0; section < TG_EXACT_SECTIONS; section++) {
    sections[section] = json_object();
  }
  for (int metric = 0; metric < (int)TG_EXACT_METRICS; metric++) {
    if (tg_exact_is_used(metric) && figures.values[0][metric] != 0) {
      (void)json_object_set_new(sections[tg_exact_section_of(metric)], tg_exact_metric_name(metric),
                                json_integer(figures.values[0][metric]));
    }
  }
  json_t *value = json_pack(
      "{s:i, s:{s:O}, s:[{s:s, s:{s:O}}], s:[{s:s, s:s, s:i, s:f, s:{s:O}}], s:[{s:s, s:s, s:s, s:i, s:f, "
      "s:{s:O}}]}",
      "schema", 1, "calls", "full", sections[TG_EXACT_CALLS], "memory", "boringssl", "r1", "scenarios", "full",
      sections[TG_EXACT_MEMORY], "instructions", "boringssl", "r1", "compiler", "c1", "runs", 5, "allowance", 0.001,
      "scenarios", "full", sections[TG_EXACT_INSTRUCTIONS], "dispatched", "boringssl", "r1", "compiler", "c1", "cpu",
      "aes", "runs", 5, "allowance", 0.001, "scenarios", "full", sections[TG_EXACT_DISPATCHED]);
  for (int section = 0; section < TG_EXACT_SECTIONS; section++) {
    json_decref(sections[section]);
  }
  if (!all) {
    (void)json_object_set_new(value, "memory", json_array());
  }
  return value;
}

static bool run_exact(const struct tg_part_run *run, struct tg_error *err) {
  static struct tg_exact_figures figures;
  static struct tg_exact_baseline baseline;
  static struct tg_exact_result result;
  fill_figures(&figures);
  json_t *file = exact_baseline(current->options.with_baseline);
  if (!tg_exact_baseline_read("baselines/exact.json", file, &figures, TG_EXACT_JUDGE, &baseline, err)) {
    fail_msg("%s", err->text);
  }
  tg_exact_judge(&figures, &baseline, &result);
  put(run, "exact.json", tg_exact_result_json(&result));
  json_decref(file);
  return true;
}

static bool run_gates(const struct tg_part_run *run, struct tg_error *err) {
  const struct tg_timed_run timed = {.commit = run->source->commit,
                                     .worse = current->options.worse > 0 ? current->options.worse
                                              : current->options.slower  ? 1.25
                                                                         : 1,
                                     .baselines = current->repository.tree};
  (void)err;
  tg_timed_run_write(&timed, run->folder);
  return true;
}

static void add_file(const struct tg_synthetic *out, const char *path, json_t *value) {
  char *text = json_dumps(value, JSON_INDENT(2));
  assert_non_null(text);
  tg_test_repository_add(&out->repository, path, text);
  free(text);
  json_decref(value);
}

static void add_manifest(const struct tg_synthetic *out) {
  char path[PATH_MAX];
  struct tg_error err;
  struct tg_whole_file file = {.len = 0};
  if (!tg_runfile("baselines/gates.json", path, &err) || !tg_whole_file_read(path, &file, &err)) {
    fail_msg("%s", err.text);
    return;
  }
  file.bytes[file.len] = '\0';
  tg_test_repository_add(&out->repository, "baselines/gates.json", (const char *)file.bytes);
  tg_whole_file_free(&file);
}

static void add_commit(struct tg_synthetic *out) {
  add_manifest(out);
  add_file(out, "baselines/exact.json", exact_baseline(out->options.with_baseline));
  if (out->options.with_baseline) {
    add_file(out, "baselines/hosts/quiet-1.json", tg_timed_run_baseline());
  }
  static const char *const files[] = {"corpora/bytes/a",
                                      "corpora/schedule/a",
                                      "corpora/bare_bytes/a",
                                      "harness/faults/patches/early.patch",
                                      "harness/faults/patches/late.patch",
                                      "harness/faults/patches/README.md"};
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
    tg_test_repository_add(&out->repository, files[i], "x");
  }
  tg_test_repository_commit(&out->repository);
}

static tg_part_runner *runner_of(const char *name) {
  static const struct {
    const char *name;
    tg_part_runner *run;
  } runners[] = {{"build", run_build}, {"faults", run_faults}, {"fuzz", run_fuzz},
                 {"exact", run_exact}, {"gates", run_gates},   {"baseline", NULL}};
  for (size_t i = 0; i < sizeof(runners) / sizeof(runners[0]); i++) {
    if (strcmp(runners[i].name, name) == 0) {
      return runners[i].run;
    }
  }
  return run_listed;
}

void tg_synthetic_make(struct tg_synthetic *out, const struct tg_synthetic_options *options) {
  struct tg_error err;
  *out = (struct tg_synthetic){.options = *options, .num_parts = tg_num_parts};
  tg_test_repository_make(&out->repository);
  add_commit(out);
  if (!tg_source_open(&out->source, out->repository.tree, &err)) {
    fail_msg("%s", err.text);
  }
  for (size_t i = 0; i < tg_num_parts; i++) {
    out->parts[i] = tg_parts[i];
    out->parts[i].run = runner_of(tg_parts[i].name);
    out->parts[i].binaries = NULL;
  }
  (void)snprintf(out->out, sizeof(out->out), "%s/out", out->repository.folder);
}

json_t *tg_synthetic_certify(const struct tg_synthetic *synthetic) {
  json_t *provenance = json_pack("{s:s, s:s, s:i}", "host", "quiet", "cpu_model", "A <CPU> & \"more\"", "cpus", 2);
  struct tg_progress progress = {.out = tmpfile(), .total = synthetic->num_parts, .started_s = tg_now_s()};
  const struct tg_certify certify = {.parts = synthetic->parts,
                                     .num_parts = synthetic->num_parts,
                                     .source = &synthetic->source,
                                     .out = synthetic->out,
                                     .minutes = 1,
                                     .label = "quiet-1",
                                     .provenance = provenance,
                                     .progress = &progress};
  json_t *value;
  struct tg_error err;
  current = synthetic;
  if (tg_certify_run(&certify, &value, &err) != TG_CERTIFIED) {
    fail_msg("%s", err.text);
  }
  (void)fclose(progress.out);
  json_decref(provenance);
  return value;
}

void tg_synthetic_remove(const struct tg_synthetic *synthetic) {
  tg_test_repository_remove(&synthetic->repository);
}
