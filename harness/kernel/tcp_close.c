// The end of a connection: FIN, RST, shutdown and close (net/ipv4/tcp.c, tcp_input.c).
#include <assert.h>
#include <errno.h>

#include "harness/kernel/tcp_state.h"

static void die(struct tg_tcp *end) {  // tcp_set_state(TCP_CLOSE)
  end->dead = true;
  end->nagle_holds = false;
  end->pending = 0;
  tg_tcp_timer_clear(&end->delack_timer);
  tg_tcp_timer_clear(&end->probe_timer);
  tg_tcp_timer_clear(&end->loss_probe_timer);
}

// tcp_send_active_reset. What was not transmitted never will be.
void tg_tcp_abort(struct tg_tcp *end, const char *why) {
  assert(!end->dead);
  tg_tcp_transmit(end, end->snd_nxt, 0, TG_SEG_RST, why);
  end->rst_sent = true;
  die(end);
}

// tcp_fin
void tg_tcp_fin_arrived(struct tg_tcp *end) {
  assert(!end->fin_received);
  end->fin_received = true;
  end->rcv_nxt++;
  end->pending |= TG_ACK_SCHED;
  if (end->shut_write) {  // FIN_WAIT1, FIN_WAIT2
    tg_tcp_send_ack(end, 0, "FIN");
  } else if (tg_tcp_has(end, TG_TCP_RULE_FIN_PINGPONG)) {  // CLOSE_WAIT
    end->pingpong = end->pair->options.pingpong_threshold;
  }
}

// tcp_reset. What has arrived before stays readable.
void tg_tcp_rst_arrived(struct tg_tcp *end) {
  end->rst_received = true;
  end->error = end->fin_received ? EPIPE : ECONNRESET;
  die(end);
  tg_tcp_tell(end, TG_TCP_READABLE | TG_TCP_WRITABLE);
}

// tcp_rcv_state_process in FIN_WAIT1 and FIN_WAIT2: nobody will read it.
bool tg_tcp_refuses_data(const struct tg_tcp *end) {
  return end->shut_write && end->shut_read;
}

// tcp_reset of itself, and an RST. An owner that has shut down both directions without closing hears of it.
void tg_tcp_refuse(struct tg_tcp *end) {
  tg_tcp_abort(end, "data after close");
  if (!end->closed) {
    end->error = ECONNRESET;
    tg_tcp_tell(end, TG_TCP_READABLE | TG_TCP_WRITABLE);
  }
}

void tg_tcp_shutdown_write(struct tg_tcp *end) {  // tcp_shutdown, tcp_send_fin
  if (end->dead || end->shut_write) {
    return;
  }
  end->shut_write = true;
  tg_tcp_push_in_call(end, false, tg_tcp_has(end, TG_TCP_RULE_FIN_PASSES));
}

void tg_tcp_shutdown_read(struct tg_tcp *end) {
  end->shut_read = true;
}

void tg_tcp_close(struct tg_tcp *end) {  // __tcp_close
  assert(!end->closed);
  end->closed = true;
  end->shut_read = true;
  if (end->dead) {
    return;
  }
  if (tg_tcp_unread(end) > 0) {
    tg_tcp_abort(end, "closed with bytes unread");
  } else {
    tg_tcp_shutdown_write(end);
  }
}

void tg_tcp_reset(struct tg_tcp *end) {  // tcp_disconnect
  assert(!end->closed);
  end->closed = true;
  end->shut_read = true;
  if (end->dead) {
    return;
  }
  // tcp_need_reset: not once both directions have ended.
  bool both_ended = end->fin_received && end->fin_sent;
  if (both_ended) {
    die(end);
  } else {
    tg_tcp_abort(end, "linger 0");
  }
}
