// A fuzz target with two planted faults of one name, which only the stack tells apart: what fuzzd's own test has it
// find.
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/base/target.h"

// Visible outside, so that no compiler takes the work away.
extern volatile int two_bugs_result;
volatile int two_bugs_result;

__attribute__((noinline)) static void broken(size_t size) {
  // Two inputs of one bug need not say the same.
  fprintf(stderr, "P1: the planted property is broken by %zu bytes\n", size);
  abort();
}

__attribute__((noinline)) static int look_at_first(const uint8_t *data, size_t size) {
  if (size >= 2 && data[0] == 'A' && data[1] == '1') {
    broken(size);
  }
  return data[0] == 'A';
}

__attribute__((noinline)) static int look_at_second(const uint8_t *data, size_t size) {
  if (size >= 2 && data[0] == 'B' && data[1] == '2') {
    broken(size);
  }
  return data[0] == 'B';
}

// What engines collect in their corpora.
__attribute__((noinline)) static int count_letters(const uint8_t *data, size_t size) {
  int seen = 0;
  for (size_t i = 1; i < size; i++) {
    switch (data[i]) {
      case 'x':
        seen += 1;
        break;
      case 'y':
        seen += 2;
        break;
      case 'z':
        seen *= 3;
        break;
      default:
        seen ^= 1;
    }
  }
  return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) {
    return 0;
  }
  two_bugs_result = look_at_first(data, size) + look_at_second(data, size) + count_letters(data, size);
  return 0;
}
