// The inside of the TCP model, for its own files. Field names follow struct tcp_sock and inet_connection_sock, so that
// a rule can be read beside the kernel function it cites.
#ifndef TLSGATE_HARNESS_KERNEL_TCP_STATE_H
#define TLSGATE_HARNESS_KERNEL_TCP_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/kernel/sim.h"
#include "harness/kernel/tcp.h"
#include "harness/kernel/tcp_stream.h"
#include "harness/kernel/trace.h"

#define TG_TCP_JIFFY_NS      (4 * TG_SIM_NS_PER_MS)  // CONFIG_HZ=250
#define TG_TCP_ATO_MIN       10u                     // TCP_ATO_MIN, HZ/25
#define TG_TCP_DELACK_MIN    10u                     // TCP_DELACK_MIN, HZ/25
#define TG_TCP_DELACK_MAX    50u                     // TCP_DELACK_MAX, HZ/5
#define TG_TCP_RTO_MIN       50u                     // TCP_RTO_MIN, HZ/5
#define TG_TCP_MAX_QUICKACKS 16u                     // TCP_MAX_QUICKACKS
#define TG_TCP_INIT_CWND     10u                     // TCP_INIT_CWND
#define TG_TCP_MIN_MSS       88u                     // TCP_MIN_MSS
#define TG_TCP_MSS_DEFAULT   536u                    // TCP_MSS_DEFAULT
#define TG_TCP_TIMESTAMPS    12u                     // TCPOLEN_TSTAMP_ALIGNED
#define TG_TCP_GSO_MAX       65536u                  // GSO_LEGACY_MAX_SIZE
#define TG_TCP_CWND_MAX      (1u << 20)              // no loss would let it grow forever

enum { TG_ACK_SCHED = 1, TG_ACK_TIMER = 2, TG_ACK_PUSHED = 4, TG_ACK_PUSHED2 = 8 };  // icsk_ack.pending
// DELAYED: a delayed ACK, by its timer; AGAIN: retransmitted; CALL: sent in a system call, or an ACK of such a segment.
enum {
  TG_SEG_PSH = 1,
  TG_SEG_FIN = 2,
  TG_SEG_RST = 4,
  TG_SEG_DELAYED = 8,
  TG_SEG_AGAIN = 16,
  TG_SEG_CALL = 32,
};

struct tg_tcp_segment {
  uint64_t sent_ns;
  uint64_t at_ns;  // arrives
  uint64_t seq;
  uint64_t ack;
  uint32_t len;
  uint32_t seg_size;  // gso_size: what one segment of it holds
  uint32_t wnd;
  uint32_t flags;
  size_t unread;  // bytes in the sender's own receive queue
};

// Sent and not acknowledged: the retransmission queue without its bytes.
struct tg_tcp_flight {
  uint64_t seq;
  uint64_t sent_ns;
  uint32_t len;  // bytes
  uint32_t segs;
  bool fin;
  bool again;  // retransmitted: no sample of the round trip (Karn)
};

// What has arrived and is not read, as memory (tcp_space.c).
struct tg_tcp_packet {
  uint64_t first_end;  // of the packet as it came; others may have been added
  uint64_t end_seq;
  uint32_t truesize;
  uint32_t frags;
};

// A queue of fixed-size items that grows as needed.
struct tg_tcp_ring {
  void *items;
  size_t item_size;
  size_t capacity;  // a power of two, or 0
  size_t head;
  size_t len;
};

// A deadline over sim.h's events, which cannot be cancelled: at most a few are posted, whatever happens to the
// deadline.
struct tg_tcp_timer {
  uint64_t deadline_ns;  // TG_SIM_NEVER: off
  uint64_t posted_ns;    // the earliest event that is posted, TG_SIM_NEVER: none
};

struct tg_tcp_space {
  uint32_t rcvbuf;             // sk_rcvbuf
  uint32_t rmem;               // sk_rmem_alloc
  uint32_t overhead;           // of a packet's memory beyond its data
  uint32_t scaling_ratio;      // of 256: what of the memory is data
  uint32_t window_clamp;       // the most that may be offered
  uint32_t rcv_ssthresh;       // the most that is offered now
  uint32_t align;              // 1 << rcv_wscale
  struct tg_tcp_ring packets;  // of struct tg_tcp_packet
};

