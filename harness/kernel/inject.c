#include <assert.h>

#include "harness/kernel/state.h"

bool tg_kernel_inject(struct tg_kernel *kernel, const struct tg_injection *injection) {
  assert(injection->call < TG_CALL_COUNT);
  assert(injection->error >= 0);
  assert(injection->error != 0 ||
         ((injection->call == TG_CALL_RECV || injection->call == TG_CALL_SEND) && injection->limit > 0));
  if (kernel->num_injections == TG_INJECTIONS_MAX) {
    return false;
  }
  kernel->injections[kernel->num_injections++] = (struct tg_installed){.what = *injection};
  return true;
}

void tg_kernel_clear_injections(struct tg_kernel *kernel) {
  kernel->num_injections = 0;
}

bool tg_kernel_was_hit(const struct tg_kernel *kernel, enum tg_call call) {
  assert(call < TG_CALL_COUNT);
  return kernel->hit[call];
}

static bool hits(const struct tg_installed *installed) {
  const struct tg_injection *what = &installed->what;
  return installed->seen > what->skip && (what->times == 0 || installed->seen - what->skip <= what->times);
}

int tg_inject(struct tg_kernel *kernel, enum tg_call call, size_t *limit) {
  int error = 0;
  for (uint32_t i = 0; i < kernel->num_injections; i++) {
    struct tg_installed *installed = &kernel->injections[i];
    if (installed->what.call != call) {
      continue;
    }
    installed->seen++;
    if (!hits(installed)) {
      continue;
    }
    kernel->hit[call] = true;
    kernel->hit_now = true;
    if (installed->what.error != 0) {
      // The first that was installed decides; the others go on counting.
      error = error == 0 ? installed->what.error : error;
    } else if (limit != NULL && *limit > installed->what.limit) {
      *limit = installed->what.limit;
    }
  }
  return error;
}
