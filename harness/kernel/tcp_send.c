// The sender: windows, Nagle and Minshall (net/ipv4/tcp_output.c, tcp_input.c's tcp_ack).
#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "harness/kernel/tcp_state.h"

static void trace_segment(const struct tg_tcp *end, const struct tg_tcp_segment *segment, const char *why) {
  tg_trace_line(end->pair->trace, "c%u %s > %s%s%s. %" PRIu64 ":%" PRIu64 " (%u) ack %" PRIu64 " win %u%s%s%s",
                end->pair->id, tg_tcp_name(end), segment->flags & TG_SEG_RST ? "R" : "",
                segment->flags & TG_SEG_FIN ? "F" : "", segment->flags & TG_SEG_PSH ? "P" : "", segment->seq,
                segment->seq + segment->len, segment->len, segment->ack, segment->wnd, why != NULL ? " (" : "",
                why != NULL ? why : "", why != NULL ? ")" : "");
}

// __tcp_transmit_skb
void tg_tcp_transmit(struct tg_tcp *end, uint64_t seq, uint32_t len, uint32_t flags, const char *why) {
  // Every segment says what has arrived, and that settles a scheduled ACK: data carries it.
  if (len == 0 || tg_tcp_has(end, TG_TCP_RULE_PIGGYBACK)) {
    tg_tcp_event_ack_sent(end);
    end->rcv_wnd = tg_tcp_select_window(end);
    end->rcv_wup = end->rcv_nxt;
    end->told_ack = end->rcv_nxt;
    end->told_wnd = end->rcv_wnd;
  }
  if (len > 0) {
    tg_tcp_event_data_sent(end);
    end->stats.data_segments++;
  } else {
    end->stats.pure_acks++;
  }
  struct tg_tcp_segment segment = {
      .sent_ns = end->pair->sim->now_ns,
      .seq = seq,
      .ack = end->told_ack,
      .len = len,
      .seg_size = end->mss,
      .wnd = end->told_wnd,
      .flags = flags | (end->in_call || (len == 0 && end->answers_call) ? TG_SEG_CALL : 0u),
      .unread = tg_tcp_unread(end),
  };
  trace_segment(end, &segment, why);
  tg_tcp_link_send(end, &segment);
}

void tg_tcp_send_ack(struct tg_tcp *end, uint32_t flags, const char *why) {
  tg_tcp_transmit(end, end->snd_nxt, 0, flags, why);
}

// tcp_nagle_check and tcp_minshall_check: a partial segment waits while an earlier small one is unacknowledged.
static bool nagle_check(const struct tg_tcp *end, bool partial, bool more) {
  if (!partial) {
    return false;
  }
  if (end->cork || more) {
    return true;
  }
  if (end->nodelay || !tg_tcp_has(end, TG_TCP_RULE_NAGLE)) {
    return false;
  }
  bool small = end->snd_sml > end->snd_una && end->snd_sml <= end->snd_nxt;
  return end->packets_out > 0 && (small || !tg_tcp_has(end, TG_TCP_RULE_MINSHALL));
}

// tcp_cwnd_test: at most half of the congestion window at once.
static uint32_t cwnd_quota(const struct tg_tcp *end) {
  if (!tg_tcp_has(end, TG_TCP_RULE_CWND)) {
    return TG_TCP_CWND_MAX;
  }
  if (end->packets_out >= end->cwnd) {
    return 0;
  }
  uint32_t half = end->cwnd / 2 > 0 ? end->cwnd / 2 : 1;
  uint32_t left = end->cwnd - end->packets_out;
  return left < half ? left : half;
}

// How much of what is unsent goes out in one transmission, and 0 if it must wait. One turn of tcp_write_xmit's loop.
struct portion {
  uint32_t len;
  bool fin;
  bool nagle_holds;  // all of it, if len is 0
  bool cwnd_holds;
};

