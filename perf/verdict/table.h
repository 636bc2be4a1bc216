// The verdict as a table that a person enjoys reading.
#ifndef TLSGATE_PERF_VERDICT_TABLE_H
#define TLSGATE_PERF_VERDICT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "perf/verdict/verdict.h"

// tg_table_print writes one line a gate (verdict, metric, value, bound, spread, rounds), failures first, then the
// undecided, each of these with its message, then the verdict's note, and last the summary line "N/M passed". Colours
// are used if `colour`.
void tg_table_print(FILE *out, const struct tg_verdict *verdict, bool colour);

// tg_table_summary writes the summary line alone, without colour: "19/20 passed, 1 failed: tls_rtt_p50_ms".
void tg_table_summary(FILE *out, const struct tg_verdict *verdict);

// tg_table_wants_colour says whether `out` is a terminal that is not told otherwise (NO_COLOR, TERM=dumb).
bool tg_table_wants_colour(FILE *out);

// tg_table_number formats a value with about four significant digits ("43.18", "179,188", "0.0214") into `out`, which
// has room for 32 characters. Returns `out`.
char *tg_table_number(char out[32], double value);

#endif
