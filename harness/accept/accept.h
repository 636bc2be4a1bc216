// The TLS accept path: from accept4() to the first byte of the first response, and back down to close().
//
// One shard is one epoll loop with one SO_REUSEPORT listener for TLS, one for plaintext, or both. A shard is driven
// from outside, one tg_shard_turn() at a time: by a thread in the server, by hand in a test or under a simulated
// kernel. Nothing here starts a thread, and shards share nothing but the TLS configuration, which is read-only to
// them save for its ticket keys (see tls_context.h), and a count of connections, if they are given one.
//
// A connection is in exactly one phase, and every phase has a deadline:
//
//     HANDSHAKE -> OPEN -> DRAIN -> (freed)         and from each phase -> (freed) on an error or at its deadline
//             \____________/
//
// The lower arrow is a handshake that failed by the protocol (plain HTTP, say): the alert is sent, and drained like a
// response, so that it is not lost to an RST.
//
// A plaintext connection begins in OPEN. What is said over an OPEN connection is the business of the application
// (struct tg_app); how it is read, written, acknowledged and torn down is the business of this library.
#ifndef TLSGATE_HARNESS_ACCEPT_ACCEPT_H
#define TLSGATE_HARNESS_ACCEPT_ACCEPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/accept/counters.h"
#include "harness/base/error.h"

struct tg_conn;
struct tg_shard;
struct tg_tls_context;

enum tg_phase {
  TG_PHASE_HANDSHAKE,
  TG_PHASE_OPEN,
  TG_PHASE_DRAIN,  // our FIN is on its way; the peer's is waited for
  TG_PHASE_GONE,   // freed, or about to be at the end of the turn
};

// When TCP_QUICKACK is set on an accepted socket. See docs/accept-path.md for why only REARM works.
enum tg_quickack {
  TG_QUICKACK_REARM,   // an odd value after every read that can leave the peer waiting for an ACK (the rule)
  TG_QUICKACK_ACCEPT,  // once, at accept: a negative control, the kernel undoes it when the flight is transmitted
  TG_QUICKACK_OFF,     // never: a negative control
};

// TG_RESPONSE_DEADLINE_BYTES is how many bytes the socket must take for a response deadline to start again.
#define TG_RESPONSE_DEADLINE_BYTES 65536u

// Deadlines, in milliseconds from the moment named. None is refreshed by single bytes. 1 to 86,400,000.
struct tg_deadlines {
  uint32_t handshake_ms;  // accept -> established
  uint32_t request_ms;    // first byte of a request -> the whole request (a trickling client costs one of these)
  uint32_t idle_ms;       // established or last response sent -> first byte of the next request
  uint32_t
      response_ms;  // response queued -> peer took the whole of it, restarted by every TG_RESPONSE_DEADLINE_BYTES taken
  uint32_t drain_ms;  // shutdown(SHUT_WR) -> close
};

// What an application wants next; returned by its callbacks.
enum tg_app_next {
  TG_APP_IDLE,  // between requests: everything read was consumed, nothing is owed. After TG_READ_EOF: as TG_APP_FINISH
  TG_APP_PARTIAL,  // a request is incomplete: the rest must be read (the ACK is flushed, see quickack.h). After EOF,
                   // FINISH
  TG_APP_WRITE,    // more response is to come: call writable() when the output buffer has room
  TG_APP_FINISH,   // the last response is queued: send it, then drain and close
  TG_APP_ABORT,    // give the connection up at once
};

// An application. All callbacks run in the thread that turns the shard; `data` is tg_shard_config.app_data.
struct tg_app {
  // opened makes the state of a connection that has just become OPEN. Returns NULL when out of memory, upon which the
  // connection is dropped. The state is owned by the connection until closed() takes it back.
  void *(*opened)(void *data, struct tg_conn *conn);
  // readable is called when there is input that the application has not seen, or when the peer has finished sending
  // (then tg_conn_read returns TG_READ_EOF). It must read until tg_conn_read returns TG_READ_AGAIN or TG_READ_EOF, or
  // return TG_APP_WRITE or TG_APP_FINISH: then input is held back until it asks for it again (pipelining is bounded).
  // TG_READ_AGAIN may also mean that the connection has had its share of this turn: readable is called again in the
  // next.
  enum tg_app_next (*readable)(void *state, struct tg_conn *conn);
  // writable is called after TG_APP_WRITE, when the socket has taken what was queued. If it answers TG_APP_IDLE or
  // TG_APP_PARTIAL, readable is called next, whether or not there is more input: the application may hold some itself.
  enum tg_app_next (*writable)(void *state, struct tg_conn *conn);
  // finish_requested is called once when the shard winds down: a connection between requests should return
  // TG_APP_FINISH, one inside a request its usual answer, and finish after that request. A connection between requests
  // is asked after it has seen the input that was there.
  enum tg_app_next (*finish_requested)(void *state, struct tg_conn *conn);
  // closed releases the state. It is called when the connection leaves OPEN, so before it drains.
  void (*closed)(void *state);
};

