// Recording: from the reports of some runs to baselines/hosts/<label>.json.
//
// The file that is there supplies two things: the machine it may be recorded on, and what is carried along: allowances,
// notes, disabled bounds, limits of trust. Everything else comes from the runs. Recording reads no verdict but those of
// the gates' own bounds, and changes none.
#ifndef TLSGATE_PERF_BASELINE_RECORD_H
#define TLSGATE_PERF_BASELINE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/base/error.h"
#include "perf/baseline/choose.h"
#include "perf/manifest/manifest.h"
#include "perf/report/report.h"

// The most rows that one recording can be told something about.
#define TG_RECORD_WISHES_MAX 64

enum tg_wish {
  TG_WISH_DISABLE,  // record the row as null, with the reason
  TG_WISH_ENABLE,   // record a disabled row's median again
  TG_WISH_NARROW,   // take the allowance that history gives, though it is narrower than the carried one
};

struct tg_record_wish {
  enum tg_wish kind;
  const char *row;
  const char *why;  // of a disabled row
};

struct tg_record_request {
  const char *folder;    // of the baselines of hosts
  const char *label;     // of this host
  const char *revision;  // the current commit, whose tree is clean
  const char *date;      // now, UTC
  const struct tg_manifest *manifest;
  struct tg_report *const *reports;  // what to take samples from, in any order
  size_t num_reports;
  struct tg_report *const *deposits;  // what history is there besides, in any order
  size_t num_deposits;
  struct tg_record_wish wishes[TG_RECORD_WISHES_MAX];
  size_t num_wishes;
};

// tg_record records the baseline of `request`. What is left out, counted once, widened, weak or an excursion is said on
// `log`, a line each. Returns false with `err` filled in when it refuses; the file is then as it was.
bool tg_record(const struct tg_record_request *request, FILE *log, struct tg_error *err);

#endif
