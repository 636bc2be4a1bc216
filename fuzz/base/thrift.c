#include "fuzz/base/thrift.h"

#include <stdlib.h>
#include <string.h>

// A program for the fuzzing service is compiled with 1: nobody there sets the variable.
#ifndef TG_FUZZ_THRIFT_DEFAULT
#define TG_FUZZ_THRIFT_DEFAULT 0
#endif

// FNV-1a (Fowler, Noll, Vo; 64 bits). What it compares teaches a fuzzer nothing.
__attribute__((no_sanitize("coverage", "address", "undefined"))) static uint64_t hash_of(const uint8_t *data,
                                                                                         size_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++) {
    hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

bool tg_fuzz_thrifty(void) {
  static bool known;
  static bool thrifty;
  if (!known) {
    const char *thrift = getenv(TG_FUZZ_THRIFT_ENV);
    thrifty = thrift == NULL ? TG_FUZZ_THRIFT_DEFAULT != 0 : strcmp(thrift, "1") == 0;
    known = true;
  }
  return thrifty;
}

bool tg_fuzz_all_sides(const uint8_t *data, size_t size) {
  return !tg_fuzz_thrifty() || (hash_of(data, size) >> 32) % TG_FUZZ_ALL_SIDES == 0;
}
