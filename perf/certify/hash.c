#include "perf/certify/hash.h"

#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 65536

bool tg_hash_file(const char *path, char out[TG_SHA256_LEN + 1], long long *size, struct tg_error *err) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    tg_error_set(err, "%s: %s", path, strerror(errno));
    return false;
  }
  static unsigned char block[BLOCK];
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_CTX sha;
  SHA256_Init(&sha);
  *size = 0;
  for (size_t got; (got = fread(block, 1, sizeof(block), file)) > 0;) {
    SHA256_Update(&sha, block, got);
    *size += (long long)got;
  }
  bool failed = ferror(file) != 0;
  int error = errno;
  (void)fclose(file);
  if (failed) {
    tg_error_set(err, "%s: %s", path, strerror(error));
    return false;
  }
  SHA256_Final(digest, &sha);
  for (size_t i = 0; i < sizeof(digest); i++) {
    (void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
  }
  return true;
}
