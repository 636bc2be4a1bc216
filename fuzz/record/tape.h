// Runs an exchange in the simulated world and keeps what its clients send.
#ifndef TLSGATE_FUZZ_RECORD_TAPE_H
#define TLSGATE_FUZZ_RECORD_TAPE_H

#include <stdbool.h>

#include "fuzz/record/exchange.h"
#include "fuzz/record/seeds.h"

// tg_tape_record adds the seeds that the exchange gives. Each connection of a client gives one to handshake_bytes (the
// bytes on the wire) and to request_bytes (what it said inside TLS or in plaintext), where the exchange is for them:
// named as the exchange if it has a single connection, else NAME.cC for the first of client C, NAME.cC.2 for the
// second.
//
// The bytes for handshake_bytes are then replayed: they must bring about as many handshakes, resumptions, early data
// and client certificates as the exchange did. tg_world_init has been called, with BoringSSL in fuzzer mode. Returns
// false with `err` filled in.
bool tg_tape_record(const struct tg_exchange *exchange, struct tg_seeds *seeds, struct tg_error *err);

#endif
