// Bytes as everything that //perf reads: manifests, rows, the output of ab, wrk and hyperfine, and quantities.
//
// An input is one letter that names the decoder and its text; a decoder of two texts has them separated by a NUL byte.
//
//   m  a gates manifest                r  a replay: manifest, then a row.json
//   a  ab: standard output and error   w  wrk: likewise
//   h  hyperfine's export              q  quantities: units and decimals
//   e  a run's report                  b  the baseline of a host, then a report that is held against it
//   y  the history of a CPU model, likewise
//
// What must hold, beside what the sanitizers see:
//  - G1: a refusal says why: one line without control characters, that begins with the file or the tool
//  - G2: what is accepted keeps its header's promises: counts within limits, numbers finite, references that lead
//    somewhere
//  - G3: the same text gives the same answer
//  - G4: a run is judged clean only if every error count is 0
//  - G5: a verdict adds up, and its table has one line a gate, one a message, and a summary
//  - G6: what is decoded is encoded to the same
//  - G7: a comparison passes only what is within its allowance and fails only what is not, and enforces only what it
//  has
//    seen all of
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/base/target.h"
#include "perf/baseline/compare.h"
#include "perf/baseline/fields.h"
#include "perf/manifest/manifest.h"
#include "perf/manifest/row.h"
#include "perf/manifest/strict_json.h"
#include "perf/report/report.h"
#include "perf/tools/ab.h"
#include "perf/tools/hyperfine.h"
#include "perf/tools/units.h"
#include "perf/tools/wrk.h"
#include "perf/verdict/table.h"
#include "perf/verdict/verdict.h"

__attribute__((format(printf, 2, 3), noreturn)) static void breach(const char *property, const char *format, ...) {
  va_list list;
  va_start(list, format);
  fprintf(stderr, "%s: ", property);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  abort();
}

static void check_error(const struct tg_error *err, const char *who) {
  if (memchr(err->text, '\0', sizeof(err->text)) == NULL) {
    breach("G1", "an error without an end");
  }
  if (strncmp(err->text, who, strlen(who)) != 0 || err->text[strlen(who)] == '\0') {
    breach("G1", "an error that does not begin with \"%s\": \"%s\"", who, err->text);
  }
  for (const char *c = err->text; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ' || *c == 0x7f) {
      breach("G1", "an error with the control character 0x%02x: \"%s\"", (unsigned char)*c, err->text);
    }
  }
}

static void check_one_line(const char *what, const char *text) {
  for (const char *c = text; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ' || *c == 0x7f) {
      breach("G2", "%s with the control character 0x%02x", what, (unsigned char)*c);
    }
  }
}

static void check_number(const char *what, double value) {
  if (!isfinite(value) || value < 0) {
    breach("G2", "%s is %g", what, value);
  }
}

// What follows the first NUL byte of a text, which it takes away from it.
static struct tg_text cut_second(struct tg_text *first) {
  const char *nul = memchr(first->bytes, '\0', first->len);
  if (nul == NULL) {
    return (struct tg_text){first->bytes + first->len, 0};
  }
  size_t len = (size_t)(nul - first->bytes);
  struct tg_text second = {nul + 1, first->len - len - 1};
  first->len = len;
  return second;
}

static void check_gate(const struct tg_manifest *manifest, const struct tg_gate *gate) {
  if (tg_manifest_gate(manifest, gate->name) != gate) {
    breach("G2", "two gates are named %s", gate->name);
  }
  check_one_line("a unit", gate->unit);
  check_one_line("a reason", gate->why != NULL ? gate->why : "");
  check_number("a bound", gate->bound);
  bool gated = tg_gate_is_gated(gate);
  if (gated && gate->judged_by == TG_JUDGED_FIRM && gate->firm == NULL) {
    breach("G2", "%s is judged by a firm metric that it has not", gate->name);
  }
  if (gated && gate->judged_by != TG_JUDGED_FIRM && gate->why == NULL) {
    breach("G2", "%s has a bound without a reason", gate->name);
  }
  if (gate->firm != NULL) {
    const struct tg_gate *firm = tg_manifest_gate(manifest, gate->firm);
    if (firm == NULL || !tg_gate_is_gated(firm) || firm->firm != NULL) {
      breach("G2", "the firm metric of %s cannot decide", gate->name);
    }
  }
  if (gate->relative_to != NULL && tg_manifest_gate(manifest, gate->relative_to) == NULL) {
    breach("G2", "%s is relative to what is not there", gate->name);
  }
}

