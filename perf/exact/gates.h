// The exact gates as gates of a run: one for each scenario and section ("exact/full_tls13/calls"), whose value is how
// many of its figures have changed, and whose bound is none.
#ifndef TLSGATE_PERF_EXACT_GATES_H
#define TLSGATE_PERF_EXACT_GATES_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/exact/figures.h"
#include "perf/verdict/verdict.h"

#define TG_EXACT_GATES_MAX (TG_SCENARIOS_MAX * (size_t)TG_EXACT_SECTIONS)

// Every such gate's name begins with it; "exact" alone names them all.
#define TG_EXACT_GROUP "exact"

struct tg_exact_gate {
  char name[96];                   // "exact/SCENARIO/SECTION"
  struct tg_gate gate;             // kind exact for calls and memory, counted for instructions
  struct tg_gate_verdict verdict;  // without a baseline: recorded, "UNENFORCED: ..."; all figures null: disabled
  size_t num[4];                   // of figures, by enum tg_exact_verdict
};

struct tg_exact_gates {
  size_t num;
  size_t changed;  // figures
  struct tg_exact_gate gates[TG_EXACT_GATES_MAX];
  char note[1600];  // lines for the table: how many figures are as accepted, and what is not enforced
};

// tg_exact_gates_load reads the check's exact.json (result_file.h). Returns gates to be released with
// tg_exact_gates_free, or NULL with `err` filled in: the file does not decode, or says why there is no verdict.
struct tg_exact_gates *tg_exact_gates_load(const char *file, struct tg_error *err);

// tg_exact_gates_add adds them to a verdict, which borrows them, and counts it anew. Returns false when out of memory.
bool tg_exact_gates_add(const struct tg_exact_gates *gates, struct tg_verdict *verdict);

// tg_exact_gates_free releases gates. NULL is ignored.
void tg_exact_gates_free(struct tg_exact_gates *gates);

#endif
