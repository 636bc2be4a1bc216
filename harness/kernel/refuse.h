// The shape of a wrapped call that a run must not make: outside it is the real one, inside it aborts by name.
#ifndef TLSGATE_HARNESS_KERNEL_REFUSE_H
#define TLSGATE_HARNESS_KERNEL_REFUSE_H

#include "harness/kernel/trap.h"

// tg_refuse_inside returns outside, and inside while files are allowed; otherwise it aborts (tg_refuse).
void tg_refuse_inside(const char *call);

#define REFUSE(type, name, params, args) \
  type __real_##name params;             \
  type __wrap_##name params;             \
  TG_PLAIN type __wrap_##name params {   \
    tg_refuse_inside(#name);             \
    return __real_##name args;           \
  }

#define REFUSE_VOID(name, params, args) \
  void __real_##name params;            \
  void __wrap_##name params;            \
  TG_PLAIN void __wrap_##name params {  \
    tg_refuse_inside(#name);            \
    __real_##name args;                 \
  }

#endif
