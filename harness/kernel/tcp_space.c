// The receive buffer: memory of packets, and the window that is offered for it (include/net/tcp.h's tcp_space and
// tcp_win_from_space; net/ipv4/tcp_input.c, tcp_output.c). It decides on ACKs too: one for more than a frame is sent at
// once only if the window need not shrink, and a growing window makes the next ACK a quick one.
#include "harness/kernel/tcp_state.h"

#define RATIO_ONE       256u  // 1 << TCP_RMEM_TO_WIN_SCALE
#define RATIO_AT_FIRST  128u
#define WINDOW_MEMORY   1152u  // of the smallest buffer, SOCK_MIN_RCVBUF; a smaller window is a clamp (TCP_WINDOW_CLAMP)
#define PACKET_OVERHEAD 832u   // truesize less data of a packet on loopback (SKB_TRUESIZE), as SO_MEMINFO shows it
#define FRAGS_MAX       17u    // MAX_SKB_FRAGS
#define WSCALE_10_FROM \
  65536u  // buffers that tcp_rmem[2] = 32 MiB lets grow: rcv_wscale is 10 (tcp_select_initial_window)

static uint32_t at_most(uint32_t value, uint32_t most) {
  return value < most ? value : most;
}

static uint32_t win_from_space(const struct tg_tcp *end, uint32_t space) {  // tcp_win_from_space
  return (uint32_t)((uint64_t)space * end->space.scaling_ratio / RATIO_ONE);
}

static uint32_t space_left(const struct tg_tcp *end) {  // tcp_space
  const struct tg_tcp_space *space = &end->space;
  return win_from_space(end, space->rmem < space->rcvbuf ? space->rcvbuf - space->rmem : 0);
}

void tg_tcp_space_init(struct tg_tcp *end, uint32_t window) {
  struct tg_tcp_space *space = &end->space;
  bool clamped = window < WINDOW_MEMORY;
  space->scaling_ratio = clamped ? RATIO_ONE : RATIO_AT_FIRST;
  space->overhead = clamped ? 0 : PACKET_OVERHEAD;
  space->rcvbuf = window * (RATIO_ONE / space->scaling_ratio);
  space->window_clamp = window;
  space->rcv_ssthresh = window;
  space->align = window >= WSCALE_10_FROM ? 1024 : 1;
  space->packets.item_size = sizeof(struct tg_tcp_packet);
}

// skb_try_coalesce: to a packet whose sender has dropped its copy, since it is acknowledged.
static bool coalesced(struct tg_tcp *end, const struct tg_tcp_segment *segment) {
  struct tg_tcp_packet *last = tg_tcp_ring_back(&end->space.packets);
  if (last == NULL || last->first_end > tg_tcp_other(end)->snd_una || last->frags == FRAGS_MAX) {
    return false;
  }
  last->end_seq = end->rcv_nxt;
  last->truesize += segment->len;
  last->frags++;
  end->space.rmem += segment->len;
  return true;
}

void tg_tcp_space_charge(struct tg_tcp *end, const struct tg_tcp_segment *segment) {
  if (coalesced(end, segment)) {
    return;
  }
  uint32_t truesize = segment->len + end->space.overhead;
  *(struct tg_tcp_packet *)tg_tcp_ring_push(&end->space.packets) =
      (struct tg_tcp_packet){.first_end = end->rcv_nxt, .end_seq = end->rcv_nxt, .truesize = truesize, .frags = 1};
  end->space.rmem += truesize;
}

void tg_tcp_space_read(struct tg_tcp *end) {
  const struct tg_tcp_packet *oldest;
  uint64_t read = tg_tcp_consumed(end);
  while ((oldest = tg_tcp_ring_front(&end->space.packets)) != NULL && oldest->end_seq <= read) {
    end->space.rmem -= oldest->truesize;
    tg_tcp_ring_pop(&end->space.packets);
  }
}

// tcp_measure_rcv_mss, tcp_set_window_clamp: the first packet of a new size shows how much of the memory is data.
void tg_tcp_space_learn(struct tg_tcp *end, uint32_t len) {
  struct tg_tcp_space *space = &end->space;
  uint32_t ratio = len * RATIO_ONE / (len + end->space.overhead);
  space->scaling_ratio = ratio > 0 ? ratio : 1;
  space->window_clamp = win_from_space(end, space->rcvbuf);
  uint32_t offered = at_most(end->rcv_wnd, space->window_clamp);
  if (offered > space->rcv_ssthresh) {
    space->rcv_ssthresh = offered;
  }
}

void tg_tcp_space_grow(struct tg_tcp *end, uint32_t len) {
  struct tg_tcp_space *space = &end->space;
  uint32_t most = at_most(space->window_clamp, space_left(end));
  if (most <= space->rcv_ssthresh || !tg_tcp_has(end, TG_TCP_RULE_GROW_WINDOW)) {
    return;
  }
  bool worth_it = win_from_space(end, len + end->space.overhead) <= len;
  uint32_t segment = worth_it ? end->pair->options.mss : end->rcv_mss;  // advmss, __tcp_grow_window
  uint32_t by = 2 * (segment > len ? segment : len);
  space->rcv_ssthresh += at_most(by, most - space->rcv_ssthresh);
  end->quick |= 1;
}

uint32_t tg_tcp_receive_window(const struct tg_tcp *end) {  // tcp_receive_window
  uint64_t edge = end->rcv_wup + end->rcv_wnd;
  return edge > end->rcv_nxt ? (uint32_t)(edge - end->rcv_nxt) : 0;
}

// Nothing rather than a silly little.
uint32_t tg_tcp_free_window(const struct tg_tcp *end) {
  const struct tg_tcp_space *space = &end->space;
  uint32_t full = at_most(space->window_clamp, win_from_space(end, space->rcvbuf));
  uint32_t left = space_left(end);
  if (left < full / 2) {
    left -= left % space->align;
    if (left < full / 16 || left < at_most(end->rcv_mss, full)) {
      return 0;
    }
  }
  left = at_most(left, space->rcv_ssthresh);
  return (left + space->align - 1) / space->align * space->align;
}

uint32_t tg_tcp_select_window(const struct tg_tcp *end) {  // tcp_select_window
  uint32_t now = tg_tcp_receive_window(end);
  uint32_t wanted = tg_tcp_free_window(end);
  return wanted > now ? wanted : now;
}
