// One step of a TLS handshake. It knows a TLS session and nothing of sockets, events or time.
#ifndef TLSGATE_HARNESS_ACCEPT_HANDSHAKE_H
#define TLSGATE_HARNESS_ACCEPT_HANDSHAKE_H

#include <openssl/base.h>
#include <stddef.h>
#include <stdint.h>

enum tg_handshake_outcome {
  TG_HANDSHAKE_DONE,    // complete and confirmed: the client's Finished has been verified
  TG_HANDSHAKE_WAIT,    // the peer's next bytes are needed
  TG_HANDSHAKE_FAILED,  // an error of the protocol; an alert is queued, unless the peer sent one
  TG_HANDSHAKE_CLOSED,  // the transport ended or broke
};

// Early data (RFC 8446, 2.3), kept until the handshake is confirmed: an attacker who replays a client's first flight
// can never confirm it, and so is never answered. All zeroes: none.
struct tg_early_data {
  uint8_t *bytes;  // on the heap
  size_t at;       // of these, how many the application has seen
  size_t end;
};

// tg_handshake_step takes the handshake as far as the transport allows. What it wants to say is queued in the transport
// when it returns. Early data, and with it perhaps data that came after, is appended to `early`. The error queue must
// be empty, and may hold errors afterwards.
enum tg_handshake_outcome tg_handshake_step(SSL *ssl, struct tg_early_data *early);

// tg_early_data_free frees the bytes.
void tg_early_data_free(struct tg_early_data *early);

#endif
