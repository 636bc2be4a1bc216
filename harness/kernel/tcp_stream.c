#include "harness/kernel/tcp_stream.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4096u

static void place(uint8_t *ring, size_t capacity, uint64_t at, const uint8_t *data, size_t len) {
  size_t offset = at & (capacity - 1);
  size_t head = len < capacity - offset ? len : capacity - offset;
  memcpy(ring + offset, data, head);
  memcpy(ring, data + head, len - head);
}

static void grow(struct tg_tcp_stream *stream, size_t needed) {
  size_t capacity = stream->capacity > 0 ? stream->capacity : FIRST_CAPACITY;
  while (capacity < needed) {
    capacity *= 2;
  }
  uint8_t *bytes = malloc(capacity);
  if (bytes == NULL) {
    fprintf(stderr, "tcp: no memory for %zu bytes of a stream\n", capacity);
    abort();
  }
  if (stream->capacity > 0) {
    // Both parts of the old ring, each to where its positions are in the new one.
    size_t len = (size_t)(stream->written - stream->read);
    size_t offset = stream->read & (stream->capacity - 1);
    size_t head = len < stream->capacity - offset ? len : stream->capacity - offset;
    place(bytes, capacity, stream->read, stream->bytes + offset, head);
    place(bytes, capacity, stream->read + head, stream->bytes, len - head);
  }
  free(stream->bytes);
  stream->bytes = bytes;
  stream->capacity = capacity;
}

void tg_tcp_stream_write(struct tg_tcp_stream *stream, const void *data, size_t len) {
  if (len == 0) {
    return;
  }
  size_t needed = (size_t)(stream->written - stream->read) + len;
  if (needed > stream->capacity) {
    grow(stream, needed);
  }
  place(stream->bytes, stream->capacity, stream->written, data, len);
  stream->written += len;
}

void tg_tcp_stream_copy(const struct tg_tcp_stream *stream, void *out, size_t len) {
  assert(len <= stream->written - stream->read);
  if (len == 0) {
    return;
  }
  size_t offset = stream->read & (stream->capacity - 1);
  size_t head = len < stream->capacity - offset ? len : stream->capacity - offset;
  memcpy(out, stream->bytes + offset, head);
  memcpy((uint8_t *)out + head, stream->bytes, len - head);
}

void tg_tcp_stream_skip(struct tg_tcp_stream *stream, size_t len) {
  assert(len <= stream->written - stream->read);
  stream->read += len;
}

void tg_tcp_stream_free(struct tg_tcp_stream *stream) {
  free(stream->bytes);
  *stream = (struct tg_tcp_stream){0};
}
