#include "fuzz/base/count.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t handshakes;

static void print_count(void) {
  fprintf(stderr, TG_FUZZ_COUNT_LINE "%" PRIu64 "\n", handshakes);
}

void tg_fuzz_count_handshakes(uint64_t num) {
  static bool registered;
  if (!registered) {
    registered = true;
    if (getenv(TG_FUZZ_COUNT_ENV) != NULL && atexit(print_count) != 0) {
      abort();
    }
  }
  handshakes += num;
}
