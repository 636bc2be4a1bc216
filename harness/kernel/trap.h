// How a wrapped call gets into the simulated kernel and out again.
#ifndef TLSGATE_HARNESS_KERNEL_TRAP_H
#define TLSGATE_HARNESS_KERNEL_TRAP_H

#include <errno.h>
#include <stddef.h>

#include "harness/kernel/state.h"

extern _Thread_local struct tg_kernel *tg_kernel_inside;  // set: this thread's calls are the kernel's
extern _Thread_local struct tg_kernel *tg_kernel_owned;   // the kernel that this thread has made

// The wrapped calls are those of the sanitizers' runtimes too, which make some before they are ready to have their
// callers watched.
#define TG_PLAIN __attribute__((no_sanitize("address", "memory", "thread", "undefined")))

// tg_trap returns the kernel if the caller is inside it, else NULL. Until tg_trap_return the calls are the real ones
// again, those of the kernel itself among them.
TG_PLAIN static inline struct tg_kernel *tg_trap(void) {
  struct tg_kernel *kernel = tg_kernel_inside;
  if (kernel != NULL) {
    kernel->saved_errno = errno;
    tg_kernel_inside = NULL;
  }
  return kernel;
}

// tg_trap_return goes back to the caller: a negative `result` is an error number and becomes -1 and errno, any other
// leaves errno as it was.
long tg_trap_return(struct tg_kernel *kernel, long result);

#endif
