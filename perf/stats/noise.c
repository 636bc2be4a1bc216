#include "perf/stats/noise.h"

#include <math.h>

double tg_noise_next(struct tg_noise *noise, struct tg_random *random) {
  const double fresh = tg_random_normal(random);
  const double r = noise->correlation;
  noise->last = noise->started ? r * noise->last + sqrt(1 - r * r) * fresh : fresh;
  noise->started = true;
  return noise->last;
}
