// A segment arrives, and the application reads (tcp_rcv_established, tcp_data_queue, tcp_recvmsg_locked).
#include <assert.h>
#include <errno.h>

#include "harness/kernel/tcp_state.h"

void tg_tcp_segment_arrived(struct tg_tcp *end, const struct tg_tcp_segment *segment) {
  if (end->dead) {
    return;  // the other end has had an RST from here, or sent one: another would tell it nothing
  }
  if ((segment->flags & TG_SEG_RST) != 0) {
    tg_tcp_rst_arrived(end);
    return;
  }
  if ((segment->flags & TG_SEG_AGAIN) != 0 && segment->seq < end->rcv_nxt) {
    // It was not lost: there is no loss here.
    assert(segment->seq + segment->len <= end->rcv_nxt);
    tg_tcp_duplicate_arrived(end);
    tg_tcp_acknowledged(end, segment);
    tg_tcp_ack_snd_check(end);
    return;
  }
  if (segment->len > 0 && tg_tcp_refuses_data(end)) {
    tg_tcp_refuse(end);
    return;
  }
  end->answers_call = (segment->flags & TG_SEG_CALL) != 0;
  unsigned changes = 0;
  if (segment->len > 0) {
    assert(segment->seq == end->rcv_nxt);                                // no loss, no reordering
    assert(segment->seq + segment->len <= end->rcv_wup + end->rcv_wnd);  // the sender keeps to the window
    assert(!end->fin_received);
    end->rcv_nxt += segment->len;
    tg_tcp_space_charge(end, segment);
    tg_tcp_event_data_recv(end, segment);
    changes |= TG_TCP_READABLE;
  }
  if ((segment->flags & TG_SEG_FIN) != 0) {
    tg_tcp_fin_arrived(end);
    changes |= TG_TCP_READABLE;
  }
  tg_tcp_acknowledged(end, segment);
  tg_tcp_ack_snd_check(end);
  end->answers_call = false;
  tg_tcp_tell(end, changes);
  if (segment->len > 0) {
    tg_tcp_tell(tg_tcp_other(end), TG_TCP_DELIVERED);
  }
}

size_t tg_tcp_unread(const struct tg_tcp *end) {
  const struct tg_tcp *peer = &end->pair->ends[!end->side];
  return (size_t)(end->rcv_nxt - end->fin_received - peer->out.read);
}

ssize_t tg_tcp_recv(struct tg_tcp *end, void *out, size_t len, bool peek) {
  assert(!end->closed);
  struct tg_tcp *peer = tg_tcp_other(end);
  size_t unread = tg_tcp_unread(end);
  size_t copied = len < unread ? len : unread;
  if (unread == 0) {
    // In the order of tcp_recvmsg_locked: SOCK_DONE, sk_err, RCV_SHUTDOWN.
    if (end->fin_received) {
      return 0;
    }
    if (end->error != 0) {
      return -tg_tcp_take_error(end);
    }
    if (end->shut_read || end->dead) {
      return 0;
    }
    tg_tcp_cleanup_rbuf(end, false);
    return -EAGAIN;
  }
  tg_tcp_stream_copy(&peer->out, out, copied);
  if (!peek) {
    tg_tcp_stream_skip(&peer->out, copied);
    tg_tcp_space_read(end);
  }
  tg_tcp_cleanup_rbuf(end, copied > 0);
  return (ssize_t)copied;
}
