// A growing buffer.
#ifndef TLSGATE_FUZZ_WORLD_BYTES_H
#define TLSGATE_FUZZ_WORLD_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct tg_bytes {
  uint8_t *data;
  size_t at;   // of the first byte that is not taken
  size_t end;  // behind the last
  size_t size;
};

static inline size_t tg_bytes_left(const struct tg_bytes *bytes) {
  return bytes->end - bytes->at;
}

// tg_bytes_reserve returns room for `len` bytes at the end; tg_bytes_add then counts them in. Aborts when out of
// memory.
uint8_t *tg_bytes_reserve(struct tg_bytes *bytes, size_t len);
void tg_bytes_add(struct tg_bytes *bytes, const void *data, size_t len);
void tg_bytes_take(struct tg_bytes *bytes, size_t len);
void tg_bytes_free(struct tg_bytes *bytes);

#endif
