// Bytes that wait: output that did not fit, or pipelined input behind it. Empty, it owns nothing.
#ifndef TLSGATE_HARNESS_SERVER_HELD_BYTES_H
#define TLSGATE_HARNESS_SERVER_HELD_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tg_held_bytes {
  uint8_t *data;  // NULL when empty
  size_t at;
  size_t len;
};

// tg_held_bytes_set keeps a copy of `len` bytes in an empty `held`. Returns false when out of memory.
bool tg_held_bytes_set(struct tg_held_bytes *held, const void *data, size_t len);

// tg_held_bytes_left returns how many bytes wait, and points `*out` at them.
size_t tg_held_bytes_left(const struct tg_held_bytes *held, const uint8_t **out);

// tg_held_bytes_drop removes the first `len` bytes; after the last one the memory is freed.
void tg_held_bytes_drop(struct tg_held_bytes *held, size_t len);

// tg_held_bytes_clear removes all.
void tg_held_bytes_clear(struct tg_held_bytes *held);

#endif