static struct tg_manifest *parse_manifest(struct tg_text text) {
  struct tg_error err = {""};
  struct tg_manifest *manifest = tg_manifest_parse("m.json", text.bytes, text.len, &err);
  if (manifest == NULL) {
    check_error(&err, "m.json:");
    return NULL;
  }
  if (manifest->num_gates == 0 || manifest->num_gates > TG_GATES_MAX || manifest->num_rows > TG_SETS_MAX) {
    breach("G2", "%zu gates and %zu rows", manifest->num_gates, manifest->num_rows);
  }
  for (size_t i = 0; i < manifest->num_gates; i++) {
    check_gate(manifest, &manifest->gates[i]);
  }
  return manifest;
}

static size_t count_lines(const char *text) {
  size_t lines = 0;
  for (; *text != '\0'; text++) {
    lines += *text == '\n';
  }
  return lines;
}

static void check_table(const struct tg_verdict *verdict) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (out == NULL) {
    return;
  }
  tg_table_print(out, verdict, false);
  fclose(out);
  // A heading, the gates with their messages, an empty line and the summary.
  size_t expected = 3 + verdict->num_gates;
  for (size_t i = 0; i < verdict->num_gates; i++) {
    expected += verdict->gates[i].message[0] != '\0';
  }
  if (count_lines(text) != expected) {
    breach("G5", "%zu lines where %zu are expected:\n%s", count_lines(text), expected, text);
  }
  if (strstr(text, "nan") != NULL && strstr(text, " -nan") != NULL) {
    breach("G5", "a number that is none:\n%s", text);
  }
  free(text);
}

static void check_replay(const struct tg_manifest *manifest, const struct tg_row *row) {
  struct tg_verdict *verdict = tg_verdict_replay(manifest, row);
  size_t counts[6] = {0};
  for (size_t i = 0; i < verdict->num_gates; i++) {
    const struct tg_gate_verdict *v = &verdict->gates[i];
    counts[v->status]++;
    check_one_line("a message", v->message);
    if (isnan(v->distance) || v->distance < 0) {
      breach("G2", "a distance is %g", v->distance);
    }
    if (v->has_bound) {
      check_number("a bound in force", v->bound);
    }
    if (v->status == TG_STATUS_PASS && !v->judged_by_firm && v->gate->judged_by != TG_JUDGED_FIRM && !v->has_value) {
      breach("G5", "%s passes without a value", v->gate->name);
    }
    if (v->status == TG_STATUS_PASS && v->gate->relative_to != NULL && !(v->bound > 0)) {
      breach("G5", "%s passes a bound of %g", v->gate->name, v->bound);
    }
  }
  size_t undecided = counts[TG_STATUS_UNDECIDED] + counts[TG_STATUS_CLIENT_BOUND];
  enum tg_status status = counts[TG_STATUS_FAIL] > 0 ? TG_STATUS_FAIL
                          : undecided > 0            ? TG_STATUS_UNDECIDED
                                                     : TG_STATUS_PASS;
  if (verdict->passed != counts[TG_STATUS_PASS] || verdict->failed != counts[TG_STATUS_FAIL] ||
      verdict->undecided != undecided || verdict->gated != verdict->passed + verdict->failed + undecided ||
      verdict->status != status) {
    breach("G5", "%zu gated: %zu passed, %zu failed, %zu undecided", verdict->gated, verdict->passed, verdict->failed,
           verdict->undecided);
  }
  check_table(verdict);
  tg_verdict_free(verdict);
}