static struct portion next_portion(const struct tg_tcp *end, bool more, bool whatever, uint32_t quota) {
  struct portion none = {0};
  uint64_t left = tg_tcp_unsent(end);
  bool fin = tg_tcp_fin_unsent(end);
  uint64_t window = tg_tcp_send_window(end);
  if (quota == 0) {
    return (struct portion){.cwnd_holds = true};
  }
  // tcp_snd_wnd_test: all of a small piece must fit, or one full segment of a large one. A FIN takes a byte.
  if ((left <= end->mss ? left + fin > window : end->mss > window)) {
    return none;
  }
  if (left <= end->mss) {  // tcp_nagle_test
    bool passes = whatever || (fin && tg_tcp_has(end, TG_TCP_RULE_FIN_PASSES));
    if (!passes && nagle_check(end, left < end->mss, more)) {
      return (struct portion){.nagle_holds = !more && !end->cork};
    }
    return (struct portion){.len = (uint32_t)left, .fin = fin};
  }
  if (!end->pair->options.segmentation_offload) {
    return (struct portion){.len = end->mss};
  }
  // tcp_mss_split_point
  assert(end->mss > 0 && end->mss < TG_TCP_GSO_MAX);
  uint64_t segs = TG_TCP_GSO_MAX / end->mss;
  uint64_t most = (segs < quota ? segs : quota) * end->mss;
  uint64_t needed = left < window ? left : window;
  if (most <= needed) {
    return (struct portion){.len = (uint32_t)most};
  }
  uint64_t partial = needed % end->mss;
  if (!whatever && nagle_check(end, partial != 0, more)) {
    assert(needed - partial > 0);
    return (struct portion){.len = (uint32_t)(needed - partial)};
  }
  return (struct portion){.len = (uint32_t)needed, .fin = fin && needed == left && left + 1 <= window};
}

static void send_portion(struct tg_tcp *end, const struct portion *portion) {
  uint32_t flags = 0;
  uint32_t segs = portion->len > 0 ? (portion->len + end->mss - 1) / end->mss : 1;
  if (segs > 1 || (portion->len > 0 && portion->len == tg_tcp_unsent(end))) {
    flags |= TG_SEG_PSH;  // tcp_mark_push at the end of a write; __tcp_transmit_skb on all that are to be segmented
  }
  if (portion->fin) {
    flags |= TG_SEG_FIN;
  }
  struct tg_tcp_flight flight = {
      .seq = end->snd_nxt,
      .sent_ns = end->pair->sim->now_ns,
      .len = portion->len,
      .segs = segs,
      .fin = portion->fin,
  };
  tg_tcp_transmit(end, end->snd_nxt, portion->len, flags, NULL);
  end->snd_nxt += portion->len;
  if (portion->fin) {
    end->fin_sent = true;
    end->snd_nxt++;
  }
  if (portion->len < segs * end->mss) {  // tcp_minshall_update
    end->snd_sml = end->snd_nxt;
  }
  end->packets_out += segs;
  *(struct tg_tcp_flight *)tg_tcp_ring_push(&end->flight) = flight;
  tg_tcp_timer_clear(&end->probe_timer);
}

// tcp_cwnd_validate: what was in flight at most in this round trip, and whether more would have been.
static void cwnd_validate(struct tg_tcp *end, bool limited) {
  limited = limited || end->packets_out >= end->cwnd;
  if (end->snd_una >= end->cwnd_usage_seq || limited ||
      (!end->cwnd_limited && end->packets_out > end->max_packets_out)) {
    end->cwnd_limited = limited;
    end->max_packets_out = end->packets_out;
    end->cwnd_usage_seq = end->snd_nxt;
  }
}

// tcp_is_cwnd_limited, tcp_slow_start (there is no loss to end it)
static void cwnd_grow(struct tg_tcp *end, uint32_t acked) {
  if (end->cwnd_limited || end->cwnd < 2 * end->max_packets_out) {
    end->cwnd = end->cwnd + acked < TG_TCP_CWND_MAX ? end->cwnd + acked : TG_TCP_CWND_MAX;
  }
}

static void note_hold(struct tg_tcp *end, bool nagle_holds) {
  if (nagle_holds && (!end->nagle_holds || end->held_from < end->snd_nxt)) {
    end->held_since_ns = end->pair->sim->now_ns;
    end->held_from = end->snd_nxt;
    tg_trace_line(end->pair->trace, "c%u %s . nagle holds %" PRIu64 ":%" PRIu64 " (small segment up to %" PRIu64 ")",
                  end->pair->id, tg_tcp_name(end), end->snd_nxt, end->out.written, end->snd_sml);
  }
  end->nagle_holds = nagle_holds;
}

void tg_tcp_push(struct tg_tcp *end, bool more, bool whatever) {
  if (end->dead) {
    return;
  }
  struct portion portion = {0};
  bool sent = false;
  while (tg_tcp_unsent(end) > 0 || tg_tcp_fin_unsent(end)) {
    portion = next_portion(end, more, whatever, cwnd_quota(end));
    if (portion.len == 0 && !portion.fin) {
      break;
    }
    send_portion(end, &portion);
    sent = true;
  }
  if (sent || portion.cwnd_holds) {
    cwnd_validate(end, portion.cwnd_holds);
  }
  if (sent) {
    tg_tcp_loss_probe_schedule(end);
  }
  note_hold(end, portion.nagle_holds);
  tg_tcp_probe_schedule(end);
}

