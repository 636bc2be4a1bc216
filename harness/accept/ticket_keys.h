// The keys that session tickets are encrypted with: shared by all shards, rotated by time, two generations live.
//
// A generation is a stretch of `lifetime_s` seconds. Tickets are sealed with the present generation's key and opened
// with its or the one before's, so a ticket can be opened for at least `lifetime_s` after it was sealed, and a key is
// gone from memory when it is no longer needed.
//
// There is no lock on the path of a handshake. Both keys are 64 bytes in a sequence lock: a shard copies them, about
// ten nanoseconds of reading lines that no one writes. The first shard to ask in a new generation makes its key and
// stores it; a shard that loses that race uses the winner's.
#ifndef TLSGATE_HARNESS_ACCEPT_TICKET_KEYS_H
#define TLSGATE_HARNESS_ACCEPT_TICKET_KEYS_H

#include <openssl/base.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/accept/seqlock.h"

// TG_TICKET_OVERHEAD is how much longer a ticket is than what is in it: a key name of 16 bytes (RFC 5077, 4), a nonce
// of 12 and a tag of 16 (RFC 5116, 5.1).
#define TG_TICKET_OVERHEAD 44u

struct tg_ticket_key {
  uint8_t name[16];
  uint8_t key[16];  // AES-128-GCM. Random nonces are safe to 2^32 tickets a key (NIST SP 800-38D, 8.3)
};

struct tg_ticket_keys_state {
  uint64_t generation;           // of keys[0]
  struct tg_ticket_key keys[2];  // the present generation's and the one before's
};

#define TG_TICKET_KEYS_WORDS (sizeof(struct tg_ticket_keys_state) / sizeof(uint64_t))

struct tg_ticket_keys {
  uint64_t lifetime_s;
  struct tg_seqlock lock;
  _Atomic uint64_t words[TG_TICKET_KEYS_WORDS];
};

// tg_ticket_keys_init makes the first key, at `now_s`. Returns false if there is no randomness.
bool tg_ticket_keys_init(struct tg_ticket_keys *keys, uint32_t lifetime_s, uint64_t now_s);

// tg_ticket_keys_wipe overwrites the keys.
void tg_ticket_keys_wipe(struct tg_ticket_keys *keys);

// tg_ticket_seal encrypts `in_len` bytes to `out`, at most `max_out_len` bytes, and sets `*out_len`. `now_s` never
// decreases by more than a moment between callers. Returns false on failure.
bool tg_ticket_seal(struct tg_ticket_keys *keys, uint64_t now_s, uint8_t *out, size_t *out_len, size_t max_out_len,
                    const uint8_t *in, size_t in_len);

// tg_ticket_open is the inverse of tg_ticket_seal. Returns false if the ticket's key is gone or was never here, or the
// ticket is not whole. The error queue is left as it was.
bool tg_ticket_open(struct tg_ticket_keys *keys, uint64_t now_s, uint8_t *out, size_t *out_len, size_t max_out_len,
                    const uint8_t *in, size_t in_len);

// tg_ticket_keys_install makes `ctx` use `keys`, which must outlive it, with CLOCK_MONOTONIC as the clock. It takes the
// context's app data. Returns false when out of memory: such a context must not be used.
bool tg_ticket_keys_install(SSL_CTX *ctx, struct tg_ticket_keys *keys);

#endif
