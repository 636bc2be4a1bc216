#include "harness/kernel/trace.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>

#define FNV_OFFSET UINT64_C(14695981039346656037)
#define FNV_PRIME  UINT64_C(1099511628211)

void tg_trace_init(struct tg_trace *trace, const struct tg_sim *sim, FILE *stream) {
  trace->sim = sim;
  trace->start_ns = sim->now_ns;
  trace->stream = stream;
  trace->silent = false;
  trace->hash = FNV_OFFSET;
  trace->lines = 0;
}

void tg_trace_line(struct tg_trace *trace, const char *format, ...) {
  if (trace == NULL || trace->silent) {
    return;
  }
  char *line = trace->ring[trace->lines % TG_TRACE_LINES];
  uint64_t since_us = (trace->sim->now_ns - trace->start_ns) / 1000;
  int head = snprintf(line, TG_TRACE_LINE_LEN, "+%" PRIu64 ".%06" PRIu64 " ", since_us / 1000000, since_us % 1000000);
  assert(head > 0 && (size_t)head < TG_TRACE_LINE_LEN);
  va_list args;
  va_start(args, format);
  int body = vsnprintf(line + head, TG_TRACE_LINE_LEN - (size_t)head, format, args);
  va_end(args);
  assert(body >= 0);
  trace->lines++;
  for (const char *at = line; *at != '\0'; at++) {
    trace->hash = (trace->hash ^ (unsigned char)*at) * FNV_PRIME;
  }
  trace->hash = (trace->hash ^ '\n') * FNV_PRIME;
  if (trace->stream != NULL) {
    fprintf(trace->stream, "%s\n", line);
  }
}

void tg_trace_tail(const struct tg_trace *trace, FILE *to) {
  uint64_t first = trace->lines > TG_TRACE_LINES ? trace->lines - TG_TRACE_LINES : 0;
  for (uint64_t at = first; at < trace->lines; at++) {
    fprintf(to, "%s\n", trace->ring[at % TG_TRACE_LINES]);
  }
}
