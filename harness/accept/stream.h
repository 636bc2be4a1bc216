// A non-blocking socket with read-ahead and coalesced writes: one recv() may fetch many TLS records, and everything a
// step writes leaves in one send().
#ifndef TLSGATE_HARNESS_ACCEPT_STREAM_H
#define TLSGATE_HARNESS_ACCEPT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/accept/accept.h"
#include "harness/accept/block_pool.h"
#include "harness/accept/counters.h"

// TG_STREAM_IN_BLOCK is how much one recv() may fetch: four TLS records of 16 KiB of plaintext, all but a little.
#define TG_STREAM_IN_BLOCK 65536u

// TG_STREAM_OUT_LIMIT is how many bytes may wait for the socket before tg_stream_has_room says no. A 1 MiB body takes
// eight of these.
#define TG_STREAM_OUT_LIMIT 131072u

// TG_STREAM_OUT_BLOCK holds the limit and, beyond it, the TLS record that crosses it (RFC 8446, 5.2: at most 2^14 + 256
// bytes and a header; BoringSSL splits some TLS 1.2 records in two).
#define TG_STREAM_OUT_BLOCK (TG_STREAM_OUT_LIMIT + 18432u)

// TG_STREAM_TURN_BYTES bounds what a connection may receive, and send, in one run, so that one busy peer cannot hold up
// the shard's others.
#define TG_STREAM_TURN_BYTES 262144u

struct tg_stream {
  int fd;
  int error;  // errno of the call that broke the stream; 0 while it is whole
  struct tg_block_pool *in_pool;
  struct tg_block_pool *out_pool;
  struct tg_counters *counters;
  uint8_t *in;  // NULL at rest
  size_t in_at;
  size_t in_end;
  uint8_t *out;  // NULL at rest
  size_t out_at;
  size_t out_end;
  size_t out_size;
  size_t may_receive;  // in this run
  size_t may_send;     // in this run
  uint64_t received;
  uint64_t sent;
  bool drained;    // the receive queue was seen empty and the kernel has not reported more since
  bool ended;      // the peer has finished sending
  bool ending;     // the kernel has reported that it has: a short read is not the last
  bool blocked;    // the send buffer was seen full and the kernel has not reported room since
  bool throttled;  // this run's share is used up and there may be more to do
};

// tg_stream_init makes a stream over the connected socket `fd`, which stays the caller's. The pools' blocks are of
// TG_STREAM_IN_BLOCK and TG_STREAM_OUT_BLOCK bytes. bytes_read and bytes_written are counted in `counters`.
void tg_stream_init(struct tg_stream *stream, int fd, struct tg_block_pool *in_pool, struct tg_block_pool *out_pool,
                    struct tg_counters *counters);

// tg_stream_release gives the buffers back, with whatever is in them.
void tg_stream_release(struct tg_stream *stream);

// tg_stream_begin_run grants a new share of work. `events` is what epoll has reported: 0 if nothing new.
void tg_stream_begin_run(struct tg_stream *stream, uint32_t events);

// tg_stream_end_run gives back the buffers that are empty.
void tg_stream_end_run(struct tg_stream *stream);

// tg_stream_read copies up to `len` bytes to `out`, from the read-ahead buffer or, if that is empty, after one recv()
// into it. Returns the number copied, or TG_READ_AGAIN, TG_READ_EOF or TG_READ_ERROR (accept.h). TG_READ_AGAIN with
// `throttled` set means that this run's share is used up, without it that the receive queue is empty.
ssize_t tg_stream_read(struct tg_stream *stream, void *out, size_t len);

// tg_stream_discard receives and drops bytes, after those in the read-ahead buffer. Returns as tg_stream_read.
ssize_t tg_stream_discard(struct tg_stream *stream);

// tg_stream_buffered returns how many bytes are in the read-ahead buffer.
size_t tg_stream_buffered(const struct tg_stream *stream);

// tg_stream_write queues `len` bytes. It takes all of them, also beyond the limit: what a TLS library writes for itself
// is bounded by the library. Returns false if there is no memory: the stream is then broken.
bool tg_stream_write(struct tg_stream *stream, const void *data, size_t len);

// tg_stream_has_room says whether fewer than TG_STREAM_OUT_LIMIT bytes wait for the socket.
bool tg_stream_has_room(const struct tg_stream *stream);

// tg_stream_pending returns how many bytes wait for the socket.
size_t tg_stream_pending(const struct tg_stream *stream);

// tg_stream_flush offers the queued bytes to the socket. What it does not take waits until it is writable. Returns
// false if the stream is broken.
bool tg_stream_flush(struct tg_stream *stream);

#endif
