// SHA-256 of files.
#ifndef TLSGATE_PERF_CERTIFY_HASH_H
#define TLSGATE_PERF_CERTIFY_HASH_H

#include <stdbool.h>

#include "harness/base/error.h"

// Length of a digest in hexadecimal digits.
#define TG_SHA256_LEN 64

// tg_hash_file writes the SHA-256 of the file's content, in lower-case hexadecimal, to `out` and its length in bytes to
// *size. Links are followed. Returns false with `err` naming the file when it cannot be read.
bool tg_hash_file(const char *path, char out[TG_SHA256_LEN + 1], long long *size, struct tg_error *err);

#endif
