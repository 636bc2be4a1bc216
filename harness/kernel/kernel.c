// The kernel's life, entering and leaving it, and what is asked about its threads.
#include "harness/kernel/kernel.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/kernel/state.h"
#include "harness/kernel/trap.h"

_Thread_local struct tg_kernel *tg_kernel_inside;
_Thread_local struct tg_kernel *tg_kernel_owned;

static struct tg_kernel *the_kernel;

void tg_kernel_options_default(struct tg_kernel_options *out) {
  *out = (struct tg_kernel_options){
      .start_ns = UINT64_C(1000) * 1000000000,
      .wall_s = 1700000000,
      .call_ns = 1000,
      .max_fds = TG_KERNEL_FDS_MAX,
      .backlog_max = 4096,
      .random_seed = 1,
      .spin_calls = 100000,
  };
  tg_tcp_options_default(&out->tcp);
}

// Everything that is cheap to set; the rest is left to those who know how much of it was used.
static void set_up(struct tg_kernel *kernel, const struct tg_kernel_options *options) {
  assert(options->max_fds >= 1 && options->max_fds <= TG_KERNEL_FDS_MAX);
  assert(options->wall_s >= 0);
  kernel->options = *options;
  tg_sim_init(&kernel->sim, options->start_ns);
  tg_trace_init(&kernel->trace, &kernel->sim, options->trace);
  kernel->trace.silent = options->trace_silent;
  kernel->entered = false;
  kernel->files_allowed = false;
  kernel->hit_now = false;
  kernel->thread = 0;
  kernel->calls_made = 0;
  kernel->idle_calls = 0;
  kernel->events_seen = 0;
  kernel->spun = false;
  kernel->random_state = options->random_seed;
  kernel->timers_made = 0;
  kernel->group_orders = 0;
  kernel->next_port = 0;
  kernel->num_open = 0;
  kernel->lowest_free = 0;
  kernel->files_used = 0;
  kernel->watches_used = 0;
  kernel->free_watches = NULL;
  kernel->num_ports = 0;
  kernel->num_injections = 0;
  kernel->adapter_server = NULL;
  memset(kernel->calls, 0, sizeof(kernel->calls));
  kernel->wakeups = 0;
  kernel->quickacks = 0;
  memset(kernel->hit, 0, sizeof(kernel->hit));
  memset(kernel->threads, 0, sizeof(kernel->threads));
  tg_books_reset(&kernel->books);
  tg_kept_blocks_reset(kernel);
}

struct tg_kernel *tg_kernel_create(const struct tg_kernel_options *options) {
  assert(the_kernel == NULL);
  struct tg_kernel *kernel = calloc(1, sizeof(*kernel));
  if (kernel == NULL) {
    return NULL;
  }
  set_up(kernel, options);
  the_kernel = kernel;
  tg_kernel_owned = kernel;
  return kernel;
}

void tg_kernel_reset(struct tg_kernel *kernel, const struct tg_kernel_options *options) {
  assert(tg_kernel_owned == kernel);
  tg_kernel_inside = NULL;
  tg_connections_reset(kernel);
  for (uint32_t i = 0; i < kernel->files_used; i++) {
    kernel->files[i].kind = TG_FILE_FREE;
  }
  set_up(kernel, options);
}

void tg_kernel_destroy(struct tg_kernel *kernel) {
  if (kernel == NULL) {
    return;
  }
  assert(tg_kernel_owned == kernel);
  tg_kernel_inside = NULL;
  tg_kernel_owned = NULL;
  the_kernel = NULL;
  tg_connections_reset(kernel);
  tg_kept_blocks_free(kernel);
  tg_books_free(&kernel->books);
  free(kernel->scratch);
  free(kernel);
}

void tg_kernel_set_breach(struct tg_kernel *kernel, tg_kernel_breach breach, void *context) {
  kernel->breach = breach;
  kernel->breach_context = context;
}

void tg_kernel_enter(struct tg_kernel *kernel, uint32_t thread) {
  assert(tg_kernel_owned == kernel && tg_kernel_inside == NULL && !kernel->entered);
  assert(thread < TG_KERNEL_THREADS_MAX);
  kernel->entered = true;
  kernel->thread = thread;
  kernel->wakeups += kernel->threads[thread].parked;
  kernel->threads[thread].parked = false;
  kernel->threads[thread].epoll = NULL;
  tg_kernel_inside = kernel;
}

void tg_kernel_leave(struct tg_kernel *kernel) {
  assert(kernel->entered);
  kernel->entered = false;
  tg_kernel_inside = NULL;
}

struct tg_kernel *tg_kernel_current(void) {
  return tg_kernel_inside;
}

long tg_trap_return(struct tg_kernel *kernel, long result) {
  tg_kernel_inside = kernel;
  errno = result < 0 ? (int)-result : kernel->saved_errno;
  return result < 0 ? -1 : result;
}

// A sanitizer's report begins: what its runtime does from here on, such as starting a symbolizer, needs the real calls,
// and the run is over. The runtimes call these if they are there: sanitizer/asan_interface.h, and compiler-rt's
// ubsan_monitor.h.
__attribute__((visibility("default"))) void __asan_on_error(void);
__attribute__((visibility("default"))) void __ubsan_on_report(void);

TG_PLAIN void __asan_on_error(void) {
  tg_kernel_inside = NULL;
}

TG_PLAIN void __ubsan_on_report(void) {
  tg_kernel_inside = NULL;
}

void tg_kernel_allow_files(struct tg_kernel *kernel, bool allowed) {
  kernel->files_allowed = allowed;
}

uint64_t tg_kernel_call_ns(const struct tg_kernel *kernel) {
  return kernel->options.call_ns;
}

struct tg_sim *tg_kernel_sim(struct tg_kernel *kernel) {
  return &kernel->sim;
}

struct tg_trace *tg_kernel_trace(struct tg_kernel *kernel) {
  return &kernel->trace;
}

bool tg_kernel_runnable(struct tg_kernel *kernel, uint32_t thread) {
  assert(thread < TG_KERNEL_THREADS_MAX);
  const struct tg_thread *one = &kernel->threads[thread];
  if (one->ended) {
    return false;
  }
  if (!one->parked || one->wakes_at_ns <= kernel->sim.now_ns) {
    return true;
  }
  return tg_epoll_available(one->epoll);
}

uint64_t tg_kernel_wakes_at(struct tg_kernel *kernel, uint32_t thread) {
  assert(thread < TG_KERNEL_THREADS_MAX);
  const struct tg_thread *one = &kernel->threads[thread];
  return one->parked ? one->wakes_at_ns : kernel->sim.now_ns;
}

uint64_t tg_kernel_calls(const struct tg_kernel *kernel, enum tg_call call) {
  assert(call < TG_CALL_COUNT);
  return kernel->calls[call];
}

uint64_t tg_kernel_wakeups(const struct tg_kernel *kernel) {
  return kernel->wakeups;
}

uint64_t tg_kernel_quickacks(const struct tg_kernel *kernel) {
  return kernel->quickacks;
}
