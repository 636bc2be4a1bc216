#include "fuzz/world/finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tg_finding(struct tg_kernel *kernel, const char *property, int client, const char *phase, const char *format,
                ...) {
  if (tg_kernel_current() != NULL) {
    tg_kernel_leave(kernel);
  }
  const struct tg_trace *trace = tg_kernel_trace(kernel);
  uint64_t at_us = (tg_kernel_sim(kernel)->now_ns - trace->start_ns) / 1000;
  fprintf(stderr, "property %s broken at +%" PRIu64 ".%06" PRIu64 " s", property, at_us / 1000000, at_us % 1000000);
  if (client != TG_NO_CLIENT) {
    fprintf(stderr, ", client %d", client);
  }
  if (phase != NULL) {
    fprintf(stderr, ", phase %s", phase);
  }
  fprintf(stderr, ": ");
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fprintf(stderr, "\ntrace, the last lines:\n");
  tg_trace_tail(trace, stderr);
  fflush(stderr);
  abort();
}
