// A client of the simulated world: a real TLS client or raw bytes, over one end of a simulated connection.
//
// What it has to say goes through an outbox, from which it is written to the socket as a schedule wants it: whole or in
// cuts, at once or when pushed. Everything it does is a driver event (sim.h), so never in the middle of the server.
#ifndef TLSGATE_FUZZ_WORLD_PEER_H
#define TLSGATE_FUZZ_WORLD_PEER_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/schedule/schedule.h"
#include "fuzz/world/bytes.h"
#include "fuzz/world/http_reader.h"
#include "fuzz/world/http_script.h"
#include "harness/kernel/kernel.h"

struct tg_world;

// TG_PEER_FLIGHT_MAX: how much of a client's first flight is kept for replaying it.
#define TG_PEER_FLIGHT_MAX 20480u

enum tg_peer_kind { TG_PEER_TLS, TG_PEER_PLAINTEXT, TG_PEER_RAW };

struct tg_peer {
  struct tg_world *world;
  uint8_t index;
  enum tg_peer_kind kind;
  uint16_t bits;         // how it connected
  uint8_t end;           // enum tg_byte_input_end: how it ended the connection
  uint32_t connections;  // so far; events of an earlier one are void
  struct tg_tcp *tcp;    // NULL: not connected
  SSL *ssl;
  BIO *in;   // of ssl, borrowed
  BIO *out;  // of ssl, borrowed
  bool nagle;
  bool run_posted;
  bool write_posted;

  // Out.
  struct tg_bytes plain;   // waits for the handshake
  struct tg_bytes outbox;  // waits for the socket
  bool hold;
  size_t pushed;  // bytes of the outbox that may go although it is held
  uint16_t cut;
  uint32_t cut_writes;  // made on this connection
  uint64_t gap_ns;
  uint64_t next_write_ns;
  bool fin_wanted;  // behind the outbox
  bool fin_done;
  bool silent;  // to the end of the run: it does nothing more
  uint64_t flight_len;
  uint8_t flight[TG_PEER_FLIGHT_MAX];
  bool flight_over;
  size_t early_said;   // bytes of `plain` that have gone as early data
  uint64_t written;    // bytes that the socket has taken
  bool establishing;   // its handshake has just been completed, and what did that has not been sent before this moment
  uint64_t finish_at;  // of these, how many end with what completes the handshake; once established

  // In.
  bool reading;
  size_t read_budget;  // while not reading: may still be read
  bool established;
  uint64_t whole_ns;  // when it was last established, or got a whole response; else when it connected
  bool notified;      // close_notify received
  bool ended;         // FIN received
  bool reset;         // RST received
  bool failed;        // the TLS library gave up
  uint32_t failure;   // ... for this reason: BoringSSL's packed error
  uint64_t stalls_seen[2];
  uint32_t key_updates;

  // What may be asked of the server: nothing that this client did explains trouble.
  bool well_behaved;
  bool unwelcome;   // it has no certificate and the server wants one
  bool left_early;  // it ended its half before its handshake was done: the server need not have completed it
  bool gone;        // it says nothing more: it has closed, reset, half-closed or said close_notify

  struct tg_http_script script;
  struct tg_http_reader reader;

  // Over all connections of the run.
  uint32_t established_total;
  uint32_t responses_total;
  uint64_t hash_total;
};

// tg_peer_init makes a client that is not connected.
void tg_peer_init(struct tg_peer *peer, struct tg_world *world, uint8_t index);

// tg_peer_release frees what it holds; the simulated connection is the kernel's.
void tg_peer_release(struct tg_peer *peer);

// tg_peer_connect connects as the bits of enum tg_schedule_connect say, and starts the handshake. Returns false when
// the connection is refused.
bool tg_peer_connect(struct tg_peer *peer, uint16_t bits);

void tg_peer_request(struct tg_peer *peer, uint16_t value);
void tg_peer_say(struct tg_peer *peer, const uint8_t *data, size_t len);  // application bytes, unscripted
void tg_peer_raw(struct tg_peer *peer, const uint8_t *data, size_t len);  // past TLS
void tg_peer_push(struct tg_peer *peer, size_t len);                      // 0: all
void tg_peer_flush(struct tg_peer *peer);                                 // writes what may be written now
void tg_peer_close_notify(struct tg_peer *peer);
void tg_peer_half_close(struct tg_peer *peer);
void tg_peer_close(struct tg_peer *peer);
void tg_peer_reset(struct tg_peer *peer);
void tg_peer_key_update(struct tg_peer *peer, bool asks);
void tg_peer_flip(struct tg_peer *peer, uint16_t value);
void tg_peer_set_reading(struct tg_peer *peer, uint16_t value);
void tg_peer_drop_outbox(struct tg_peer *peer);

// tg_peer_wake has the client look at its socket, as a driver event.
void tg_peer_wake(struct tg_peer *peer);

#endif
