// The bytes of one direction, from the oldest the reader has not read to the newest the writer has written. Positions
// count from 0 and only grow. A ring that grows as needed; running out of memory ends the program.
#ifndef TLSGATE_HARNESS_KERNEL_TCP_STREAM_H
#define TLSGATE_HARNESS_KERNEL_TCP_STREAM_H

#include <stddef.h>
#include <stdint.h>

struct tg_tcp_stream {
  uint8_t *bytes;
  size_t capacity;  // a power of two, or 0 before the first byte
  uint64_t read;
  uint64_t written;
};

// tg_tcp_stream_write appends `len` bytes.
void tg_tcp_stream_write(struct tg_tcp_stream *stream, const void *data, size_t len);

// tg_tcp_stream_copy copies the `len` oldest bytes; tg_tcp_stream_skip forgets them. There must be as many.
void tg_tcp_stream_copy(const struct tg_tcp_stream *stream, void *out, size_t len);
void tg_tcp_stream_skip(struct tg_tcp_stream *stream, size_t len);

void tg_tcp_stream_free(struct tg_tcp_stream *stream);

#endif
