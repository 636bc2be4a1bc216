// What is to be done to see whether a check catches a fault. defs.bzl writes plans as JSON.
#ifndef TLSGATE_HARNESS_FAULTS_RUNNER_PLAN_H
#define TLSGATE_HARNESS_FAULTS_RUNNER_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

#define TG_FAULT_CAUGHT_BY_MAX 8
#define TG_FAULT_ARGUMENTS_MAX 4
#define TG_FAULT_CORPUS_MAX    4096

// A program and what it is given first.
struct tg_fault_program {
  const char *path;
  const char *arguments[TG_FAULT_ARGUMENTS_MAX];
  size_t num_arguments;
};

struct tg_fault_plan {
  const char *fault;
  const char *check;
  const char *caught_by[TG_FAULT_CAUGHT_BY_MAX];
  size_t num_caught_by;
  struct tg_fault_program patched;
  struct tg_fault_program clean;
  long long runs;       // of a fuzz target, after the corpus: libFuzzer's -runs; 0: the check is a test
  long long max_len;    // of a fuzz target's input
  const char **corpus;  // regressions, then seeds, each by path
  size_t num_corpus;    // 0 for a test
  json_t *json;         // owns every text
};

// tg_fault_plan_load reads a plan. Returns false with `err` filled in if the file is not one. Free it with
// tg_fault_plan_free.
bool tg_fault_plan_load(const char *file, struct tg_fault_plan *out, struct tg_error *err);
void tg_fault_plan_free(struct tg_fault_plan *plan);

#endif
