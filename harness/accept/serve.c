// OPEN: the application reads, writes, and says what it wants next.
#include <assert.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#include "harness/accept/conn.h"
#include "harness/accept/quickack.h"

// RFC 8446, 5.1: the plaintext of a record.
enum { kRecordSize = 16384 };

// How many callbacks a run makes at most: a peer that pipelines requests of a few bytes would otherwise keep the shard
// for the whole of the bytes that a run may receive.
enum { kCallbacksPerRun = 64 };

static ssize_t read_early(struct tg_early_data *early, void *out, size_t len) {
  size_t copied = early->end - early->at;
  if (copied > len) {
    copied = len;
  }
  memcpy(out, early->bytes + early->at, copied);
  early->at += copied;
  if (early->at == early->end) {
    tg_early_data_free(early);
  }
  return (ssize_t)copied;
}

static ssize_t read_tls(struct tg_conn *conn, void *out, size_t len) {
  if (conn->early.at < conn->early.end) {
    return read_early(&conn->early, out, len);
  }
  int got = SSL_read(conn->ssl, out, len > INT_MAX ? INT_MAX : (int)len);
  if (got > 0) {
    return got;
  }
  int error = SSL_get_error(conn->ssl, got);
  ERR_clear_error();
  switch (error) {
    case SSL_ERROR_WANT_READ:
      return TG_READ_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
      return TG_READ_EOF;
    case SSL_ERROR_SYSCALL:
      return conn->stream.error == 0 && conn->stream.ended ? TG_READ_EOF : TG_READ_ERROR;
    default:
      conn->protocol_error = true;
      return TG_READ_ERROR;
  }
}

ssize_t tg_conn_read(struct tg_conn *conn, void *out, size_t len) {
  assert(len > 0);
  if (conn->protocol_error) {
    return TG_READ_ERROR;
  }
  ssize_t got = conn->ssl != NULL ? read_tls(conn, out, len) : tg_stream_read(&conn->stream, out, len);
  if (got == TG_READ_AGAIN) {
    conn->exhausted = !conn->stream.throttled;
  } else if (got == TG_READ_EOF) {
    conn->exhausted = true;
    conn->saw_end = true;
  }
  return got;
}

size_t tg_conn_write(struct tg_conn *conn, const void *data, size_t len) {
  const uint8_t *bytes = data;
  size_t written = 0;
  while (written < len && tg_stream_has_room(&conn->stream)) {
    size_t part = len - written < kRecordSize ? len - written : kRecordSize;
    if (conn->ssl == NULL) {
      if (!tg_stream_write(&conn->stream, bytes + written, part)) {
        break;
      }
    } else if (SSL_write(conn->ssl, bytes + written, (int)part) != (int)part) {
      // The stream takes everything, so this is an error, not a full buffer.
      ERR_clear_error();
      conn->protocol_error = true;
      break;
    }
    written += part;
    conn->wrote = true;
  }
  return written;
}

bool tg_conn_is_tls(const struct tg_conn *conn) {
  return conn->ssl != NULL;
}

bool tg_conn_over_capacity(const struct tg_conn *conn) {
  return conn->over_capacity;
}

// Calls the application for what is due. Returns false if nothing is.
static bool call_application(struct tg_conn *conn, enum tg_app_next *out_next) {
  const struct tg_app *app = conn->shard->config.app;
  // Asked between requests only when the input that is there has been seen: the next request may be in it.
  if (conn->ask_finish && (conn->exhausted || conn->next != TG_APP_IDLE)) {
    conn->ask_finish = false;
    *out_next = app->finish_requested(conn->app_state, conn);
    return true;
  }
  if (conn->next == TG_APP_WRITE) {
    if (tg_stream_pending(&conn->stream) > 0) {
      return false;
    }
    *out_next = app->writable(conn->app_state, conn);
    return true;
  }
  if (conn->exhausted) {
    return false;
  }
  *out_next = app->readable(conn->app_state, conn);
  return true;
}

static void finish(struct tg_conn *conn) {
  conn->finishing = true;
  tg_conn_say_goodbye(conn);
}

// Takes the application's answer. Returns false if the connection is over.
static bool take_answer(struct tg_conn *conn, enum tg_app_next answer) {
  enum tg_app_next before = conn->next;
  conn->next = answer;
  switch (answer) {
    case TG_APP_IDLE:
    case TG_APP_PARTIAL:
      if (conn->saw_end) {
        // Nothing more will come, and nothing is owed.
        finish(conn);
      } else if (before == TG_APP_WRITE) {
        // Input was held back, and the application may itself hold some that it has not looked at.
        conn->exhausted = false;
      }
      return true;
    case TG_APP_WRITE:
      return true;
    case TG_APP_FINISH:
      finish(conn);
      return true;
    case TG_APP_ABORT:
      return false;
  }
  return false;
}

// Flushes the ACK that a peer with more in its hands may wait for: the rest of a request, or of a record, or what
// follows a record that the application never sees. A response sent in this run has carried the ACK, unless more is
// awaited.
static void acknowledge(struct tg_conn *conn, uint64_t sent_before) {
  struct tg_stream *stream = &conn->stream;
  bool awaits_more = conn->next == TG_APP_PARTIAL || (conn->next == TG_APP_IDLE && stream->sent == sent_before);
  if (!awaits_more || conn->finishing || !stream->drained || stream->received == conn->acknowledged) {
    return;
  }
  conn->acknowledged = stream->received;
  tg_quickack_at(TG_QUICKACK_AT_REQUEST_PARTIAL, conn->shard->config.quickack, stream->fd, &conn->shard->counters);
}

// Lets the application do what it can. Returns false if the connection is over.
static bool run_application(struct tg_conn *conn) {
  for (int calls = 0; !conn->finishing; calls++) {
    if (conn->stream.throttled) {
      return true;
    }
    if (calls == kCallbacksPerRun) {
      conn->stream.throttled = true;
      return true;
    }
    enum tg_app_next answer;
    if (!call_application(conn, &answer)) {
      return true;
    }
    if (conn->protocol_error) {
      finish(conn);
    } else if (conn->stream.error != 0 || !take_answer(conn, answer)) {
      return false;
    }
    if (!tg_stream_flush(&conn->stream)) {
      return false;
    }
  }
  return true;
}

void tg_conn_serve(struct tg_conn *conn) {
  const uint64_t sent_before = conn->stream.sent;
  if (!conn->stream.drained && !conn->saw_end) {
    conn->exhausted = false;
  }
  if (!tg_stream_flush(&conn->stream) || !run_application(conn)) {
    tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
    return;
  }
  acknowledge(conn, sent_before);
  if (conn->finishing && tg_stream_pending(&conn->stream) == 0) {
    tg_conn_enter(conn, TG_PHASE_DRAIN, TG_CAUSE_PROGRESS);
  }
}
