// The receiver: when what has arrived is acknowledged (net/ipv4/tcp_input.c, tcp_output.c, tcp_timer.c, tcp.c).
#include <assert.h>
#include <inttypes.h>

#include "harness/kernel/tcp_state.h"

static uint32_t at_most(uint32_t value, uint32_t most) {
  return value < most ? value : most;
}

static void incr_quickack(struct tg_tcp *end) {  // tcp_incr_quickack
  if (!tg_tcp_has(end, TG_TCP_RULE_QUICK)) {
    return;
  }
  uint32_t quick = end->rcv_wnd / (2 * end->rcv_mss);
  quick = at_most(quick > 0 ? quick : 2, TG_TCP_MAX_QUICKACKS);
  if (quick > end->quick) {
    end->quick = quick;
  }
}

// tcp_event_ack_sent, tcp_dec_quickack_mode: a scheduled ACK is settled, and uses up one of the quick ones.
void tg_tcp_event_ack_sent(struct tg_tcp *end) {
  if (end->quick > 0 && (end->pending & TG_ACK_SCHED) != 0) {
    end->quick--;
    if (end->quick == 0) {
      end->ato = TG_TCP_ATO_MIN;
    }
  }
  end->pending = 0;
  tg_tcp_timer_clear(&end->delack_timer);
}

// tcp_event_data_sent: an answer within ato makes the connection interactive.
void tg_tcp_event_data_sent(struct tg_tcp *end) {
  if (tg_tcp_has(end, TG_TCP_RULE_PINGPONG) && tg_tcp_jiffies(end) - end->lrcvtime < end->ato &&
      end->pingpong < UINT8_MAX) {
    end->pingpong++;
  }
}

// tcp_measure_rcv_mss
static void measure_rcv_mss(struct tg_tcp *end, const struct tg_tcp_segment *segment) {
  uint32_t size = at_most(segment->len, segment->seg_size);
  bool pushed = (segment->flags & (TG_SEG_PSH | TG_SEG_FIN)) != 0;  // TCP_REMNANT
  uint32_t last = end->last_seg_size;
  end->last_seg_size = 0;
  if (size >= end->rcv_mss) {
    if (size > end->rcv_mss) {
      tg_tcp_space_learn(end, segment->len);
    }
    if (tg_tcp_has(end, TG_TCP_RULE_RCV_MSS)) {
      end->rcv_mss = size;
    }
    if ((segment->flags & TG_SEG_PSH) != 0) {
      end->pending |= TG_ACK_PUSHED;
    }
    return;
  }
  // It looks like a full segment, though smaller than those before: two of them, and it is the size.
  uint32_t with_options = size + TG_TCP_TIMESTAMPS;
  if (with_options >= TG_TCP_MSS_DEFAULT || (with_options >= TG_TCP_MIN_MSS && !pushed)) {
    end->last_seg_size = size;
    if (size == last) {
      end->rcv_mss = size;
      return;
    }
  }
  end->pending |= (end->pending & TG_ACK_PUSHED) != 0 ? TG_ACK_PUSHED2 : TG_ACK_PUSHED;
}

void tg_tcp_event_data_recv(struct tg_tcp *end, const struct tg_tcp_segment *segment) {
  end->pending |= TG_ACK_SCHED;
  measure_rcv_mss(end, segment);
  uint64_t now = tg_tcp_jiffies(end);
  uint64_t since = now - end->lrcvtime;
  if (end->ato == 0) {
    incr_quickack(end);
    end->ato = TG_TCP_ATO_MIN;
  } else if (since <= TG_TCP_ATO_MIN / 2) {
    if (tg_tcp_has(end, TG_TCP_RULE_ATO)) {
      end->ato = end->ato / 2 + TG_TCP_ATO_MIN / 2;
    }
  } else if (since < end->ato) {
    if (tg_tcp_has(end, TG_TCP_RULE_ATO)) {
      end->ato = at_most(end->ato / 2 + (uint32_t)since, at_most((uint32_t)tg_tcp_rto(end), TG_TCP_DELACK_MAX));
    }
  } else if (since > tg_tcp_rto(end) && tg_tcp_has(end, TG_TCP_RULE_IDLE_QUICK)) {
    incr_quickack(end);
  }
  end->lrcvtime = now;
  if (segment->len >= 128) {
    tg_tcp_space_grow(end, segment->len);
  }
}

// tcp_data_queue, tcp_enter_quickack_mode: something came twice, so an ACK is wanted at once.
void tg_tcp_duplicate_arrived(struct tg_tcp *end) {
  incr_quickack(end);
  end->pingpong = 0;
  end->ato = TG_TCP_ATO_MIN;
  end->pending |= TG_ACK_SCHED;
}

