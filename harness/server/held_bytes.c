#include "harness/server/held_bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool tg_held_bytes_set(struct tg_held_bytes *held, const void *data, size_t len) {
  assert(held->data == NULL);
  if (len == 0) {
    return true;
  }
  held->data = malloc(len);
  if (held->data == NULL) {
    return false;
  }
  memcpy(held->data, data, len);
  held->at = 0;
  held->len = len;
  return true;
}

size_t tg_held_bytes_left(const struct tg_held_bytes *held, const uint8_t **out) {
  *out = held->data == NULL ? NULL : held->data + held->at;
  return held->len - held->at;
}

void tg_held_bytes_drop(struct tg_held_bytes *held, size_t len) {
  assert(len <= held->len - held->at);
  held->at += len;
  if (held->at == held->len) {
    tg_held_bytes_clear(held);
  }
}

void tg_held_bytes_clear(struct tg_held_bytes *held) {
  free(held->data);
  *held = (struct tg_held_bytes){0};
}