void tg_tcp_push_in_call(struct tg_tcp *end, bool more, bool whatever) {
  end->in_call = true;
  tg_tcp_push(end, more, whatever);
  end->in_call = false;
}

void tg_tcp_push_probe(struct tg_tcp *end) {
  uint64_t left = tg_tcp_unsent(end);
  uint64_t window = tg_tcp_send_window(end);
  uint64_t len = left < end->mss ? left : end->mss;
  struct portion portion = {.len = (uint32_t)(len < window ? len : window)};
  portion.fin = tg_tcp_fin_unsent(end) && portion.len == left && left < window;
  send_portion(end, &portion);
  cwnd_validate(end, false);
  note_hold(end, end->nagle_holds && tg_tcp_unsent(end) > 0);
}

// tcp_ack: una, the congestion window, srtt (tcp_rtt_estimator: one sample, of the oldest packet).
void tg_tcp_acknowledged(struct tg_tcp *end, const struct tg_tcp_segment *segment) {
  assert(segment->ack <= end->snd_nxt);
  bool was_writable = tg_tcp_writable(end);
  if (segment->ack > end->snd_una) {
    end->snd_una = segment->ack;
  }
  const struct tg_tcp_flight *oldest;
  uint32_t acked = 0;
  while ((oldest = tg_tcp_ring_front(&end->flight)) != NULL &&
         oldest->seq + oldest->len + oldest->fin <= end->snd_una) {
    assert(end->packets_out >= oldest->segs);
    end->packets_out -= oldest->segs;
    if (acked == 0 && !oldest->again) {
      uint64_t took_ns = end->pair->sim->now_ns - oldest->sent_ns;
      end->srtt_ns = end->srtt_ns - end->srtt_ns / 8 + took_ns / 8;
    }
    acked += oldest->segs;
    tg_tcp_ring_pop(&end->flight);
  }
  if (acked > 0) {
    cwnd_grow(end, acked);
    tg_tcp_loss_probe_acknowledged(end);
    tg_tcp_loss_probe_schedule(end);
  }
  end->snd_wnd = segment->wnd;

  bool held = end->nagle_holds;
  uint64_t held_since_ns = end->held_since_ns;
  uint64_t held_from = end->held_from;
  tg_tcp_push(end, false, false);  // tcp_data_snd_check
  if (held && (segment->flags & TG_SEG_DELAYED) != 0 && end->snd_nxt > held_from) {
    end->stats.stalls++;
    uint64_t end_byte = end->snd_nxt < end->out.written ? end->snd_nxt : end->out.written;
    end->stats.last_stall =
        (struct tg_tcp_stall){held_since_ns, segment->sent_ns, held_from, end_byte, segment->unread};
    tg_trace_line(end->pair->trace, "c%u %s . stalled: %" PRIu64 ":%" PRIu64 " waited %" PRIu64 " us for a delayed ACK",
                  end->pair->id, tg_tcp_name(end), held_from, end_byte,
                  (end->pair->sim->now_ns - held_since_ns) / 1000);
  }
  if ((!was_writable || end->nospace) && tg_tcp_writable(end)) {  // sk_stream_write_space
    end->nospace = false;
    tg_tcp_tell(end, TG_TCP_WRITABLE);
  }
}

ssize_t tg_tcp_send(struct tg_tcp *end, const void *data, size_t len, bool more) {
  assert(!end->closed);
  if (end->error != 0) {
    return -tg_tcp_take_error(end);
  }
  if (end->dead || end->shut_write) {
    return -EPIPE;
  }
  size_t room = tg_tcp_room(end);
  size_t taken = len < room ? len : room;
  if (taken == 0 && len > 0) {
    end->nospace = true;
    return -EAGAIN;
  }
  tg_tcp_stream_write(&end->out, data, taken);
  if (taken < len) {  // tcp_sendmsg_locked pushes all before it waits for space
    end->nospace = true;
    tg_tcp_push_in_call(end, false, true);
  } else {
    tg_tcp_push_in_call(end, more, false);
  }
  return (ssize_t)taken;
}

void tg_tcp_set_nodelay(struct tg_tcp *end, bool on) {  // __tcp_sock_set_nodelay
  end->nodelay = on;
  if (on) {
    tg_tcp_push_in_call(end, false, true);
  }
}

void tg_tcp_set_cork(struct tg_tcp *end, bool on) {  // __tcp_sock_set_cork
  end->cork = on;
  if (!on) {
    tg_tcp_push_in_call(end, false, end->nodelay);
  }
}
