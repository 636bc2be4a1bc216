// Quantities as load tools print them: a decimal number with a unit stuck to it.
#ifndef TLSGATE_PERF_TOOLS_UNITS_H
#define TLSGATE_PERF_TOOLS_UNITS_H

#include <stdbool.h>
#include <stddef.h>

// The units wrk 4.1.0 prints (its src/units.c), each kind with every suffix of its table.
enum tg_unit {
  TG_UNIT_SECONDS,  // us, ms, s, m, h; the value is in seconds
  TG_UNIT_BYTES,    // B, KB, MB, GB, TB, PB: powers of 1024; the value is in bytes
  TG_UNIT_COUNT,    // no suffix, k, M, G, T, P: powers of 1000; the value is a plain number
};

// tg_decimal_parse reads a number made of at most 30 characters, digits with at most one point between them, at the
// start of `text`. Returns how many characters it is long, with the number in `out`; 0 if there is no such number.
// Signs, exponents, `nan` and `inf` are not numbers here.
size_t tg_decimal_parse(const char *text, size_t len, double *out);

// tg_quantity_parse reads a number and the unit right behind it: all the letters that follow the number. Returns how
// many characters both take, with the value in `out`; 0 if there is no number or the unit is not one of `kind`.
size_t tg_quantity_parse(enum tg_unit kind, const char *text, size_t len, double *out);

#endif