static void run_manifest(struct tg_text text) {
  struct tg_manifest *manifest = parse_manifest(text);
  if (manifest == NULL) {
    return;
  }
  for (size_t i = 0; i < manifest->num_rows; i++) {
    check_replay(manifest, &manifest->rows[i]);
  }
  struct tg_error err = {""};
  if (!tg_manifest_use_set(manifest, "first", &err)) {
    check_error(&err, "m.json:");
  }
  for (size_t i = 0; i < manifest->num_gates; i++) {
    check_gate(manifest, &manifest->gates[i]);
  }
  tg_manifest_free(manifest);
}

static void run_replay(struct tg_text text) {
  struct tg_text row_text = cut_second(&text);
  struct tg_manifest *manifest = parse_manifest(text);
  struct tg_error err = {""};
  struct tg_row_file *row = tg_row_parse("row.json", row_text.bytes, row_text.len, &err);
  if (row == NULL) {
    check_error(&err, "row.json:");
  } else if (manifest != NULL) {
    check_replay(manifest, &row->row);
  }
  tg_row_free(row);
  tg_manifest_free(manifest);
}

static void run_ab(struct tg_text text) {
  struct tg_text standard_error = cut_second(&text);
  struct tg_error err = {""};
  struct tg_ab run;
  struct tg_ab again;
  bool ok = tg_ab_parse(text, standard_error, &run, &err);
  if (!ok) {
    check_error(&err, "ab:");
  }
  if (tg_ab_parse(text, standard_error, &again, &err) != ok ||
      (ok && (run.complete_requests != again.complete_requests || run.total_bytes != again.total_bytes ||
              run.seconds != again.seconds))) {
    breach("G3", "ab's output is read in two ways");
  }
  if (!ok) {
    return;
  }
  check_number("seconds", run.seconds);
  check_number("requests a second", run.requests_per_second);
  check_number("bytes a second", run.bytes_per_second);
  __uint128_t failures =
      (__uint128_t)run.connect_failures + run.receive_failures + run.length_failures + run.exception_failures;
  if (failures != run.failed_requests) {
    breach("G2", "the failures of ab do not add up");
  }
  if (!tg_ab_judge(&run, run.complete_requests, run.document_bytes, &err)) {
    check_error(&err, "ab:");
  } else if (run.failed_requests != 0 || run.write_errors != 0 || run.non_2xx_responses != 0) {
    breach("G4", "an ab run with errors is judged clean");
  }
}

static void run_wrk(struct tg_text text) {
  struct tg_text standard_error = cut_second(&text);
  struct tg_error err = {""};
  struct tg_wrk run;
  struct tg_wrk again;
  bool ok = tg_wrk_parse(text, standard_error, &run, &err);
  if (!ok) {
    check_error(&err, "wrk:");
  }
  if (tg_wrk_parse(text, standard_error, &again, &err) != ok ||
      (ok &&
       (run.requests != again.requests || run.connections != again.connections || run.seconds != again.seconds))) {
    breach("G3", "wrk's output is read in two ways");
  }
  if (!ok) {
    return;
  }
  const double numbers[] = {run.seconds,       run.bytes_read,          run.latency_mean_s,  run.latency_stdev_s,
                            run.latency_max_s, run.latency_p50_s,       run.latency_p75_s,   run.latency_p90_s,
                            run.latency_p99_s, run.requests_per_second, run.bytes_per_second};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    check_number("a figure of wrk", numbers[i]);
  }
  if (!tg_wrk_judge(&run, 0, &err)) {
    check_error(&err, "wrk:");
  } else if (run.connect_errors != 0 || run.read_errors != 0 || run.write_errors != 0 || run.timeouts != 0 ||
             run.non_2xx_responses != 0 || run.requests == 0) {
    breach("G4", "a wrk run with errors is judged clean");
  }
}

