#include "perf/verdict/verdict_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char kGates[] =
    "{\"schema\": 1, \"about\": \"x\", \"purpose\": \"run\", \"gates\": ["
    "{\"name\": \"rtt\", \"unit\": \"ms\", \"kind\": \"physics\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": 5, \"why\": \"y\", \"fault\": \"f\", \"stall_sensitive\": true},"
    "{\"name\": \"stalled\", \"unit\": \"fraction\", \"kind\": \"physics\", \"direction\": \"at_most\", \"workload\": "
    "\"w\","
    " \"judged_by\": \"fraction\", \"bound\": 0.02, \"min_trials\": 400, \"why\": \"y\", \"fault\": \"f\","
    " \"stall_sensitive\": true},"
    "{\"name\": \"floor\", \"unit\": \"1/s\", \"kind\": \"physics\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"bound\": 200, \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"rps\", \"unit\": \"1/s\", \"kind\": \"relative\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"relative_to\": {\"metric\": \"plain\", \"factor\": 0.25}, \"firm\": \"cpu\", \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"cpu\", \"unit\": \"us\", \"kind\": \"absolute\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": 100, \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"churn\", \"unit\": \"1/s\", \"kind\": \"relative\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"judged_by\": \"firm\", \"firm\": \"cpu\", \"fault\": \"f\"},"
    "{\"name\": \"soft\", \"unit\": \"1/s\", \"kind\": \"absolute\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"bound\": 200, \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"calls\", \"unit\": \"calls\", \"kind\": \"exact\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": 12, \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"scaling\", \"unit\": \"ratio\", \"kind\": \"relative\", \"direction\": \"at_least\", \"workload\": "
    "\"w\","
    " \"bound\": 0.7, \"interval\": true, \"why\": \"y\", \"fault\": \"f\"},"
    "{\"name\": \"off\", \"unit\": \"ms\", \"kind\": \"absolute\", \"direction\": \"at_most\", \"workload\": \"w\","
    " \"bound\": null, \"why\": \"y\"},"
    "{\"name\": \"plain\", \"unit\": \"1/s\", \"kind\": \"absolute\", \"direction\": \"at_least\", \"workload\": \"w\","
    " \"recorded_only\": \"a control\"}]}";

int tg_fixture_set_up(void **state) {
  struct tg_fixture *f = calloc(1, sizeof(*f));
  struct tg_error err = {""};
  f->manifest = tg_manifest_parse("kGates", kGates, strlen(kGates), &err);
  if (f->manifest == NULL) print_error("%s\n", err.text);
  f->samples = tg_samples_create();
  *state = f;
  return f->manifest == NULL;
}

int tg_fixture_tear_down(void **state) {
  struct tg_fixture *f = *state;
  tg_verdict_free(f->verdict);
  tg_samples_free(f->samples);
  tg_manifest_free(f->manifest);
  free(f);
  return 0;
}

void tg_fixture_add(struct tg_fixture *f, const char *metric, size_t rounds, double value, bool client_bound) {
  struct tg_error err = {""};
  for (size_t i = 0; i < rounds; i++) {
    const double wobble = i % 2 == 0 ? 1.01 : 0.99;
    assert_true(tg_samples_add(f->samples, metric, i, value * wobble, client_bound, &err));
  }
}

void tg_fixture_add_counts(struct tg_fixture *f, uint64_t hits) {
  for (size_t i = 0; i < 8; i++) assert_true(tg_samples_add_count(f->samples, "stalled", i, hits, 100, NULL));
}

void tg_fixture_add_calls(struct tg_fixture *f, double worst) {
  for (size_t i = 0; i < 3; i++) assert_true(tg_samples_add(f->samples, "calls", i, i == 1 ? worst : 12, false, NULL));
}

void tg_fixture_add_healthy(struct tg_fixture *f, const char *except) {
  static const struct {
    const char *metric;
    double value;
  } healthy[] = {{"rtt", 0.1},   {"floor", 900}, {"rps", 600},     {"cpu", 20},
                 {"churn", 500}, {"soft", 900},  {"scaling", 1.1}, {"plain", 1000}};
  for (size_t i = 0; i < sizeof(healthy) / sizeof(healthy[0]); i++) {
    if (strstr(except, healthy[i].metric) == NULL) tg_fixture_add(f, healthy[i].metric, 8, healthy[i].value, false);
  }
  if (strstr(except, "stalled") == NULL) tg_fixture_add_counts(f, 0);
  if (strstr(except, "calls") == NULL) tg_fixture_add_calls(f, 12);
}

const struct tg_gate_verdict *tg_fixture_judge_host(struct tg_fixture *f, const char *hidden_by, const char *gate) {
  const struct tg_host_view host = {.stall_hidden_by = hidden_by};
  tg_verdict_free(f->verdict);
  f->verdict = tg_verdict_judge(f->manifest, f->samples, &host);
  return tg_verdict_gate(f->verdict, gate);
}

const struct tg_gate_verdict *tg_fixture_judge(struct tg_fixture *f, const char *gate) {
  return tg_fixture_judge_host(f, NULL, gate);
}
