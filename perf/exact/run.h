// Measures the scenarios: `measure` as a child, by itself for the counts and under callgrind for the instructions.
#ifndef TLSGATE_PERF_EXACT_RUN_H
#define TLSGATE_PERF_EXACT_RUN_H

#include <stdbool.h>

#include "harness/base/error.h"
#include "perf/exact/callgrind.h"
#include "perf/exact/figures.h"

// The longest that one run may take: 20 times what it takes on one idle core of a slow machine.
#define TG_EXACT_RUN_TIMEOUT_S 300

// tg_exact_count runs the program `measure` on the folder `scenarios` and fills in everything but the instructions.
// Returns false with `err` filled in: the scenario that failed, and what is wrong.
bool tg_exact_count(const char *measure, const char *scenarios, struct tg_exact_figures *out, struct tg_error *err);

// tg_exact_instructions runs it under valgrind, with `padding` bytes more in its environment (fewer than 280 make a
// difference), and fills in the instructions and the CPU that valgrind shows; the rest must be there (tg_exact_count).
// What runs is the program beside `measure` whose name has TG_EXACT_STRIPPED behind it: the same, linked without debug
// information (code_map.h). Returns false with `err` filled in, which names the package when there is no valgrind.
#define TG_EXACT_STRIPPED "_stripped"
bool tg_exact_instructions(const char *measure, const char *scenarios, unsigned padding, struct tg_exact_figures *out,
                           struct tg_error *err);

// tg_exact_parts runs it once under valgrind as tg_exact_instructions does, with the profile cut before each call of a
// function of `cuts`, patterns that end with NULL (at most TG_EXACT_CUTS_MAX), and returns the parts
// (tg_callgrind_parts).
#define TG_EXACT_CUTS_MAX 16
bool tg_exact_parts(const char *measure, const char *scenarios, const char *const cuts[], struct tg_callgrind_part *out,
                    size_t size, size_t *num, struct tg_error *err);

#endif
