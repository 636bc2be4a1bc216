// The TLS half of a client: between its outbox and what it has to say.
#ifndef TLSGATE_FUZZ_WORLD_PEER_TLS_H
#define TLSGATE_FUZZ_WORLD_PEER_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "fuzz/world/peer.h"

// tg_peer_tls_context makes what all clients share. Aborts when out of memory.
SSL_CTX *tg_peer_tls_context(void);

// tg_peer_tls_start makes the TLS client of a connection as the bits of enum tg_schedule_connect say.
void tg_peer_tls_start(struct tg_peer *peer, uint16_t bits);

// tg_peer_tls_take hands over bytes that came from the socket.
void tg_peer_tls_take(struct tg_peer *peer, const uint8_t *data, size_t len);

// tg_peer_tls_progress does what can be done now: the handshake, what waits to be said, what was received. What the
// library writes goes to the outbox.
void tg_peer_tls_progress(struct tg_peer *peer);

#endif
