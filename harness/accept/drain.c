// DRAIN: our FIN, then reading off until the peer's.
//
// close() with unread bytes in the receive queue, or bytes that arrive after it, makes the kernel send RST (Linux:
// tcp_close), and an RST makes the peer's kernel drop the response that it has received and not read. So the socket is
// half-closed and read off first.
#include <sys/socket.h>

#include "harness/accept/conn.h"

// A peer that sends more than this after the end was told is not worth the CPU. The deadline bounds it in time.
static const uint64_t kMaxDiscarded = UINT64_C(16) << 20;

// Sends what is queued, an alert if anything, and then FIN. Returns false if the connection is beyond that.
static bool shut_down(struct tg_conn *conn) {
  if (!tg_stream_flush(&conn->stream)) {
    return false;
  }
  if (!conn->shut && tg_stream_pending(&conn->stream) == 0) {
    conn->shut = true;
    return shutdown(conn->stream.fd, SHUT_WR) == 0;
  }
  return true;
}

void tg_conn_drain(struct tg_conn *conn) {
  if (!shut_down(conn)) {
    tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
    return;
  }
  for (;;) {
    ssize_t got = tg_stream_discard(&conn->stream);
    switch (got) {
      case TG_READ_AGAIN:
        return;
      case TG_READ_EOF:
        if (conn->shut) {
          tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_PROGRESS);
        }
        return;
      case TG_READ_ERROR:
        tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
        return;
      default:
        conn->discarded += (uint64_t)got;
        if (conn->discarded > kMaxDiscarded) {
          tg_conn_enter(conn, TG_PHASE_GONE, TG_CAUSE_ERROR);
          return;
        }
    }
  }
}
