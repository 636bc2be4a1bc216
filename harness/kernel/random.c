// getrandom: a sequence that the seed decides.
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "harness/kernel/state.h"
#include "harness/kernel/sys.h"

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
static uint64_t next(struct tg_kernel *kernel) {
  uint64_t z = kernel->random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static long fill(struct tg_kernel *kernel, void *out, size_t len, unsigned flags) {
  if ((flags & ~(unsigned)(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE)) != 0) {
    return -EINVAL;
  }
  if (out == NULL && len > 0) {
    return -EFAULT;
  }
  char *bytes = out;
  for (size_t at = 0; at < len; at += sizeof(uint64_t)) {
    uint64_t word = next(kernel);
    memcpy(bytes + at, &word, len - at < sizeof(word) ? len - at : sizeof(word));
  }
  return (long)len;
}

long tg_sys_getrandom(struct tg_kernel *kernel, void *out, size_t len, unsigned flags) {
  int injected = tg_call_begin(kernel, TG_CALL_RANDOM, NULL);
  long result = injected != 0 ? -injected : fill(kernel, out, len, flags);
  return tg_call_end(kernel, result, "getrandom(%zu)", len);
}
