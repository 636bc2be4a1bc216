#include "fuzz/base/compare.h"

#include <stdlib.h>
#include <string.h>

bool tg_fuzz_compares(const uint8_t *data, size_t size) {
  const char *mode = getenv("TLSGATE_COMPARE");
  if (mode == NULL || strcmp(mode, "some") != 0) {
    return true;
  }
  // FNV-1a (Fowler, Noll, Vo; 64 bits).
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++) {
    hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
  }
  return (hash >> 32) % 4 == 0;
}
