// What a sender does that has heard nothing for a while (net/ipv4/tcp_output.c, tcp_timer.c). Nothing is lost here, so
// there are no retransmission time-outs: they are later than any delayed ACK. But Linux probes for the loss of a tail
// long before, and a probe releases what Nagle holds, or makes the other end acknowledge.
#include "harness/kernel/tcp_state.h"

#define TIMEOUT_MIN_NS (2 * TG_SIM_NS_PER_MS)  // TCP_TIMEOUT_MIN_US

// Nothing in flight will ever call for the rest: it is corked, or the window is too small.
void tg_tcp_probe_schedule(struct tg_tcp *end) {
  if (tg_tcp_unsent(end) > 0 && end->packets_out == 0 && end->probe_timer.deadline_ns == TG_SIM_NEVER &&
      tg_tcp_has(end, TG_TCP_RULE_PROBE)) {
    tg_tcp_timer_set(end, &end->probe_timer, (tg_tcp_jiffies(end) + tg_tcp_rto(end) + 1) * TG_TCP_JIFFY_NS);
  }
}

// A closed window is not probed: when it opens, the other end says so, and that is not lost.
void tg_tcp_probe_timer_fired(struct tg_tcp *end) {
  if (!end->dead && tg_tcp_unsent(end) > 0 && end->packets_out == 0 && tg_tcp_send_window(end) > 0) {
    tg_tcp_push_probe(end);
  }
}

void tg_tcp_loss_probe_schedule(struct tg_tcp *end) {
  if (end->packets_out < 2 || !tg_tcp_has(end, TG_TCP_RULE_LOSS_PROBE)) {
    // With one in flight the probe waits for a delayed ACK as well, 200 ms: it comes before.
    tg_tcp_timer_clear(&end->loss_probe_timer);
    return;
  }
  uint64_t timeout_ns = 2 * end->srtt_ns + TIMEOUT_MIN_NS;
  uint64_t jiffies = (timeout_ns + TG_TCP_JIFFY_NS - 1) / TG_TCP_JIFFY_NS;
  tg_tcp_timer_set(end, &end->loss_probe_timer, (tg_tcp_jiffies(end) + jiffies + 1) * TG_TCP_JIFFY_NS);
}

// tcp_send_loss_probe: the next new segment, or the last one again.
void tg_tcp_loss_probe_timer_fired(struct tg_tcp *end) {
  if (end->dead || end->packets_out == 0 || end->tlp_high_seq != 0) {
    return;
  }
  uint64_t left = tg_tcp_unsent(end);
  uint64_t fits = left < end->mss ? left : end->mss;
  if (left > 0 && fits <= tg_tcp_send_window(end)) {
    tg_trace_line(end->pair->trace, "c%u %s . loss probe: new data", end->pair->id, tg_tcp_name(end));
    tg_tcp_push_probe(end);
  } else {
    struct tg_tcp_flight *last = tg_tcp_ring_back(&end->flight);
    uint32_t before = (last->segs - 1) * end->mss;
    last->again = true;
    tg_tcp_transmit(end, last->seq + before, last->len - before, TG_SEG_AGAIN | (last->fin ? TG_SEG_FIN : 0u),
                    "loss probe");
  }
  end->tlp_high_seq = end->snd_nxt;
}

void tg_tcp_loss_probe_acknowledged(struct tg_tcp *end) {
  if (end->snd_una >= end->tlp_high_seq) {
    end->tlp_high_seq = 0;
  }
}
