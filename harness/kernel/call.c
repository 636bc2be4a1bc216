#include "harness/kernel/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/kernel/refuse.h"
#include "harness/kernel/state.h"
#include "harness/kernel/trap.h"

const char *tg_call_name(enum tg_call call) {
  static const char *const kNames[TG_CALL_COUNT] = {
#define TG_CALL_TEXT(name, text) text,
      TG_CALLS(TG_CALL_TEXT)
#undef TG_CALL_TEXT
  };
  assert(call < TG_CALL_COUNT);
  return kNames[call];
}

// How many events have run since the simulation began: those posted, less those that still wait.
static uint64_t events_run(const struct tg_sim *sim) {
  return sim->posted - sim->queue[TG_SIM_NETWORK].len - sim->queue[TG_SIM_DRIVER].len;
}

void tg_call_progress(struct tg_kernel *kernel) {
  kernel->idle_calls = 0;
}

static void watch_for_spinning(struct tg_kernel *kernel) {
  uint64_t run = events_run(&kernel->sim);
  if (run != kernel->events_seen) {
    kernel->events_seen = run;
    kernel->idle_calls = 0;
  }
  if (++kernel->idle_calls > kernel->options.spin_calls) {
    kernel->idle_calls = 0;
    kernel->spun = true;
    tg_breach(kernel, "P10", "spinning: %" PRIu32 " calls of thread %" PRIu32 " in a row moved nothing",
              kernel->options.spin_calls, kernel->thread);
  }
}

// Whoever moves a little with every call is not spinning, but must come to an end.
static void watch_for_the_end(struct tg_kernel *kernel) {
  if (++kernel->calls_made > kernel->options.calls_max && kernel->options.calls_max > 0) {
    kernel->calls_made = 0;
    kernel->spun = true;
    tg_breach(kernel, "P10", "endless: %" PRIu64 " calls and the run is not over", kernel->options.calls_max);
  }
}

int tg_call_begin(struct tg_kernel *kernel, enum tg_call call, size_t *limit) {
  kernel->calls[call]++;
  tg_sim_pass_to(&kernel->sim, kernel->sim.now_ns + kernel->options.call_ns);
  watch_for_spinning(kernel);
  watch_for_the_end(kernel);
  kernel->hit_now = false;
  return tg_inject(kernel, call, limit);
}

long tg_call_end(struct tg_kernel *kernel, long result, const char *format, ...) {
  if (kernel->trace.silent) {
    return result;
  }
  char text[TG_TRACE_LINE_LEN];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  const char *why = kernel->hit_now ? " (injected)" : "";
  if (result < 0) {
    const char *name = strerrorname_np((int)-result);
    tg_trace_line(&kernel->trace, "s%" PRIu32 " %s = -1 %s%s", kernel->thread, text, name == NULL ? "?" : name, why);
  } else {
    tg_trace_line(&kernel->trace, "s%" PRIu32 " %s = %ld%s", kernel->thread, text, result, why);
  }
  return result;
}

void tg_breach(struct tg_kernel *kernel, const char *property, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  tg_trace_line(&kernel->trace, "s%" PRIu32 " breach of %s: %s", kernel->thread, property, text);
  if (kernel->breach != NULL) {
    kernel->breach(kernel->breach_context, property, text);
    return;
  }
  fprintf(stderr, "breach of %s at %" PRIu64 " ns: %s\n", property, kernel->sim.now_ns, text);
  tg_trace_tail(&kernel->trace, stderr);
  abort();
}

void tg_refuse(struct tg_kernel *kernel, const char *call) {
  tg_breach(kernel, "unmodelled", "%s() is not modelled", call);
  fprintf(stderr, "simulated kernel: the run cannot go on after %s()\n", call);
  abort();
}

TG_PLAIN void tg_refuse_inside(const char *call) {
  struct tg_kernel *kernel = tg_trap();
  if (kernel != NULL) {
    if (!kernel->files_allowed) {
      tg_refuse(kernel, call);
    }
    tg_kernel_inside = kernel;
  }
}
