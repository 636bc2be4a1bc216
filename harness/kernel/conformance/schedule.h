// A schedule: what a client and a server do with the two ends of one TCP connection, in order, as text.
//
//   mss 88, s nodelay 1, c write 300, s await, s read, s write 1200, sleep 1, s quickack 1, c await, c read, ...
//
// One script for both sides, so that nothing is left to chance: the order of calls is the order of the text. Steps are
// separated by commas. Settings come first:
//
//   mss N         what one segment holds, 88 to 1448 (TCP_MAXSEG is N + 12 for the timestamps; without: loopback's)
//   thresh N      net.ipv4.tcp_pingpong_thresh, 1 to 255 (without: 1)
//   buffer S N    the receive buffer (SO_RCVBUF) of side S, 2,304 to 65,536 bytes
//   listen N      TCP_QUICKACK on the listener, inherited by the accepted socket
//
// Then come steps of side `c` or `s`, and sleeps:
//
//   S write N     one send() of N bytes, 1 to 65,536; S more N: with MSG_MORE
//   S read [N]    one recv() of at most N bytes (without: of all there are)
//   S await [N]   waits until N bytes are unread (without: all the other side has written). The only step that waits
//                 for the network, and the one that is measured: see enum tg_wait
//   S quickack N, S nodelay N, S cork N      setsockopt
//   S shutdown    shutdown(SHUT_WR)
//   sleep N       milliseconds, 1 to 1,000
#ifndef TLSGATE_HARNESS_KERNEL_CONFORMANCE_SCHEDULE_H
#define TLSGATE_HARNESS_KERNEL_CONFORMANCE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/kernel/tcp.h"

#define TG_STEPS_MAX         160u
#define TG_AWAITS_MAX        40u
#define TG_SCHEDULE_TEXT_MAX 4096u

enum tg_verb {
  TG_VERB_WRITE,
  TG_VERB_MORE,
  TG_VERB_READ,
  TG_VERB_AWAIT,
  TG_VERB_QUICKACK,
  TG_VERB_NODELAY,
  TG_VERB_CORK,
  TG_VERB_SHUTDOWN,
  TG_VERB_SLEEP,
  TG_VERBS,
};

struct tg_step {
  enum tg_verb verb;
  enum tg_tcp_side side;
  uint32_t value;  // 0: none was given
};

struct tg_schedule {
  uint32_t mss;        // 0: loopback's
  uint32_t threshold;  // at least 1
  uint32_t buffer[2];  // 0: the default; by enum tg_tcp_side
  int listen;          // TCP_QUICKACK on the listener, -1: not set
  size_t num_steps;
  struct tg_step steps[TG_STEPS_MAX];
};

// How long an await took, round trips aside: the classes that the model and the kernel must agree on. One letter each.
enum tg_wait {
  TG_WAIT_NONE = '-',   // under 20 ms
  TG_WAIT_STALL = 'S',  // 36 to 60 ms: a delayed ACK
  TG_WAIT_LONG = 'L',   // 180 ms and more: the probe timer
  TG_WAIT_ODD = '?',    // in between: no class, and in no prediction
};
enum tg_wait tg_wait_of(uint64_t took_ns);

// What a run of a schedule showed: one letter for each await, and how many delayed-ACK timers fired with an ACK to
// send.
struct tg_outcome {
  char waits[TG_AWAITS_MAX + 1];
  uint64_t delayed_acks;
};

// tg_schedule_parse reads `text`. On failure `error` (of `error_len` bytes) names the step and what is wrong.
bool tg_schedule_parse(struct tg_schedule *out, const char *text, char *error, size_t error_len);

// tg_schedule_print is its inverse: parsing what it wrote gives the same schedule. Writes at most TG_SCHEDULE_TEXT_MAX.
void tg_schedule_print(const struct tg_schedule *schedule, char *out);

#endif
