#include "fuzz/world/bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

uint8_t *tg_bytes_reserve(struct tg_bytes *bytes, size_t len) {
  if (bytes->at == bytes->end) {
    bytes->at = bytes->end = 0;
  }
  if (bytes->size - bytes->end < len) {
    size_t size = bytes->size < 4096 ? 4096 : bytes->size;
    while (size - bytes->end < len) {
      size *= 2;
    }
    bytes->data = realloc(bytes->data, size);
    if (bytes->data == NULL) {
      abort();
    }
    bytes->size = size;
  }
  return bytes->data + bytes->end;
}

void tg_bytes_add(struct tg_bytes *bytes, const void *data, size_t len) {
  if (len > 0) {
    memcpy(tg_bytes_reserve(bytes, len), data, len);
    bytes->end += len;
  }
}

void tg_bytes_take(struct tg_bytes *bytes, size_t len) {
  assert(len <= tg_bytes_left(bytes));
  bytes->at += len;
}

void tg_bytes_free(struct tg_bytes *bytes) {
  free(bytes->data);
  *bytes = (struct tg_bytes){0};
}
