// The sender: windows, Nagle and Minshall (net/ipv4/tcp_output.c, tcp_input.c's tcp_ack).
#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "harness/kernel/tcp_state.h"

static uint64_t unsent(const struct tg_tcp *end) {
  return end->out.written > end->snd_nxt ? end->out.written - end->snd_nxt : 0;
}

static bool fin_unsent(const struct tg_tcp *end) {
  return end->shut_write && !end->fin_sent;
}

static void trace_segment(const struct tg_tcp *end, const struct tg_tcp_segment *segment, const char *why) {
  tg_trace_line(end->pair->trace, "c%u %s > %s%s%s. %" PRIu64 ":%" PRIu64 " (%u) ack %" PRIu64 " win %u%s%s%s",
                end->pair->id, tg_tcp_name(end), segment->flags & TG_SEG_RST ? "R" : "",
                segment->flags & TG_SEG_FIN ? "F" : "", segment->flags & TG_SEG_PSH ? "P" : "", segment->seq,
                segment->seq + segment->len, segment->len, segment->ack, segment->wnd, why != NULL ? " (" : "",
                why != NULL ? why : "", why != NULL ? ")" : "");
}

// __tcp_transmit_skb
void tg_tcp_transmit(struct tg_tcp *end, uint32_t len, uint32_t flags, const char *why) {
  assert(len <= unsent(end));
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
      .seq = end->snd_nxt,
      .ack = end->told_ack,
      .len = len,
      .seg_size = end->mss,
      .wnd = end->told_wnd,
      .flags = flags,
      .unread = tg_tcp_unread(end),
  };
  trace_segment(end, &segment, why);
  tg_tcp_link_send(end, &segment);
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
  bool nagle_holds;  // the rest, or all of it
};

static struct portion next_portion(const struct tg_tcp *end, bool more, bool whatever) {
  struct portion none = {0};
  uint64_t left = unsent(end);
  bool fin = fin_unsent(end);
  uint64_t wnd_end = end->snd_una + end->snd_wnd;
  uint64_t window = wnd_end > end->snd_nxt ? wnd_end - end->snd_nxt : 0;
  uint32_t quota = cwnd_quota(end);
  // tcp_snd_wnd_test: all of a small piece must fit, or one full segment of a large one. A FIN takes a byte.
  if (quota == 0 || (left <= end->mss ? left + fin > window : end->mss > window)) {
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
  if (portion->len > 0 && portion->len == unsent(end)) {
    flags |= TG_SEG_PSH;  // tcp_mark_push at the end of a write
  }
  if (portion->fin) {
    flags |= TG_SEG_FIN;
  }
  uint32_t segs = portion->len > 0 ? (portion->len + end->mss - 1) / end->mss : 1;
  tg_tcp_transmit(end, portion->len, flags, NULL);
  end->snd_nxt += portion->len;
  if (portion->fin) {
    end->fin_sent = true;
    end->snd_nxt++;
  }
  if (portion->len < segs * end->mss) {  // tcp_minshall_update
    end->snd_sml = end->snd_nxt;
  }
  end->packets_out += segs;
  *(struct tg_tcp_flight *)tg_tcp_ring_push(&end->flight) =
      (struct tg_tcp_flight){.end_seq = end->snd_nxt, .sent_ns = end->pair->sim->now_ns, .segs = segs};
  tg_tcp_timer_clear(&end->probe_timer);
}

void tg_tcp_push(struct tg_tcp *end, bool more, bool whatever) {
  if (end->dead) {
    return;
  }
  bool nagle_holds = false;
  while (unsent(end) > 0 || fin_unsent(end)) {
    struct portion portion = next_portion(end, more, whatever);
    if (portion.len == 0 && !portion.fin) {
      nagle_holds = portion.nagle_holds;
      break;
    }
    send_portion(end, &portion);
  }
  if (nagle_holds && (!end->nagle_holds || end->held_from < end->snd_nxt)) {
    end->held_since_ns = end->pair->sim->now_ns;
    end->held_from = end->snd_nxt;
    tg_trace_line(end->pair->trace, "c%u %s . nagle holds %" PRIu64 ":%" PRIu64 " (small segment up to %" PRIu64 ")",
                  end->pair->id, tg_tcp_name(end), end->snd_nxt, end->out.written, end->snd_sml);
  }
  end->nagle_holds = nagle_holds;
  // tcp_check_probe_timer: nothing in flight will ever call for the rest (it is corked, or the window is too small).
  if (unsent(end) > 0 && end->packets_out == 0 && end->probe_timer.deadline_ns == TG_SIM_NEVER &&
      tg_tcp_has(end, TG_TCP_RULE_PROBE)) {
    tg_tcp_timer_set(end, &end->probe_timer, (tg_tcp_jiffies(end) + tg_tcp_rto(end) + 1) * TG_TCP_JIFFY_NS);
  }
}

// tcp_write_wakeup: what the window takes of one segment goes out, corked or not. A closed window is not probed: when
// it opens, the other end says so, and nothing is lost here.
void tg_tcp_probe_timer_fired(struct tg_tcp *end) {
  uint64_t left = unsent(end);
  uint64_t window = end->snd_una + end->snd_wnd - end->snd_nxt;
  if (end->dead || left == 0 || end->packets_out > 0 || window == 0) {
    return;
  }
  struct portion portion = {.len = (uint32_t)(left < end->mss ? left : end->mss)};
  if (portion.len > window) {
    portion.len = (uint32_t)window;
  }
  portion.fin = fin_unsent(end) && portion.len == left && portion.len < window;
  send_portion(end, &portion);
  tg_tcp_push(end, false, false);
}

// tcp_ack: una, the congestion window in slow start (there is no loss to end it), srtt (tcp_rtt_estimator).
void tg_tcp_acknowledged(struct tg_tcp *end, const struct tg_tcp_segment *segment) {
  assert(segment->ack <= end->snd_nxt);
  bool was_writable = tg_tcp_writable(end);
  if (segment->ack > end->snd_una) {
    end->snd_una = segment->ack;
  }
  const struct tg_tcp_flight *oldest;
  while ((oldest = tg_tcp_ring_front(&end->flight)) != NULL && oldest->end_seq <= end->snd_una) {
    assert(end->packets_out >= oldest->segs);
    end->packets_out -= oldest->segs;
    end->cwnd = end->cwnd + oldest->segs < TG_TCP_CWND_MAX ? end->cwnd + oldest->segs : TG_TCP_CWND_MAX;
    uint64_t took_ns = end->pair->sim->now_ns - oldest->sent_ns;
    end->srtt_ns = end->srtt_ns - end->srtt_ns / 8 + took_ns / 8;
    tg_tcp_ring_pop(&end->flight);
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
    tg_tcp_push(end, false, true);
  } else {
    tg_tcp_push(end, more, false);
  }
  return (ssize_t)taken;
}

void tg_tcp_set_nodelay(struct tg_tcp *end, bool on) {  // __tcp_sock_set_nodelay
  end->nodelay = on;
  if (on) {
    tg_tcp_push(end, false, true);
  }
}

void tg_tcp_set_cork(struct tg_tcp *end, bool on) {  // __tcp_sock_set_cork
  end->cork = on;
  if (!on) {
    tg_tcp_push(end, false, end->nodelay);
  }
}
