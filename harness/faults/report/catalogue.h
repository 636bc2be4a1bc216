// The catalogue of faults, as defs.bzl writes it.
#ifndef TLSGATE_HARNESS_FAULTS_REPORT_CATALOGUE_H
#define TLSGATE_HARNESS_FAULTS_REPORT_CATALOGUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

#define TG_CATALOGUE_MAX 256

struct tg_fault_report {
  const char *project;  // owner/name on GitHub
  long long number;
  const char *title;
};

struct tg_fault_entry {
  const char *name;
  const char *kind;
  const char *breaks;
  const char *input;
  const char *check;
  bool without_own_regression;
  json_t *caught_by;  // array of texts
  json_t *sources;    // array of texts
  struct tg_fault_report reports[8];
  size_t num_reports;
};

struct tg_catalogue {
  struct tg_fault_entry entries[TG_CATALOGUE_MAX];  // by name
  size_t num_entries;
  json_t *json;  // owns every text
};

// tg_catalogue_load reads the catalogue. Returns NULL with `err` filled in if the file is not one. Free it with
// tg_catalogue_free.
struct tg_catalogue *tg_catalogue_load(const char *file, struct tg_error *err);
void tg_catalogue_free(struct tg_catalogue *catalogue);

#endif