struct tg_tcp {
  struct tg_tcp_pair *pair;
  enum tg_tcp_side side;
  tg_tcp_notify notify;
  void *notify_context;

  // Sending. Positions are those of `out`; a FIN takes the position behind the last byte.
  struct tg_tcp_stream out;
  uint64_t snd_una, snd_nxt, snd_sml;
  uint32_t snd_wnd;
  uint32_t mss;
  uint32_t cwnd;         // segments
  uint32_t packets_out;  // segments
  uint32_t max_packets_out;
  uint64_t cwnd_usage_seq;
  bool cwnd_limited;
  uint64_t tlp_high_seq;  // of the probe that is not yet acknowledged, 0: none
  struct tg_tcp_timer loss_probe_timer;
  uint32_t send_buffer;
  struct tg_tcp_ring flight;  // of struct tg_tcp_flight
  bool nodelay, cork;
  bool nospace;  // SOCK_NOSPACE
  bool nagle_holds;
  uint64_t held_since_ns, held_from;  // while nagle_holds
  uint64_t srtt_ns;
  bool in_call;  // a system call of this end's owner is sending
  struct tg_tcp_timer probe_timer;

  // Receiving, in positions of the other end's stream.
  uint64_t rcv_nxt, rcv_wup;
  uint32_t rcv_wnd;
  struct tg_tcp_space space;
  uint32_t pending, pingpong, quick, ato;
  uint32_t rcv_mss, last_seg_size;
  uint64_t lrcvtime;        // jiffies
  uint64_t delack_timeout;  // jiffies, with TG_ACK_TIMER
  struct tg_tcp_timer delack_timer;
  bool answers_call;  // what arrives just now was sent in a system call
  uint64_t told_ack;  // what the last segment said, for a model without TG_TCP_RULE_PIGGYBACK
  uint32_t told_wnd;

  // The life of the connection.
  bool shut_write, fin_sent;     // FIN queued; transmitted
  bool shut_read, fin_received;  // RCV_SHUTDOWN by this end's owner; FIN arrived
  bool closed;                   // no owner any more
  bool dead;                     // TCP_CLOSE after an RST in either direction
  bool rst_sent, rst_received;
  int error;  // sk_err

  // The link to the other end.
  struct tg_tcp_ring wire;  // of struct tg_tcp_segment, on their way to the other end
  uint64_t last_arrival_ns;

  struct tg_tcp_stats stats;
};

struct tg_tcp_pair {
  struct tg_sim *sim;
  struct tg_trace *trace;
  uint32_t id;
  struct tg_tcp_options options;
  uint64_t delay_ns;
  uint32_t events;  // posted
  struct tg_tcp ends[2];
};

// tcp_link.c: rings, timers and the wire.
void *tg_tcp_ring_push(struct tg_tcp_ring *ring);  // an item to fill in
void *tg_tcp_ring_front(const struct tg_tcp_ring *ring);
void *tg_tcp_ring_back(const struct tg_tcp_ring *ring);
void tg_tcp_ring_pop(struct tg_tcp_ring *ring);
void tg_tcp_timer_set(struct tg_tcp *end, struct tg_tcp_timer *timer, uint64_t deadline_ns);
void tg_tcp_timer_clear(struct tg_tcp_timer *timer);
void tg_tcp_link_send(struct tg_tcp *end, const struct tg_tcp_segment *segment);  // at_ns is set here
const char *tg_tcp_name(const struct tg_tcp *end);
void tg_tcp_tell(struct tg_tcp *end, unsigned changes);

// tcp_send.c: what goes out.
// One packet (one skb) of `len` bytes from `seq` goes on the wire; `why` (may be NULL) is for the trace.
void tg_tcp_transmit(struct tg_tcp *end, uint64_t seq, uint32_t len, uint32_t flags, const char *why);
void tg_tcp_send_ack(struct tg_tcp *end, uint32_t flags, const char *why);  // tcp_send_ack
void tg_tcp_push_in_call(struct tg_tcp *end, bool more, bool whatever);
void tg_tcp_push(struct tg_tcp *end, bool more, bool whatever);  // tcp_write_xmit; whatever: TCP_NAGLE_PUSH
void tg_tcp_push_probe(struct tg_tcp *end);                      // a segment, past Nagle, CORK and cwnd
void tg_tcp_acknowledged(struct tg_tcp *end, const struct tg_tcp_segment *segment);  // tcp_ack