static void run_hyperfine(struct tg_text text) {
  struct tg_error err = {""};
  struct tg_hyperfine run;
  if (!tg_hyperfine_parse(text, &run, &err)) {
    check_error(&err, "hyperfine:");
    return;
  }
  if (run.num_results == 0) {
    breach("G2", "an export without a result");
  }
  for (size_t i = 0; i < run.num_results; i++) {
    const struct tg_hyperfine_result *result = &run.results[i];
    check_number("user seconds", result->user_s);
    check_number("system seconds", result->system_s);
    if (result->num_times == 0) {
      breach("G2", "a result without a run");
    }
    for (size_t j = 0; j < result->num_times; j++) {
      check_number("a time", result->times_s[j]);
    }
  }
  tg_hyperfine_free(&run);
}

static void run_quantities(struct tg_text text) {
  for (int kind = TG_UNIT_SECONDS; kind <= TG_UNIT_COUNT; kind++) {
    double value = -1;
    size_t used = tg_quantity_parse((enum tg_unit)kind, text.bytes, text.len, &value);
    if (used > text.len) {
      breach("G2", "a quantity longer than its text");
    }
    if (used > 0) {
      check_number("a quantity", value);
    }
  }
  double value = -1;
  size_t used = tg_decimal_parse(text.bytes, text.len, &value);
  if (used > 0) {
    check_number("a decimal", value);
    char shown[32];
    if (memchr(tg_table_number(shown, value), '\0', sizeof(shown)) == NULL) {
      breach("G5", "a number too long to show");
    }
  }
}

static struct tg_report *parse_report(struct tg_text text) {
  struct tg_error err = {""};
  struct tg_report *report = tg_report_parse("report.json", text.bytes, text.len, &err);
  if (report == NULL) {
    check_error(&err, "report.json:");
  }
  return report;
}

// What `encode` makes of a decoded file, written and read again, is encoded to the same. Takes `value` over.
static char *check_encoded(const char *what, json_t *value) {
  char *text = value == NULL ? NULL : tg_json_dump(value);
  if (text == NULL) {
    breach("G6", "%s cannot be encoded", what);
  }
  return text;
}

static void check_same(const char *what, char *text, json_t *again) {
  char *text_again = check_encoded(what, again);
  if (strcmp(text, text_again) != 0) {
    breach("G6", "%s is encoded in two ways:\n%s\n%s", what, text, text_again);
  }
  free(text);
  free(text_again);
}

static void run_report(struct tg_text text) {
  struct tg_report *report = parse_report(text);
  if (report == NULL) {
    return;
  }
  struct tg_error err = {""};
  char *encoded = check_encoded("a report", tg_report_encode(report));
  struct tg_report *again = tg_report_parse("report.json", encoded, strlen(encoded), &err);
  if (again == NULL) {
    breach("G6", "what was encoded is refused: %s", err.text);
  }
  check_same("a report", encoded, tg_report_encode(again));
  tg_report_free(again);
  tg_report_free(report);
}

static void check_comparison(const struct tg_report_row *row, const struct tg_comparison *found, bool readable) {
  if (!found->present) {
    return;
  }
  check_number("a ratio", found->ratio);
  bool within = found->ratio <= (1 + found->allowance) * (1 + 1e-9);
  if ((found->status == TG_STATUS_PASS && (!within || !readable)) ||
      (found->status == TG_STATUS_FAIL && (within || !readable)) || !row->has_value) {
    breach("G7", "%s is %s at %g x %g, allowed %g", row->name, tg_status_name(found->status), found->ratio,
           found->reference, found->allowance);
  }
}

