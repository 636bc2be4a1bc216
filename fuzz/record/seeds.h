// Seeds in memory, and the folders that they are written to or compared with: DIR/TARGET/NAME.
#ifndef TLSGATE_FUZZ_RECORD_SEEDS_H
#define TLSGATE_FUZZ_RECORD_SEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/record/exchange.h"
#include "harness/base/error.h"

struct tg_seed {
  enum tg_record_target target;
  char name[TG_EXCHANGE_NAME_MAX + 16];
  uint8_t *bytes;  // owned
  size_t len;
};

struct tg_seeds {
  struct tg_seed *all;
  size_t num;
  size_t capacity;
};

// tg_seeds_add adds a copy of `bytes`, unless the target has a seed with the same contents already; then the earlier
// name stays. Returns false with `err` filled in when out of memory, or when the name is taken.
bool tg_seeds_add(struct tg_seeds *seeds, enum tg_record_target target, const char *name, const uint8_t *bytes,
                  size_t len, struct tg_error *err);
void tg_seeds_free(struct tg_seeds *seeds);

// tg_seeds_write writes every seed that differs from what is there. Returns false with `err` filled in.
bool tg_seeds_write(const struct tg_seeds *seeds, const char *folder, size_t *out_written, struct tg_error *err);

// tg_seeds_differences prints a line on stderr for each seed that is not there, or has other contents, and for each
// file directly in the folder of a target that is no seed (what fuzzers found is in found/, fixed bugs are in
// regressions/: neither is looked at). Returns how many there are, or -1 with `err` filled in.
int tg_seeds_differences(const struct tg_seeds *seeds, const char *folder, struct tg_error *err);

#endif
