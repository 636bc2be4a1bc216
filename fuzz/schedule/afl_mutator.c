#include "fuzz/schedule/afl_mutator.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/schedule/mutate.h"
#include "fuzz/schedule/rng.h"
#include "fuzz/schedule/schedule.h"

#define CROSS_OVER_ONE_IN 6u

struct afl_mutator {
  struct tg_rng rng;
  uint8_t mutant[TG_SCHEDULE_BYTES_MAX];
};

void *afl_custom_init(void *afl, unsigned seed) {
  (void)afl;
  struct afl_mutator *mutator = calloc(1, sizeof(*mutator));
  if (mutator != NULL) {
    mutator->rng.state = seed;
  }
  return mutator;
}

size_t afl_custom_fuzz(void *state, uint8_t *data, size_t size, uint8_t **out, uint8_t *add, size_t add_size,
                       size_t max_size) {
  struct afl_mutator *mutator = state;
  // Bytes past the longest schedule mean nothing.
  if (max_size > sizeof(mutator->mutant)) {
    max_size = sizeof(mutator->mutant);
  }
  *out = mutator->mutant;
  const unsigned seed = (unsigned)tg_rng_next(&mutator->rng);
  if (add != NULL && tg_rng_one_in(&mutator->rng, CROSS_OVER_ONE_IN)) {
    return tg_schedule_cross_over(data, size, add, add_size, mutator->mutant, max_size, seed);
  }
  if (size > max_size) {
    size = max_size;
  }
  memcpy(mutator->mutant, data, size);
  return tg_schedule_mutate(mutator->mutant, size, max_size, seed, NULL);
}

void afl_custom_deinit(void *state) {
  free(state);
}
