// A connection: its phase, the one function that changes it, and one run through what it can do now.
#ifndef TLSGATE_HARNESS_ACCEPT_CONN_H
#define TLSGATE_HARNESS_ACCEPT_CONN_H

#include <openssl/base.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/accept/accept.h"
#include "harness/accept/deadline.h"
#include "harness/accept/handshake.h"
#include "harness/accept/list.h"
#include "harness/accept/shard_state.h"
#include "harness/accept/stream.h"

// Why a connection leaves its phase.
enum tg_cause {
  TG_CAUSE_PROGRESS,  // it has done what the phase is for
  TG_CAUSE_ERROR,     // the peer, the transport, the protocol, the application or want of memory
  TG_CAUSE_DEADLINE,
};

struct tg_conn {
  enum tg_source source;  // must be first: see shard_state.h
  enum tg_phase phase;
  struct tg_shard *shard;
  struct tg_link member;  // of shard->conns, then of shard->graves
  struct tg_link again;   // of shard->again
  struct tg_deadline deadline;
  struct tg_stream stream;
  SSL *ssl;  // NULL: plaintext
  struct tg_early_data early;
  void *app_state;         // in OPEN
  enum tg_app_next next;   // in OPEN: what the application said last
  uint64_t response_mark;  // stream.sent when the response deadline was set
  uint64_t acknowledged;   // in OPEN: stream.received when the ACK was last flushed
  uint64_t discarded;      // in DRAIN: bytes read off
  uint32_t interest;       // events that epoll watches for; meaningful while `watched`
  bool watched;            // epoll knows the socket
  bool over_capacity;      // accepted beyond max_connections
  bool exhausted;          // the application has seen all the input that there was
  bool saw_end;            // the application has seen TG_READ_EOF
  bool wrote;              // the application has written since the deadline was last set
  bool finishing;          // in OPEN: the last response is queued, and close_notify behind it
  bool ask_finish;         // finish_requested is due
  bool protocol_error;     // in OPEN: the TLS library gave up; an alert may be queued
  bool shut;               // in DRAIN: our FIN is sent
};

// tg_conn_new makes a connection of the accepted socket `fd`, which it owns from now on, in HANDSHAKE or, for
// plaintext, in OPEN. Returns NULL, with the socket closed and everything counted, if there is no memory.
struct tg_conn *tg_conn_new(struct tg_shard *shard, int fd, bool tls);

// tg_conn_run does what the connection can do now. `events` is what epoll has reported: 0 for a connection that has
// work left. On return the connection waits for something that an event, a deadline or its place in shard->again will
// bring, or it is in shard->graves.
void tg_conn_run(struct tg_conn *conn, uint32_t events);

// tg_conn_enter is the only place where a phase changes. It counts, and does what entering the phase takes.
void tg_conn_enter(struct tg_conn *conn, enum tg_phase to, enum tg_cause cause);

// tg_conn_expire ends the connection because its deadline has been reached.
void tg_conn_expire(struct tg_conn *conn);

// tg_conn_cut ends the connection because the grace of winding down is over.
void tg_conn_cut(struct tg_conn *conn);

// tg_conn_wind_down asks the connection to finish.
void tg_conn_wind_down(struct tg_conn *conn);

// tg_conn_say_goodbye queues close_notify, if the connection is TLS and may still say it.
void tg_conn_say_goodbye(struct tg_conn *conn);

// tg_conn_serve runs a connection in OPEN: its application, and what that wrote (serve.c).
void tg_conn_serve(struct tg_conn *conn);

// tg_conn_drain runs a connection in DRAIN (drain.c).
void tg_conn_drain(struct tg_conn *conn);

#endif
