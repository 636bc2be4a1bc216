// X_seed_corpus.zip.
#ifndef TLSGATE_FUZZ_OSS_FUZZ_CHECK_SEEDS_H
#define TLSGATE_FUZZ_OSS_FUZZ_CHECK_SEEDS_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

// tg_seeds_unpack unpacks `zip` into `folder`, which it makes, and counts what is in it. Returns false with `err`
// filled in when it cannot be unpacked (package unzip), is empty, or a seed is longer than `max_len` bytes (0: any).
bool tg_seeds_unpack(const char *zip, const char *folder, unsigned max_len, size_t *num, struct tg_error *err);

#endif
