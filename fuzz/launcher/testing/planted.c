// A fuzz target with three planted faults: what the launcher's own test has the engines find.
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/base/target.h"

// Visible outside, so that no compiler takes the allocation away.
extern void *volatile planted_lost;
void *volatile planted_lost;

static uint64_t fnv1a(const uint8_t *data, size_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++) {
    hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size >= 3 && data[0] == 'B' && data[1] == 'U' && data[2] == 'G') {
    fprintf(stderr, "P5: the planted property is broken\n");
    abort();
  }
  // Only a sanitizer sees this one, and no engine finds it: "LEAK", by its hash.
  if (fnv1a(data, size) == UINT64_C(0xbc3588b55987cbae)) {
    planted_lost = malloc(16);
    planted_lost = NULL;
  }
  // And this one only MemorySanitizer: "UNSET".
  if (fnv1a(data, size) == UINT64_C(0xa046dea9784ad4da)) {
    planted_lost = malloc(16);
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): this is what it is to report
    if (planted_lost != NULL && ((volatile uint8_t *)planted_lost)[3] == 'x') {
      fputs("by chance\n", stderr);
    }
    free(planted_lost);
    planted_lost = NULL;
  }
  return 0;
}
