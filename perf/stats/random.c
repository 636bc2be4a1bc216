#include "perf/stats/random.h"

#include <assert.h>
#include <math.h>

double tg_random_uniform(struct tg_random *random) {
  random->state += 0x9e3779b97f4a7c15u;
  uint64_t z = random->state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  // 53 bits, and half a unit so that 0 never comes out.
  return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

size_t tg_random_below(struct tg_random *random, size_t n) {
  assert(n >= 1);
  // Rounding may carry the product of the largest numbers to n itself.
  const size_t index = (size_t)(tg_random_uniform(random) * (double)n);
  return index < n ? index : n - 1;
}

double tg_random_normal(struct tg_random *random) {
  const double radius = sqrt(-2 * log(tg_random_uniform(random)));
  return radius * cos(6.283185307179586 * tg_random_uniform(random));
}
