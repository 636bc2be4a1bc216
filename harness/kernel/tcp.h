// One TCP connection in virtual time: two ends, a link with a delay, and what decides latency on the accept path:
// Nagle, delayed ACK, quick-ACK and pingpong mode, TCP_QUICKACK, tail loss probes, finite buffers, FIN, RST. No loss
// and no reordering. The rules are Linux's; each is cited where it stands in the code. What is not modelled is not
// offered.
//
// Each direction is one stream of bytes with positions that only grow: written >= transmitted >= received >= read, and
// acknowledged between read and transmitted's past.
#ifndef TLSGATE_HARNESS_KERNEL_TCP_H
#define TLSGATE_HARNESS_KERNEL_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/kernel/sim.h"
#include "harness/kernel/trace.h"

struct tg_tcp;       // one end
struct tg_tcp_pair;  // both

enum tg_tcp_side { TG_TCP_SERVER, TG_TCP_CLIENT };

// A rule of the model can be taken out, to show that the conformance schedules notice. Bits.
enum tg_tcp_rule {
  TG_TCP_RULE_NAGLE = 1 << 0,                    // tcp_nagle_check
  TG_TCP_RULE_MINSHALL = 1 << 1,                 // tcp_minshall_check: without it, plain Nagle (any data in flight)
  TG_TCP_RULE_PINGPONG = 1 << 2,                 // tcp_event_data_sent
  TG_TCP_RULE_QUICK = 1 << 3,                    // tcp_incr_quickack
  TG_TCP_RULE_ATO = 1 << 4,                      // tcp_event_data_recv's adaptation of ato
  TG_TCP_RULE_FRAME_ACK = 1 << 5,                // __tcp_ack_snd_check: more than rcv_mss unacknowledged
  TG_TCP_RULE_DRAIN_ACK = 1 << 6,                // __tcp_cleanup_rbuf: ACK on the read that empties the queue
  TG_TCP_RULE_QUICKACK_FLUSH = 1 << 7,           // __tcp_sock_set_quickack: flushes a scheduled ACK
  TG_TCP_RULE_QUICKACK_EVEN = 1 << 8,            // ... and an even value restores pingpong
  TG_TCP_RULE_PIGGYBACK = 1 << 9,                // data carries the ACK
  TG_TCP_RULE_DELACK_LEAVES_PINGPONG = 1 << 10,  // tcp_delack_timer_handler
  TG_TCP_RULE_WINDOW_ACK = 1 << 11,              // __tcp_cleanup_rbuf: ACK when the window at least doubles
  TG_TCP_RULE_FIN_PASSES = 1 << 12,              // tcp_nagle_test: FIN on the tail passes
  TG_TCP_RULE_CWND = 1 << 13,                    // tcp_cwnd_test: ten segments, and one more for each acknowledged
  TG_TCP_RULE_PROBE = 1 << 14,                   // tcp_check_probe_timer: corked bytes go out after the RTO
  TG_TCP_RULE_FIN_PINGPONG = 1 << 15,            // tcp_fin: CLOSE_WAIT enters pingpong mode
  TG_TCP_RULE_RCV_MSS = 1 << 16,                 // tcp_measure_rcv_mss: a larger segment raises rcv_mss
  TG_TCP_RULE_IDLE_QUICK = 1 << 17,              // tcp_event_data_recv: silence longer than the RTO refills quick
  TG_TCP_RULE_DELACK_INFLATES = 1 << 18,         // tcp_delack_timer_handler: doubles ato outside pingpong mode
  TG_TCP_RULE_DELACK_KEEPS = 1 << 19,            // tcp_send_delayed_ack: a running timer keeps its deadline
  TG_TCP_RULE_GROW_WINDOW = 1 << 20,             // tcp_grow_window: and it makes the next ACK a quick one
  TG_TCP_RULE_LOSS_PROBE = 1 << 21,              // tcp_send_loss_probe: with two segments or more unacknowledged
  TG_TCP_RULES = 22,                             // their number
  TG_TCP_RULES_ALL = (1 << TG_TCP_RULES) - 1,
};

struct tg_tcp_options {
  uint64_t delay_ns;          // one way, 1 us to 10 s; the default is 2 us (loopback)
  uint32_t mss;               // 88 to 65,483; the default is 32,741 (loopback: tcp_mss of lo less timestamps)
  bool segmentation_offload;  // one transmission may be many segments, as on loopback and veth
  uint32_t send_buffer[2];    // bytes each side queues before a send is partial or refused; by enum tg_tcp_side
  // The receive window each side offers at first; 1 to 2^20 bytes. The buffer behind it is twice that (sk_rcvbuf), and
  // as it holds the memory of packets and not bytes alone, the window shrinks faster than bytes come or grows as the
  // kernel learns how much of that memory is data. It is never more than the buffer.
  uint32_t window[2];
  uint32_t pingpong_threshold;  // tcp_pingpong_thresh, 1 to 255
  uint32_t rules;               // enum tg_tcp_rule; TG_TCP_RULES_ALL
};

void tg_tcp_options_default(struct tg_tcp_options *out);

// What an end tells its owner, by callback; bits. Level: the state may be asked for at any time.
enum tg_tcp_change {
  TG_TCP_READABLE = 1,   // bytes, FIN or RST arrived
  TG_TCP_WRITABLE = 2,   // the send buffer has room again (sk_stream_write_space: a third of it is free)
  TG_TCP_DELIVERED = 4,  // for the driver: bytes of this end reached the other end's receive queue
};
typedef void (*tg_tcp_notify)(void *context, struct tg_tcp *end, unsigned changes);

