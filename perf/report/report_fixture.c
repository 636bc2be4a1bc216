#include "perf/report/report_fixture.h"

#include <string.h>

static const char sha256[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

static void fill(struct tg_report_fixture *fixture) {
  memset(fixture, 0, sizeof(*fixture));
  fixture->owned = json_pack("{s:[], s:{}, s:[f, f, f], s:{s:{}, s:{}}, s:{s:[f, f, f]}}", "dirty_files", "settings",
                             "values_us", 100.0, 101.0, 102.0, "commands", "servers", "workloads", "background",
                             "load_average_start", 0.5, 0.4, 0.3);
  struct tg_report *report = &fixture->report;
  *report = (struct tg_report){
      .id = "0123456789abcdef0123456789abcdef",
      .start = "2026-01-31T10:00:00Z",
      .finish = "2026-01-31T10:01:20Z",
      .quickack = "rearm",
      .environment = {.commit = "89abcdef0123456789abcdef0123456789abcdef",
                      .host = "quiet",
                      .label = "quiet-1",
                      .architecture = "x86_64",
                      .cpu_model = "A CPU @ 3.0 GHz",
                      .os = "Debian",
                      .kernel = "6.1.0",
                      .compiler = "clang 14",
                      .flags = "-O2",
                      .boringssl = "abc",
                      .server_sha256 = sha256,
                      .cpus = 2,
                      .dirty_files = json_object_get(fixture->owned, "dirty_files"),
                      .stall_settings = json_object_get(fixture->owned, "settings")},
      .earlier = fixture->earlier,
      .num_earlier = 2,
      .num_earlier_total = 2,
  };
  fixture->earlier[0] = (struct tg_earlier_run){.id = "1123456789abcdef0123456789abcdef",
                                                .start = "2026-01-31T08:00:00Z",
                                                .finished = true,
                                                .verdict = TG_OUTCOME_FAIL,
                                                .exit_status = TG_EXIT_FAIL};
  fixture->earlier[1] =
      (struct tg_earlier_run){.id = "2123456789abcdef0123456789abcdef", .start = "2026-01-31T09:00:00Z", .dirty = true};
}

static struct tg_report_row row(const char *name, enum tg_gate_kind kind, double value, double bound) {
  return (struct tg_report_row){.name = name,
                                .unit = "ms",
                                .kind = kind,
                                .has_value = true,
                                .value = value,
                                .has_spread = true,
                                .spread = 0.02,
                                .has_bound = true,
                                .bound = bound,
                                .has_distance = true,
                                .distance = value / bound,
                                .rounds = 5,
                                .message = "",
                                .trust = {.known = true, .spread = 0.02, .instability = 0.01}};
}

void tg_report_fixture_complete(struct tg_report_fixture *fixture) {
  fill(fixture);
  fixture->rows[0] = row("rtt_ms", TG_KIND_PHYSICS, 0.1, 5);
  fixture->rows[0].trust.history_runs = 3;
  fixture->rows[0].trust.history_spread = 0.04;
  fixture->rows[0].trust.history_ratio = 1.01;
  fixture->rows[1] = row("rps", TG_KIND_ABSOLUTE, 900, 200);
  fixture->rows[1].direction = TG_AT_LEAST;
  fixture->rows[1].baseline = (struct tg_comparison){
      .present = true, .reference = 950, .allowance = 0.1, .ratio = 1.05, .runs = 3, .status = TG_STATUS_PASS};
  fixture->rows[2] = row("cpu_us", TG_KIND_RELATIVE, 20, 30);
  fixture->rows[3] = row("curve", TG_KIND_ABSOLUTE, 7, 1);
  fixture->rows[3].status = TG_STATUS_RECORDED;
  fixture->rows[3].has_bound = false;
  fixture->rows[3].has_distance = false;
  fixture->rows[3].message = "a control";
  struct tg_report *report = &fixture->report;
  report->rows = fixture->rows;
  report->num_rows = TG_FIXTURE_ROWS;
  report->measured_s = 61.5;
  report->readable = true;
  report->has_stolen = true;
  report->stolen = 0.001;
  report->host_stalls = true;
  report->off_p50_ms[0] = 43.1;
  report->off_p50_ms[1] = 43.2;
  report->background = json_object_get(fixture->owned, "background");
  report->calibration = (struct tg_calibration){.known = true,
                                                .median_us = 101,
                                                .slowest = 1.01,
                                                .later_over_earlier = 1.01,
                                                .values_us = json_object_get(fixture->owned, "values_us")};
  report->drift = (struct tg_drift){
      .rows = 1, .against = "baseline", .median = 1.05, .lower_quartile = 1.05, .upper_quartile = 1.05};
  report->commands = json_object_get(fixture->owned, "commands");
  tg_report_conclude(report);
}

void tg_report_fixture_error(struct tg_report_fixture *fixture) {
  fill(fixture);
  struct tg_report *report = &fixture->report;
  report->kind = TG_REPORT_ERROR;
  report->verdict = TG_OUTCOME_ERROR;
  report->error_stage = "warm-up";
  report->error_message = "rtt_client: connection 1: refused (warm-up)";
  report->error_workload = "rtt_fresh";
  report->error_round = 1;
  tg_report_conclude(report);
}

void tg_report_fixture_free(struct tg_report_fixture *fixture) {
  json_decref(fixture->owned);
}