// Gates are those of the report, as none of them is of a kind that has no row.
static void run_comparison(struct tg_text text, bool of_host) {
  static const char gates[] =
      "{\"schema\": 1, \"about\": \"x\", \"purpose\": \"run\", \"gates\": [{\"name\": \"rtt_ms\", \"unit\": \"ms\", "
      "\"kind\": \"physics\", \"direction\": \"at_most\", \"bound\": 5, \"workload\": \"w\", \"why\": \"y\", "
      "\"fault\": "
      "\"f\"}, {\"name\": \"rps\", \"unit\": \"1/s\", \"kind\": \"absolute\", \"direction\": \"at_least\", \"bound\": "
      "5, "
      "\"workload\": \"w\", \"why\": \"y\", \"fault\": \"f\"}]}";
  struct tg_text second = cut_second(&text);
  struct tg_error err = {""};
  struct tg_host_baseline *baseline = NULL;
  struct tg_cpu_history *history = NULL;
  if (of_host) {
    baseline = tg_host_baseline_parse("file.json", text.bytes, text.len, &err);
  } else {
    history = tg_cpu_history_parse("file.json", text.bytes, text.len, &err);
  }
  if (baseline == NULL && history == NULL) {
    check_error(&err, "file.json:");
    return;
  }
  char *encoded = check_encoded("a file", of_host ? tg_host_baseline_encode(baseline) : tg_cpu_history_encode(history));
  struct tg_host_baseline *baseline_again =
      of_host ? tg_host_baseline_parse("file.json", encoded, strlen(encoded), &err) : NULL;
  struct tg_cpu_history *history_again =
      of_host ? NULL : tg_cpu_history_parse("file.json", encoded, strlen(encoded), &err);
  if (baseline_again == NULL && history_again == NULL) {
    breach("G6", "what was encoded is refused: %s", err.text);
  }
  check_same("a file", encoded,
             of_host ? tg_host_baseline_encode(baseline_again) : tg_cpu_history_encode(history_again));
  tg_host_baseline_free(baseline_again);
  tg_cpu_history_free(history_again);
  struct tg_manifest *manifest = tg_manifest_parse("m.json", gates, sizeof(gates) - 1, &err);
  struct tg_report *report = second.len > 0 ? parse_report(second) : NULL;
  for (size_t readable = 0; report != NULL && readable < 2; readable++) {
    struct tg_compared out;
    if (of_host) {
      tg_baseline_compare(&out, report->rows, report->num_rows, manifest, baseline, readable == 1);
    } else {
      tg_history_compare(&out, report->rows, report->num_rows, manifest, history, readable == 1);
    }
    check_one_line("a reason", out.because);
    size_t compared = 0;
    for (size_t i = 0; i < report->num_rows; i++) {
      const struct tg_comparison *found = of_host ? &report->rows[i].baseline : &report->rows[i].history;
      check_comparison(&report->rows[i], found, readable == 1);
      compared += found->present;
    }
    if (compared != out.passed + out.failed + out.undecided || out.enforced == (out.because[0] != '\0')) {
      breach("G7", "%zu rows compared, %zu passed, %zu failed, %zu undecided; \"%s\"", compared, out.passed, out.failed,
             out.undecided, out.because);
    }
    if (of_host && out.enforced && compared + out.disabled < baseline->num_rows) {
      breach("G7", "enforced with %zu of %zu rows", compared + out.disabled, baseline->num_rows);
    }
  }
  tg_report_free(report);
  tg_manifest_free(manifest);
  tg_host_baseline_free(baseline);
  tg_cpu_history_free(history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) {
    return 0;
  }
  // A copy of its own, so that reading one byte too many is seen.
  struct tg_text text = {.len = size - 1};
  char *copy = malloc(text.len == 0 ? 1 : text.len);
  if (copy == NULL) {
    return 0;
  }
  memcpy(copy, data + 1, text.len);
  text.bytes = copy;
  switch (data[0]) {
    case 'm':
      run_manifest(text);
      break;
    case 'r':
      run_replay(text);
      break;
    case 'a':
      run_ab(text);
      break;
    case 'w':
      run_wrk(text);
      break;
    case 'h':
      run_hyperfine(text);
      break;
    case 'q':
      run_quantities(text);
      break;
    case 'e':
      run_report(text);
      break;
    case 'b':
      run_comparison(text, true);
      break;
    case 'y':
      run_comparison(text, false);
      break;
    default:
      break;
  }
  free(copy);
  return 0;
}
