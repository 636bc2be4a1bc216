// What the wrap_*.c files share: the shape of a wrapped call. The linker sends every reference to X to __wrap_X, and
// __real_X to X (ld's --wrap).
#ifndef TLSGATE_HARNESS_KERNEL_WRAP_H
#define TLSGATE_HARNESS_KERNEL_WRAP_H

#include <stddef.h>

#include "harness/kernel/trap.h"

// TG_WRAP defines __wrap_NAME: `modelled` is the call inside, with `kernel` in scope.
#define TG_WRAP(type, name, params, args, modelled)                                        \
  type __real_##name params;                                                               \
  type __wrap_##name params;                                                               \
  TG_PLAIN type __wrap_##name params {                                                     \
    struct tg_kernel *kernel = tg_trap();                                                  \
    return kernel == NULL ? __real_##name args : (type)tg_trap_return(kernel, (modelled)); \
  }

_Noreturn void __chk_fail(void);  // the C library's "buffer overflow detected"

static inline size_t tg_checked(size_t len, size_t size) {
  if (len > size) {
    __chk_fail();
  }
  return len;
}

#endif