// tg_conn_read copies up to `len` bytes of plaintext to `out`. Returns the number copied (at least 1), or one of:
#define TG_READ_AGAIN ((ssize_t)-1)  // nothing now
#define TG_READ_EOF   ((ssize_t)-2)  // close_notify or FIN: nothing ever again
#define TG_READ_ERROR ((ssize_t)-3)  // the connection is broken and will be freed when the callback returns
ssize_t tg_conn_read(struct tg_conn *conn, void *out, size_t len);

// tg_conn_write queues up to `len` bytes of plaintext. Returns how many were taken: less than `len` when the output
// buffer is full (return TG_APP_WRITE and go on in writable()). Bytes are sent when the callback returns, in as few
// system calls as the socket allows.
size_t tg_conn_write(struct tg_conn *conn, const void *data, size_t len);

// tg_conn_is_tls says whether the connection is TLS.
bool tg_conn_is_tls(const struct tg_conn *conn);

// tg_conn_over_capacity says whether there were more connections than max_connections, in the shard or in all that
// share its count, when this one was accepted (itself and those refused among them, until they are freed): the
// application owes it a refusal (503) and TG_APP_FINISH.
bool tg_conn_over_capacity(const struct tg_conn *conn);

struct tg_shard_config {
  struct tg_tls_context *tls;  // borrowed, outlives the shard; NULL if there is no TLS listener
  int tls_listener;            // a listening socket from tg_listener_open, owned by the shard from now on; -1: none
  int http_listener;           // likewise for plaintext
  const struct tg_app *app;    // borrowed
  void *app_data;              // passed to app->opened
  enum tg_quickack quickack;
  bool
      flush_tickets;  // send NewSessionTicket when established, instead of with the first response. It hides the stall.
  struct tg_deadlines deadlines;
  uint32_t max_connections;  // beyond it tg_conn_over_capacity holds. 1 to 1,000,000
  // The connections of all shards that share the count, which max_connections then limits together. Borrowed, outlives
  // the shard; zero before the first of them is made. NULL: the shard counts its own.
  atomic_size_t *connections;
};

// tg_shard_config_default fills in deadlines and limits; listeners are -1, pointers NULL, quickack is REARM.
void tg_shard_config_default(struct tg_shard_config *out);

// tg_shard_create returns a shard, or NULL with `err` filled in. On failure the listeners remain the caller's.
struct tg_shard *tg_shard_create(const struct tg_shard_config *config, struct tg_error *err);

// tg_shard_turn waits up to `timeout_ms` for events (-1: until the next deadline or event; 0: does not wait), handles
// them and every deadline that has passed. Returns the number of events handled, or -1 with errno set if epoll failed
// or a listener has become unusable (TG_ACCEPT_BROKEN, listener.h). Such a listener is closed; further turns serve the
// connections that are there, and return -1 too.
int tg_shard_turn(struct tg_shard *shard, int timeout_ms);

// tg_shard_wind_down closes the listeners and asks every connection to finish. A connection in the handshake whose peer
// has said nothing is closed at once, another may complete it and have the request answered that came with its last
// flight; it is not waited for. Connections that are still there `grace_ms` later are cut. Called again, it sets a new
// grace and does nothing else. To be called from the thread that turns the shard, and not from a callback.
void tg_shard_wind_down(struct tg_shard *shard, uint32_t grace_ms);

// tg_shard_connections returns how many connections are not yet freed.
size_t tg_shard_connections(const struct tg_shard *shard);

// tg_shard_wake makes a waiting tg_shard_turn return. Safe from any thread and from a signal handler.
void tg_shard_wake(struct tg_shard *shard);

// tg_shard_counters copies the shard's counters. Safe from any thread.
void tg_shard_counters(const struct tg_shard *shard, struct tg_counters *out);

// tg_shard_destroy closes everything that the shard owns and frees it. NULL is ignored.
void tg_shard_destroy(struct tg_shard *shard);

#endif
