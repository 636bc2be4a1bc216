// Lines of a tool's output, found by how they begin and read from left to right. No line is used before its newline has
// been seen, so that a number cut short at the end of a truncated output is never taken for a smaller one.
#ifndef TLSGATE_PERF_TOOLS_LINES_H
#define TLSGATE_PERF_TOOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf/tools/units.h"

// A tool's output. Borrowed; may hold any bytes.
struct tg_text {
  const char *bytes;
  size_t len;
};

struct tg_line {
  const char *bytes;  // borrowed from the text, without the newline
  size_t len;
  size_t number;  // 1 for the first line
};

// tg_text_next_line puts the line that begins at byte `*offset` in `out` (its number counts from `out->number`, 0
// before the first call) and moves `*offset` past its newline. Returns false when no complete line is left.
bool tg_text_next_line(struct tg_text text, size_t *offset, struct tg_line *out);

// tg_line_find counts the lines that begin with `prefix`. If there are any, `out` is the first of them.
size_t tg_line_find(struct tg_text text, const char *prefix, struct tg_line *out);

// tg_line_show copies the first 200 bytes of a line to `out`, NUL-terminated, with `?` for control characters, which a
// tool may have printed. Returns `out`, for use in a message.
#define TG_LINE_SHOWN_MAX 201
const char *tg_line_show(const struct tg_line *line, char out[TG_LINE_SHOWN_MAX]);

// A line being read. Once a step does not find what it expects, `ok` is false and all later steps do nothing.
struct tg_scan {
  const char *at;
  const char *end;
  bool ok;
};

// tg_scan_line starts at the beginning of `line`.
struct tg_scan tg_scan_line(const struct tg_line *line);

// tg_scan_text expects `text`; spaces in it stand for one space or more.
void tg_scan_text(struct tg_scan *scan, const char *text);

// tg_scan_count expects a decimal integer of 64 bits.
void tg_scan_count(struct tg_scan *scan, uint64_t *out);

// tg_scan_decimal expects a decimal number (tg_decimal_parse).
void tg_scan_decimal(struct tg_scan *scan, double *out);

// tg_scan_quantity expects a number with a unit (tg_quantity_parse).
void tg_scan_quantity(struct tg_scan *scan, enum tg_unit kind, double *out);

// tg_scan_end returns whether everything was found and nothing but spaces is left.
bool tg_scan_end(struct tg_scan *scan);

#endif