// A stall: bytes held back by Nagle at one end until the other end's delayed-ACK timer fired.
struct tg_tcp_stall {
  uint64_t held_since_ns;  // when the bytes were written
  uint64_t released_ns;    // when the timer fired
  uint64_t first_byte;     // stream positions of what was held
  uint64_t end_byte;
  size_t receiver_unread;  // in the other end's receive queue when the timer fired: it had not read what it had
};

struct tg_tcp_stats {
  uint64_t acks_delayed;  // delayed-ACK timers that fired with an ACK to send (LINUX_MIB_DELAYEDACKS)
  uint64_t pure_acks;     // segments sent without data
  uint64_t data_segments;
  uint64_t stalls;  // of bytes this end sent
  struct tg_tcp_stall last_stall;
};

// tg_tcp_pair_create returns a connection whose three-way handshake has just ended, or NULL when out of memory. `sim`
// and `trace` (may be NULL) are borrowed. `id` names the connection in the trace. `listener_pingpong` is inherited by
// the server's end (tcp_create_openreq_child), as is `nodelay`.
struct tg_tcp_pair *tg_tcp_pair_create(struct tg_sim *sim, struct tg_trace *trace, uint32_t id,
                                       const struct tg_tcp_options *options, uint32_t listener_pingpong, bool nodelay);

// tg_tcp_pair_destroy frees both ends. Events of the pair that are still posted must not run after it: destroy pairs
// only at the end of a run, or let tg_tcp_pair_finished decide.
void tg_tcp_pair_destroy(struct tg_tcp_pair *pair);

// tg_tcp_pair_finished says that both ends are closed and no event of the pair is posted.
bool tg_tcp_pair_finished(const struct tg_tcp_pair *pair);

struct tg_tcp *tg_tcp_end(struct tg_tcp_pair *pair, enum tg_tcp_side side);
struct tg_tcp *tg_tcp_other(struct tg_tcp *end);
struct tg_tcp_pair *tg_tcp_pair_of(struct tg_tcp *end);
uint32_t tg_tcp_id(const struct tg_tcp *end);
enum tg_tcp_side tg_tcp_side_of(const struct tg_tcp *end);
void tg_tcp_set_notify(struct tg_tcp *end, tg_tcp_notify notify, void *context);

// tg_tcp_set_delay changes the one-way delay for what is sent from now on; order is kept.
void tg_tcp_set_delay(struct tg_tcp_pair *pair, uint64_t delay_ns);

// tg_tcp_send queues up to `len` bytes; `more` is MSG_MORE. Returns how many were taken, or -errno: -EAGAIN (no room),
// -EPIPE (after shutdown, or the peer reset and the error was already reported), -ECONNRESET (first call after an RST).
ssize_t tg_tcp_send(struct tg_tcp *end, const void *data, size_t len, bool more);

// tg_tcp_recv copies up to `len` bytes; `peek` is MSG_PEEK. Returns how many, 0 at the peer's FIN, -EAGAIN or
// -ECONNRESET.
ssize_t tg_tcp_recv(struct tg_tcp *end, void *out, size_t len, bool peek);

void tg_tcp_set_nodelay(struct tg_tcp *end, bool on);  // turning it on, like removing CORK, pushes what is held
bool tg_tcp_nodelay(const struct tg_tcp *end);
void tg_tcp_set_cork(struct tg_tcp *end, bool on);
void tg_tcp_set_quickack(struct tg_tcp *end, int value);  // __tcp_sock_set_quickack
bool tg_tcp_quickack(const struct tg_tcp *end);           // getsockopt: !pingpong

void tg_tcp_shutdown_write(struct tg_tcp *end);  // FIN behind what is queued
void tg_tcp_shutdown_read(struct tg_tcp *end);
void tg_tcp_reset(struct tg_tcp *end);  // SO_LINGER 0 and close
// tg_tcp_close closes the end: RST if bytes are unread (tcp_close), FIN otherwise; later data is answered with RST.
void tg_tcp_close(struct tg_tcp *end);

// State, all from this end's point of view.
size_t tg_tcp_unread(const struct tg_tcp *end);       // bytes in the receive queue
size_t tg_tcp_room(const struct tg_tcp *end);         // bytes a send would take now
size_t tg_tcp_unacked(const struct tg_tcp *end);      // written, not acknowledged
size_t tg_tcp_held(const struct tg_tcp *end);         // written, not transmitted
uint64_t tg_tcp_written(const struct tg_tcp *end);    // stream position: all bytes ever taken by send
uint64_t tg_tcp_delivered(const struct tg_tcp *end);  // of these, arrived in the other end's queue
uint64_t tg_tcp_consumed(const struct tg_tcp *end);   // bytes ever read by this end
bool tg_tcp_fin_sent(const struct tg_tcp *end);
bool tg_tcp_fin_received(const struct tg_tcp *end);  // arrived: after the unread bytes, recv returns 0
bool tg_tcp_rst_sent(const struct tg_tcp *end);
bool tg_tcp_rst_received(const struct tg_tcp *end);
bool tg_tcp_write_shut(const struct tg_tcp *end);  // SEND_SHUTDOWN: by shutdown, close or RST
bool tg_tcp_read_shut(const struct tg_tcp *end);   // RCV_SHUTDOWN: by shutdown, FIN or RST; epoll says RDHUP
int tg_tcp_error(const struct tg_tcp *end);        // sk_err: pending error number, 0 if none
int tg_tcp_take_error(struct tg_tcp *end);         // SO_ERROR: returns and clears it
bool tg_tcp_writable(const struct tg_tcp *end);    // as EPOLLOUT (sk_stream_is_writeable)
bool tg_tcp_closed(const struct tg_tcp *end);
const struct tg_tcp_stats *tg_tcp_stats_of(const struct tg_tcp *end);

#endif