// tcp_probe.c: what a silent sender does.
void tg_tcp_probe_schedule(struct tg_tcp *end);       // tcp_check_probe_timer
void tg_tcp_probe_timer_fired(struct tg_tcp *end);    // tcp_write_wakeup
void tg_tcp_loss_probe_schedule(struct tg_tcp *end);  // tcp_schedule_loss_probe
void tg_tcp_loss_probe_timer_fired(struct tg_tcp *end);
void tg_tcp_loss_probe_acknowledged(struct tg_tcp *end);  // tcp_process_tlp_ack

// tcp_space.c: the receive buffer and the window.
void tg_tcp_space_init(struct tg_tcp *end, uint32_t window);
void tg_tcp_space_charge(struct tg_tcp *end, const struct tg_tcp_segment *segment);  // skb_set_owner_r
void tg_tcp_space_read(struct tg_tcp *end);                                          // frees what is read
void tg_tcp_space_learn(struct tg_tcp *end, uint32_t len);                           // of tcp_measure_rcv_mss
void tg_tcp_space_grow(struct tg_tcp *end, uint32_t len);                            // tcp_grow_window
uint32_t tg_tcp_receive_window(const struct tg_tcp *end);                            // left of what was offered
uint32_t tg_tcp_free_window(const struct tg_tcp *end);                               // __tcp_select_window
uint32_t tg_tcp_select_window(const struct tg_tcp *end);                             // ... and nothing is taken back

// tcp_ack.c: when to acknowledge.
void tg_tcp_event_ack_sent(struct tg_tcp *end);
void tg_tcp_event_data_sent(struct tg_tcp *end);
void tg_tcp_event_data_recv(struct tg_tcp *end, const struct tg_tcp_segment *segment);
void tg_tcp_duplicate_arrived(struct tg_tcp *end);
void tg_tcp_ack_snd_check(struct tg_tcp *end);
void tg_tcp_cleanup_rbuf(struct tg_tcp *end, bool copied);
void tg_tcp_delack_timer_fired(struct tg_tcp *end);

// tcp_receive.c
void tg_tcp_segment_arrived(struct tg_tcp *end, const struct tg_tcp_segment *segment);

// tcp_close.c
void tg_tcp_fin_arrived(struct tg_tcp *end);
void tg_tcp_rst_arrived(struct tg_tcp *end);
bool tg_tcp_refuses_data(const struct tg_tcp *end);
void tg_tcp_refuse(struct tg_tcp *end);
void tg_tcp_abort(struct tg_tcp *end, const char *why);  // an RST goes out, and this end is dead

static inline bool tg_tcp_has(const struct tg_tcp *end, uint32_t rule) {
  return (end->pair->options.rules & rule) != 0;
}

static inline uint64_t tg_tcp_jiffies(const struct tg_tcp *end) {
  return end->pair->sim->now_ns / TG_TCP_JIFFY_NS;
}

// tcp_set_rto: srtt and a variance that is never counted as less than rto_min. No loss: there is no variance beyond it.
static inline uint64_t tg_tcp_rto(const struct tg_tcp *end) {
  return TG_TCP_RTO_MIN + (end->srtt_ns + TG_TCP_JIFFY_NS - 1) / TG_TCP_JIFFY_NS;
}

// The bytes that are not transmitted yet, and whether a FIN waits behind them.
static inline uint64_t tg_tcp_unsent(const struct tg_tcp *end) {
  return end->out.written > end->snd_nxt ? end->out.written - end->snd_nxt : 0;
}
static inline bool tg_tcp_fin_unsent(const struct tg_tcp *end) {
  return end->shut_write && !end->fin_sent;
}
// What the other end's window has room for.
static inline uint64_t tg_tcp_send_window(const struct tg_tcp *end) {
  uint64_t edge = end->snd_una + end->snd_wnd;
  return edge > end->snd_nxt ? edge - end->snd_nxt : 0;
}

static inline bool tg_tcp_in_pingpong(const struct tg_tcp *end) {  // inet_csk_in_pingpong_mode
  return end->pingpong >= end->pair->options.pingpong_threshold;
}

#endif
