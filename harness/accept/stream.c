#include "harness/accept/stream.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

void tg_stream_init(struct tg_stream *stream, int fd, struct tg_block_pool *in_pool, struct tg_block_pool *out_pool,
                    struct tg_counters *counters) {
  assert(in_pool->size == TG_STREAM_IN_BLOCK);
  assert(out_pool->size == TG_STREAM_OUT_BLOCK);
  *stream = (struct tg_stream){.fd = fd, .in_pool = in_pool, .out_pool = out_pool, .counters = counters};
}

static void release_in(struct tg_stream *stream) {
  if (stream->in != NULL) {
    tg_block_put(stream->in_pool, stream->in);
    stream->in = NULL;
  }
  stream->in_at = 0;
  stream->in_end = 0;
}

static void release_out(struct tg_stream *stream) {
  if (stream->out_size == TG_STREAM_OUT_BLOCK) {
    tg_block_put(stream->out_pool, stream->out);
  } else {
    free(stream->out);
  }
  stream->out = NULL;
  stream->out_at = 0;
  stream->out_end = 0;
  stream->out_size = 0;
}

void tg_stream_release(struct tg_stream *stream) {
  release_in(stream);
  release_out(stream);
}

void tg_stream_begin_run(struct tg_stream *stream, uint32_t events) {
  stream->may_receive = TG_STREAM_TURN_BYTES;
  stream->may_send = TG_STREAM_TURN_BYTES;
  stream->throttled = false;
  const uint32_t broken = EPOLLERR | EPOLLHUP;
  if ((events & (EPOLLIN | EPOLLRDHUP | broken)) != 0) {
    stream->drained = false;
  }
  if ((events & (EPOLLOUT | broken)) != 0) {
    stream->blocked = false;
  }
  if ((events & (EPOLLRDHUP | broken)) != 0) {
    stream->ending = true;
  }
}

void tg_stream_end_run(struct tg_stream *stream) {
  if (tg_stream_buffered(stream) == 0) {
    release_in(stream);
  }
  if (tg_stream_pending(stream) == 0) {
    release_out(stream);
  }
}

static ssize_t broken(struct tg_stream *stream, int error) {
  assert(error != 0);
  stream->error = error;
  return TG_READ_ERROR;
}

// Receives into the empty read-ahead buffer. Returns as tg_stream_read, the number being that received.
static ssize_t receive(struct tg_stream *stream) {
  assert(tg_stream_buffered(stream) == 0);
  if (stream->error != 0) {
    return TG_READ_ERROR;
  }
  if (stream->ended) {
    return TG_READ_EOF;
  }
  if (stream->drained) {
    return TG_READ_AGAIN;
  }
  if (stream->may_receive == 0) {
    stream->throttled = true;
    return TG_READ_AGAIN;
  }
  if (stream->in == NULL) {
    stream->in = tg_block_get(stream->in_pool);
    if (stream->in == NULL) {
      return broken(stream, ENOMEM);
    }
  }
  ssize_t got;
  do {
    got = recv(stream->fd, stream->in, TG_STREAM_IN_BLOCK, 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      return broken(stream, errno);
    }
    stream->drained = true;
    return TG_READ_AGAIN;
  }
  if (got == 0) {
    stream->ended = true;
    return TG_READ_EOF;
  }
  size_t len = (size_t)got;
  // A short read has emptied the queue, but for a FIN that is known to be there. What came since is reported by epoll,
  // which is level-triggered.
  stream->drained = len < TG_STREAM_IN_BLOCK && !stream->ending;
  stream->may_receive -= len < stream->may_receive ? len : stream->may_receive;
  stream->received += len;
  stream->counters->bytes_read += len;
  stream->in_at = 0;
  stream->in_end = len;
  return got;
}

ssize_t tg_stream_read(struct tg_stream *stream, void *out, size_t len) {
  assert(len > 0);
  if (tg_stream_buffered(stream) == 0) {
    ssize_t got = receive(stream);
    if (got < 0) {
      return got;
    }
  }
  size_t copied = tg_stream_buffered(stream);
  if (copied > len) {
    copied = len;
  }
  memcpy(out, stream->in + stream->in_at, copied);
  stream->in_at += copied;
  return (ssize_t)copied;
}

ssize_t tg_stream_discard(struct tg_stream *stream) {
  ssize_t got = (ssize_t)tg_stream_buffered(stream);
  if (got == 0) {
    got = receive(stream);
  }
  stream->in_at = stream->in_end;
  return got;
}

size_t tg_stream_buffered(const struct tg_stream *stream) {
  assert(stream->in_at <= stream->in_end);
  return stream->in_end - stream->in_at;
}

// Makes room for `len` more bytes after out_end.
static bool reserve(struct tg_stream *stream, size_t len) {
  if (len <= stream->out_size - stream->out_end) {
    return true;
  }
  size_t pending = tg_stream_pending(stream);
  size_t needed = pending + len;
  if (needed <= stream->out_size) {
    memmove(stream->out, stream->out + stream->out_at, pending);
    stream->out_at = 0;
    stream->out_end = pending;
    return true;
  }
  size_t size = TG_STREAM_OUT_BLOCK;
  while (size < needed) {
    size *= 2;
  }
  uint8_t *out = size == TG_STREAM_OUT_BLOCK ? tg_block_get(stream->out_pool) : malloc(size);
  if (out == NULL) {
    return false;
  }
  if (pending > 0) {
    memcpy(out, stream->out + stream->out_at, pending);
  }
  release_out(stream);
  stream->out = out;
  stream->out_end = pending;
  stream->out_size = size;
  return true;
}

bool tg_stream_write(struct tg_stream *stream, const void *data, size_t len) {
  if (stream->error != 0) {
    return false;
  }
  if (!reserve(stream, len)) {
    stream->error = ENOMEM;
    return false;
  }
  memcpy(stream->out + stream->out_end, data, len);
  stream->out_end += len;
  return true;
}

bool tg_stream_has_room(const struct tg_stream *stream) {
  return tg_stream_pending(stream) < TG_STREAM_OUT_LIMIT;
}

size_t tg_stream_pending(const struct tg_stream *stream) {
  assert(stream->out_at <= stream->out_end);
  return stream->out_end - stream->out_at;
}

bool tg_stream_flush(struct tg_stream *stream) {
  if (stream->error != 0) {
    return false;
  }
  while (tg_stream_pending(stream) > 0 && !stream->blocked) {
    if (stream->may_send == 0) {
      stream->throttled = true;
      return true;
    }
    size_t len = tg_stream_pending(stream);
    ssize_t put = send(stream->fd, stream->out + stream->out_at, len, MSG_NOSIGNAL);
    if (put < 0) {
      if (errno == EINTR) {
        continue;
      }
      if (errno != EAGAIN && errno != EWOULDBLOCK) {
        stream->error = errno;
        return false;
      }
      stream->blocked = true;
      return true;
    }
    size_t taken = (size_t)put;
    // A short send has filled the buffer.
    stream->blocked = taken < len;
    stream->may_send -= taken < stream->may_send ? taken : stream->may_send;
    stream->sent += taken;
    stream->counters->bytes_written += taken;
    stream->out_at += taken;
  }
  if (tg_stream_pending(stream) == 0) {
    stream->out_at = 0;
    stream->out_end = 0;
  }
  return true;
}