// tcp_send_delayed_ack
static void send_delayed_ack(struct tg_tcp *end) {
  uint64_t now = tg_tcp_jiffies(end);
  uint32_t ato = end->ato;
  if (ato > TG_TCP_DELACK_MIN) {
    bool short_one = tg_tcp_in_pingpong(end) || (end->pending & TG_ACK_PUSHED) != 0;
    uint32_t most = short_one ? TG_TCP_DELACK_MAX : 125;  // HZ/2
    uint32_t srtt = (uint32_t)(end->srtt_ns / TG_TCP_JIFFY_NS);
    if (end->srtt_ns > 0) {
      most = at_most(srtt > TG_TCP_DELACK_MIN ? srtt : TG_TCP_DELACK_MIN, most);
    }
    ato = at_most(ato, most);
  }
  ato = at_most(ato, TG_TCP_RTO_MIN - 1);  // tcp_delack_max
  uint64_t timeout = now + ato;
  if ((end->pending & TG_ACK_TIMER) != 0 && tg_tcp_has(end, TG_TCP_RULE_DELACK_KEEPS)) {
    if (end->delack_timeout <= now + ato / 4) {
      tg_tcp_send_ack(end, 0, "the delayed ACK is due soon");
      return;
    }
    if (end->delack_timeout < timeout) {
      timeout = end->delack_timeout;
    }
  }
  if ((end->pending & TG_ACK_TIMER) == 0) {
    tg_trace_line(end->pair->trace, "c%u %s . ack delayed %" PRIu64 " ms (pingpong %u, threshold %u, quick %u)",
                  end->pair->id, tg_tcp_name(end), (timeout - now) * 4, end->pingpong,
                  end->pair->options.pingpong_threshold, end->quick);
  }
  end->pending |= TG_ACK_SCHED | TG_ACK_TIMER;
  end->delack_timeout = timeout;
  // The timer wheel fires at the tick after the one that is asked for.
  tg_tcp_timer_set(end, &end->delack_timer, (timeout + 1) * TG_TCP_JIFFY_NS);
}

static bool beyond_a_frame(const struct tg_tcp *end) {
  return tg_tcp_has(end, TG_TCP_RULE_FRAME_ACK) && end->rcv_nxt - end->rcv_wup > end->rcv_mss;
}

// tcp_ack_snd_check, __tcp_ack_snd_check
void tg_tcp_ack_snd_check(struct tg_tcp *end) {
  if ((end->pending & TG_ACK_SCHED) == 0) {
    return;
  }
  if (beyond_a_frame(end) && tg_tcp_free_window(end) >= end->rcv_wnd) {
    tg_tcp_send_ack(end, 0, "more than a frame unacknowledged");
  } else if (end->quick > 0 && !tg_tcp_in_pingpong(end)) {  // tcp_in_quickack_mode
    tg_tcp_send_ack(end, 0, "quick");
  } else {
    send_delayed_ack(end);
  }
}

// tcp_delack_timer_handler
void tg_tcp_delack_timer_fired(struct tg_tcp *end) {
  if (end->dead || (end->pending & TG_ACK_TIMER) == 0) {
    return;
  }
  assert(end->delack_timeout < tg_tcp_jiffies(end));
  end->pending &= ~(uint32_t)TG_ACK_TIMER;
  if ((end->pending & TG_ACK_SCHED) == 0) {
    return;
  }
  if (!tg_tcp_in_pingpong(end)) {
    if (tg_tcp_has(end, TG_TCP_RULE_DELACK_INFLATES)) {
      end->ato = at_most(2 * end->ato, at_most((uint32_t)tg_tcp_rto(end), TG_TCP_DELACK_MAX));
    }
  } else if (tg_tcp_has(end, TG_TCP_RULE_DELACK_LEAVES_PINGPONG)) {
    end->pingpong = 0;
    end->ato = TG_TCP_ATO_MIN;
  }
  end->stats.acks_delayed++;
  tg_tcp_send_ack(end, TG_SEG_DELAYED, "the delayed ACK");
}

// __tcp_cleanup_rbuf
void tg_tcp_cleanup_rbuf(struct tg_tcp *end, bool copied) {
  if (end->dead) {
    return;
  }
  const char *why = NULL;
  if ((end->pending & TG_ACK_SCHED) != 0) {
    bool pushed =
        (end->pending & TG_ACK_PUSHED2) != 0 || ((end->pending & TG_ACK_PUSHED) != 0 && !tg_tcp_in_pingpong(end));
    if (beyond_a_frame(end)) {
      why = "read, and more than a frame unacknowledged";
    } else if (tg_tcp_has(end, TG_TCP_RULE_DRAIN_ACK) && copied && pushed && tg_tcp_unread(end) == 0) {
      why = "the queue is drained";
    }
  }
  if (why == NULL && copied && !end->shut_read && !end->fin_received && tg_tcp_has(end, TG_TCP_RULE_WINDOW_ACK)) {
    uint32_t now = tg_tcp_receive_window(end);
    uint32_t wanted = tg_tcp_select_window(end);
    if (2 * now <= end->space.window_clamp && wanted > 0 && wanted >= 2 * now) {
      why = "the window opens";
    }
  }
  if (why != NULL) {
    tg_tcp_send_ack(end, 0, why);
  }
}

// __tcp_sock_set_quickack
void tg_tcp_set_quickack(struct tg_tcp *end, int value) {
  if (value == 0) {
    end->pingpong = end->pair->options.pingpong_threshold;  // inet_csk_enter_pingpong_mode
    return;
  }
  end->pingpong = 0;
  if (end->dead || end->shut_write || (end->pending & TG_ACK_SCHED) == 0) {
    return;
  }
  if (tg_tcp_has(end, TG_TCP_RULE_QUICKACK_FLUSH)) {
    end->pending |= TG_ACK_PUSHED;
    tg_tcp_cleanup_rbuf(end, true);
  }
  if ((value & 1) == 0 && tg_tcp_has(end, TG_TCP_RULE_QUICKACK_EVEN)) {
    end->pingpong = end->pair->options.pingpong_threshold;
  }
}

bool tg_tcp_quickack(const struct tg_tcp *end) {
  return !tg_tcp_in_pingpong(end);
}
