// Properties seen from the clients' side: P3 (a request that is there is answered), P5 (no wait for a delayed ACK), P6
// (responses arrive whole, close_notify before FIN, no RST), and recovery (P10).
#ifndef TLSGATE_FUZZ_WORLD_ORACLE_H
#define TLSGATE_FUZZ_WORLD_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include "fuzz/world/peer.h"

// tg_oracle_response looks at bytes of the application that the server has sent to a client.
void tg_oracle_response(struct tg_peer *peer, const uint8_t *data, size_t len);

// tg_oracle_peer looks at a connection after anything has happened to it.
void tg_oracle_peer(struct tg_peer *peer);

// tg_oracle_farewell takes a last look before the client forgets the connection.
void tg_oracle_farewell(struct tg_peer *peer);

// tg_oracle_rest looks at a connection when nothing is due any more but time-outs.
void tg_oracle_rest(struct tg_peer *peer);

// tg_oracle_breach is what the kernel calls for a rule that it sees broken itself.
void tg_oracle_breach(void *world, const char *property, const char *text);

#endif
