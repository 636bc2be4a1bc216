#include "perf/baseline/baseline_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char manifest_text[] =
    "{\"schema\": 1, \"about\": \"test\", \"purpose\": \"run\", \"gates\": ["
    "{\"name\": \"rtt_ms\", \"unit\": \"ms\", \"kind\": \"physics\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": 5, \"why\": \"a timer\", \"fault\": \"f\"},"
    "{\"name\": \"rps\", \"unit\": \"1/s\", \"kind\": \"absolute\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"bound\": 200, \"why\": \"a floor\", \"fault\": \"f\"},"
    "{\"name\": \"cpu_us\", \"unit\": \"us\", \"kind\": \"relative\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": 30, \"why\": \"a ratio\", \"fault\": \"f\"},"
    "{\"name\": \"curve\", \"unit\": \"1/s\", \"kind\": \"absolute\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"recorded_only\": \"a control\"},"
    "{\"name\": \"stalled\", \"unit\": \"fraction\", \"kind\": \"physics\", \"direction\": \"at_most\", "
    "\"workload\": \"w\", \"judged_by\": \"fraction\", \"bound\": 0.02, \"min_trials\": 400, \"why\": \"a timer\", "
    "\"fault\": \"f\"}]}";

#define PROVENANCE                                                                                               \
  "\"provenance\": {\"commit\": \"" TG_REVISION_A                                                                \
  "\", \"dirty_files\": [], \"host\": \"quiet\", \"label\": null, \"architecture\": \"x86_64\", \"cpu_model\": " \
  "\"A CPU @ 3.0 GHz\", \"cpus\": 2, \"os\": \"Debian\", \"kernel\": \"6.1.0\", \"compiler\": \"clang 14\", "    \
  "\"flags\": \"-O2\", \"boringssl\": \"abc\", \"server_sha256\": "                                              \
  "\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\", \"stall_settings\": {}}"

const char tg_fixture_baseline[] =
    "{\"schema\": 1, \"about\": \"test\", \"label\": \"quiet-1\", \"recorded\": \"2026-01-30T10:00:00Z\", "
    "\"profile\": \"short\", \"runs\": 3, " PROVENANCE
    ", \"run_ids\": [\"00000000000000000000000000000001\", \"00000000000000000000000000000002\", "
    "\"00000000000000000000000000000003\"], \"trust\": {\"spread\": 0.2}, \"notes\": \"on the shelf\", \"rows\": {"
    "\"rtt_ms\": {\"median\": 0.1, \"allowance\": 0.10, \"note\": \"timer\"}, \"rps\": {\"median\": 1000}, "
    "\"cpu_us\": {\"median\": null, \"note\": \"broken counter\"}, \"curve\": {\"median\": 7, \"allowance\": 0.40}}, "
    "\"wide_allowances\": [\"curve\"]}";

#define ROW(number)                                                                      \
  "{\"id\": \"0000000000000000000000000000000" number "\", \"date\": \"2026-01-2" number \
  "T10:00:00Z\", "                                                                       \
  "\"revision\": \"" TG_REVISION_A "\""
#define PASSED(number) ROW(number) ", \"metrics\": {\"rtt_ms\": 0.1, \"rps\": 1000.0}}"

const char tg_fixture_history[] =
    "{\"schema\": 1, \"about\": \"test\", \"cpu_model\": \"A CPU @ 3.0 GHz\", \"profile\": \"short\", \"rows\": "
    "[" PASSED("1") ", " PASSED("2") ", " PASSED("3") ", " PASSED("4") ", " PASSED("5") ", " PASSED(
        "6") "], \"apart\": [" ROW("7") ", \"label\": \"fail\", \"metrics\": {\"rtt_ms\": 43.0, \"rps\": 80.0}}]}";

struct tg_manifest *tg_fixture_manifest(void) {
  struct tg_error err;
  struct tg_manifest *manifest = tg_manifest_parse("manifest", manifest_text, strlen(manifest_text), &err);
  if (manifest == NULL) {
    fprintf(stderr, "%s\n", err.text);
    abort();
  }
  return manifest;
}

static struct tg_report_row row(const char *name, enum tg_gate_kind kind, double value, double bound) {
  return (struct tg_report_row){.name = name,
                                .unit = "ms",
                                .kind = kind,
                                .has_value = true,
                                .value = value,
                                .has_spread = true,
                                .has_bound = bound > 0,
                                .bound = bound,
                                .has_distance = bound > 0,
                                .distance = bound > 0 ? value / bound : 0,
                                .status = bound > 0 ? TG_STATUS_PASS : TG_STATUS_RECORDED,
                                .rounds = 8,
                                .message = "",
                                .trust = {.known = true, .spread = 0.02, .instability = 0.01}};
}

void tg_run_fixture_make(struct tg_run_fixture *out, int number, const char *revision) {
  tg_report_fixture_complete(&out->base);
  out->report = &out->base.report;
  (void)snprintf(out->id, sizeof(out->id), "%032x", (unsigned)number);
  (void)snprintf(out->start, sizeof(out->start), "2026-02-%02dT%02d:%02d:00Z", 1 + number / 1440, number / 60 % 24,
                 number % 60);
  (void)snprintf(out->finish, sizeof(out->finish), "2026-02-%02dT%02d:%02d:59Z", 1 + number / 1440, number / 60 % 24,
                 number % 60);
  out->rows[TG_RTT] = row("rtt_ms", TG_KIND_PHYSICS, 0.1, 5);
  out->rows[TG_RPS] = row("rps", TG_KIND_ABSOLUTE, 1000, 200);
  out->rows[TG_RPS].direction = TG_AT_LEAST;
  out->rows[TG_RPS].distance = 0.2;
  out->rows[TG_CPU] = row("cpu_us", TG_KIND_RELATIVE, 20, 30);
  out->rows[TG_CURVE] = row("curve", TG_KIND_ABSOLUTE, 7, 0);
  out->rows[TG_CURVE].message = "a control";
  out->rows[TG_STALLED] = row("stalled", TG_KIND_PHYSICS, 0, 0.02);
  struct tg_report *report = out->report;
  report->id = out->id;
  report->start = out->start;
  report->finish = out->finish;
  report->rows = out->rows;
  report->num_rows = TG_RUN_ROWS;
  report->mode = TG_MODE_FULL;
  report->enforced = true;
  report->num_earlier = 0;
  report->num_earlier_total = 0;
  report->drift.rows = 0;
  report->environment.commit = revision;
  tg_report_conclude(report);
}

void tg_run_fixture_free(struct tg_run_fixture *run) {
  tg_report_fixture_free(&run->base);
}

const char *tg_fixture_folder(void) {
  static char folder[PATH_MAX];
  const char *base = getenv("TEST_TMPDIR");
  (void)snprintf(folder, sizeof(folder), "%s/baseline-XXXXXX", base != NULL ? base : "/tmp");
  if (mkdtemp(folder) == NULL) {
    abort();
  }
  return folder;
}

char *tg_fixture_read(const char *path) {
  FILE *file = fopen(path, "re");
  char *text = calloc(1, 1 << 20);
  if (file == NULL || text == NULL) {
    free(text);
    return NULL;
  }
  text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
  (void)fclose(file);
  return text;
}

void tg_fixture_write(const char *path, const char *text) {
  FILE *file = fopen(path, "we");
  if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
    abort();
  }
}
