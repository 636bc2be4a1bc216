// The figures of the exact gates: which there are, what they depend on, and what a run measured.
//
// Figures come in four sections. A baseline of one holds only where its key is the same:
//
//   section        key                        figures
//   calls          none                       system calls by name; re-arms, wake-ups, stalls
//   memory         boringssl                  allocations, bytes, peak bytes held
//   instructions   boringssl, compiler        of harness/accept, of harness/server
//   dispatched     boringssl, compiler, cpu   of libssl and of libcrypto, which chooses code by CPU
#ifndef TLSGATE_PERF_EXACT_FIGURES_H
#define TLSGATE_PERF_EXACT_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/kernel/call.h"
#include "perf/exact/cpu.h"
#include "perf/exact/scenario.h"

enum tg_exact_section {
  TG_EXACT_CALLS,
  TG_EXACT_MEMORY,
  TG_EXACT_INSTRUCTIONS,
  TG_EXACT_DISPATCHED,
  TG_EXACT_SECTIONS,
};

// Metrics: the calls by enum tg_call, then these.
enum tg_exact_metric {
  TG_EXACT_REARMS = TG_CALL_COUNT,
  TG_EXACT_WAKEUPS,
  TG_EXACT_STALLS,
  TG_EXACT_ALLOCATIONS,
  TG_EXACT_BYTES,
  TG_EXACT_PEAK_BYTES,
  TG_EXACT_ACCEPT,
  TG_EXACT_SERVER,
  TG_EXACT_SSL,
  TG_EXACT_CRYPTO,
  TG_EXACT_METRICS,
};

struct tg_exact_keys {
  char boringssl[64];         // revision
  char compiler[96];          // __VERSION__
  char cpu[TG_CPU_TEXT_MAX];  // cpu.h, as valgrind shows it; empty before callgrind has run
};

struct tg_exact_figures {
  struct tg_exact_keys keys;
  char native_cpu[TG_CPU_TEXT_MAX];  // cpu.h, without valgrind
  size_t num_scenarios;
  char scenarios[TG_SCENARIOS_MAX][TG_SCENARIO_NAME_MAX];  // in order of name
  int64_t values[TG_SCENARIOS_MAX][TG_EXACT_METRICS];
};

// tg_exact_section_name and tg_exact_metric_name return the names that files use.
const char *tg_exact_section_name(enum tg_exact_section section);
const char *tg_exact_metric_name(int metric);

// tg_exact_section_of returns a metric's section.
enum tg_exact_section tg_exact_section_of(int metric);

// tg_exact_is_call says whether a metric counts a system call: a file leaves out those that are not made.
bool tg_exact_is_call(int metric);

// tg_exact_is_used is false for the one call that is none, malloc.
bool tg_exact_is_used(int metric);

// tg_exact_num_keys returns how many keys a section has, 0 to 3; tg_exact_key_name names one, tg_exact_key returns its
// value.
size_t tg_exact_num_keys(enum tg_exact_section section);
const char *tg_exact_key_name(size_t key);
const char *tg_exact_key(const struct tg_exact_keys *keys, size_t key);

// tg_exact_is_counted says whether a section's figures are instructions, which are judged by an allowance.
bool tg_exact_is_counted(enum tg_exact_section section);

#endif
