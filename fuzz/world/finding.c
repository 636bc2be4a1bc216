#include "fuzz/world/finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MAX 1024u

static void (*retell)(void);

void tg_finding_set_retell(void (*with_trace)(void)) {
  retell = with_trace;
}

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t *len, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int added = vsnprintf(text + *len, TEXT_MAX - *len, format, args);
  va_end(args);
  *len = added < 0 ? *len : *len + (size_t)added < TEXT_MAX ? *len + (size_t)added : TEXT_MAX - 1;
}

void tg_finding(struct tg_kernel *kernel, const char *property, int client, const char *phase, const char *format,
                ...) {
  if (tg_kernel_current() != NULL) {
    tg_kernel_leave(kernel);
  }
  const struct tg_trace *trace = tg_kernel_trace(kernel);
  char text[TEXT_MAX] = "";
  size_t len = 0;
  uint64_t at_us = (tg_kernel_sim(kernel)->now_ns - trace->start_ns) / 1000;
  add(text, &len, "property %s broken at +%" PRIu64 ".%06" PRIu64 " s", property, at_us / 1000000, at_us % 1000000);
  if (client != TG_NO_CLIENT) {
    add(text, &len, ", client %d", client);
  }
  if (phase != NULL) {
    add(text, &len, ", phase %s", phase);
  }
  add(text, &len, ": ");
  va_list args;
  va_start(args, format);
  vsnprintf(text + len, TEXT_MAX - len, format, args);
  va_end(args);
  if (trace->silent && retell != NULL) {
    void (*with_trace)(void) = retell;
    retell = NULL;
    // Comes to this finding again, and does not return.
    with_trace();
    fprintf(stderr, "%s\nwith a trace the same run breaks nothing; its last lines:\n", text);
  } else {
    fprintf(stderr, "%s\ntrace, the last lines:\n", text);
  }
  tg_trace_tail(trace, stderr);
  fflush(stderr);
  abort();
}
