#include "harness/accept/ticket_keys.h"

#include <assert.h>
#include <openssl/aead.h>
#include <openssl/err.h>
#include <openssl/mem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <string.h>

#include "harness/accept/clock.h"

enum { kNameLen = 16, kNonceLen = 12, kTagLen = 16 };

_Static_assert(kNameLen + kNonceLen + kTagLen == TG_TICKET_OVERHEAD, "the overhead is the sum of its parts");
_Static_assert(sizeof(struct tg_ticket_keys_state) % sizeof(uint64_t) == 0, "the state is whole words");

static bool make_key(struct tg_ticket_key *out) {
  return RAND_bytes(out->name, sizeof(out->name)) == 1 && RAND_bytes(out->key, sizeof(out->key)) == 1;
}

bool tg_ticket_keys_init(struct tg_ticket_keys *keys, uint32_t lifetime_s, uint64_t now_s) {
  assert(lifetime_s > 0);
  memset(keys, 0, sizeof(*keys));
  keys->lifetime_s = lifetime_s;
  struct tg_ticket_keys_state state = {.generation = now_s / lifetime_s};
  // The generation before the first has a key too, one that never sealed anything.
  bool made = make_key(&state.keys[0]) && make_key(&state.keys[1]);
  if (made) {
    uint64_t words[TG_TICKET_KEYS_WORDS];
    memcpy(words, &state, sizeof(words));
    made =
        tg_seqlock_try_store(&keys->lock, tg_seqlock_sequence(&keys->lock), keys->words, words, TG_TICKET_KEYS_WORDS);
    OPENSSL_cleanse(words, sizeof(words));
  }
  OPENSSL_cleanse(&state, sizeof(state));
  return made;
}

void tg_ticket_keys_wipe(struct tg_ticket_keys *keys) {
  OPENSSL_cleanse(keys, sizeof(*keys));
}

static void load(const struct tg_ticket_keys *keys, struct tg_ticket_keys_state *out) {
  uint64_t words[TG_TICKET_KEYS_WORDS];
  tg_seqlock_load(&keys->lock, words, keys->words, TG_TICKET_KEYS_WORDS);
  memcpy(out, words, sizeof(words));
  OPENSSL_cleanse(words, sizeof(words));
}

static bool advance(struct tg_ticket_keys *keys, uint64_t generation, struct tg_ticket_keys_state *state) {
  uint64_t sequence = tg_seqlock_sequence(&keys->lock);
  load(keys, state);
  if (state->generation >= generation) {
    return true;
  }
  struct tg_ticket_keys_state next = {.generation = generation};
  if (!make_key(&next.keys[0])) {
    return false;
  }
  bool made = true;
  if (generation == state->generation + 1) {
    next.keys[1] = state->keys[0];
  } else {
    // Nobody asked for a whole generation, so no key is of the one before.
    made = make_key(&next.keys[1]);
  }
  if (made) {
    uint64_t words[TG_TICKET_KEYS_WORDS];
    memcpy(words, &next, sizeof(words));
    // When another shard has stored meanwhile, its keys are the ones.
    tg_seqlock_try_store(&keys->lock, sequence, keys->words, words, TG_TICKET_KEYS_WORDS);
    OPENSSL_cleanse(words, sizeof(words));
    load(keys, state);
  }
  OPENSSL_cleanse(&next, sizeof(next));
  return made;
}

// Copies the keys that are live at `now_s`, after making the present generation's if there is none yet.
static bool live_keys(struct tg_ticket_keys *keys, uint64_t now_s, struct tg_ticket_keys_state *out) {
  uint64_t generation = now_s / keys->lifetime_s;
  load(keys, out);
  return out->generation >= generation || advance(keys, generation, out);
}

static bool seal(const struct tg_ticket_key *key, uint8_t *out, size_t *out_len, size_t max_out_len, const uint8_t *in,
                 size_t in_len) {
  if (max_out_len < TG_TICKET_OVERHEAD || in_len > max_out_len - TG_TICKET_OVERHEAD) {
    return false;
  }
  uint8_t *nonce = out + kNameLen;
  uint8_t *sealed = nonce + kNonceLen;
  uint8_t fresh[kNonceLen];
  if (RAND_bytes(fresh, sizeof(fresh)) != 1) {
    return false;
  }
  EVP_AEAD_CTX aead;
  EVP_AEAD_CTX_zero(&aead);
  if (!EVP_AEAD_CTX_init(&aead, EVP_aead_aes_128_gcm(), key->key, sizeof(key->key), kTagLen, NULL)) {
    return false;
  }
  size_t sealed_len = 0;
  // `in` may be `out`, so it is moved to where it will be sealed in place before the name and nonce are written.
  memmove(sealed, in, in_len);
  int ok = EVP_AEAD_CTX_seal(&aead, sealed, &sealed_len, max_out_len - kNameLen - kNonceLen, fresh, sizeof(fresh),
                             sealed, in_len, key->name, sizeof(key->name));
  EVP_AEAD_CTX_cleanup(&aead);
  if (!ok) {
    return false;
  }
  memcpy(out, key->name, kNameLen);
  memcpy(nonce, fresh, sizeof(fresh));
  *out_len = kNameLen + kNonceLen + sealed_len;
  return true;
}

bool tg_ticket_seal(struct tg_ticket_keys *keys, uint64_t now_s, uint8_t *out, size_t *out_len, size_t max_out_len,
                    const uint8_t *in, size_t in_len) {
  struct tg_ticket_keys_state state;
  bool ok = live_keys(keys, now_s, &state) && seal(&state.keys[0], out, out_len, max_out_len, in, in_len);
  OPENSSL_cleanse(&state, sizeof(state));
  return ok;
}

static bool open_with(const struct tg_ticket_key *key, uint8_t *out, size_t *out_len, size_t max_out_len,
                      const uint8_t *in, size_t in_len) {
  EVP_AEAD_CTX aead;
  EVP_AEAD_CTX_zero(&aead);
  const uint8_t *nonce = in + kNameLen;
  const uint8_t *sealed = nonce + kNonceLen;
  int ok = EVP_AEAD_CTX_init(&aead, EVP_aead_aes_128_gcm(), key->key, sizeof(key->key), kTagLen, NULL) &&
           EVP_AEAD_CTX_open(&aead, out, out_len, max_out_len, nonce, kNonceLen, sealed, in_len - kNameLen - kNonceLen,
                             key->name, sizeof(key->name));
  EVP_AEAD_CTX_cleanup(&aead);
  return ok == 1;
}

bool tg_ticket_open(struct tg_ticket_keys *keys, uint64_t now_s, uint8_t *out, size_t *out_len, size_t max_out_len,
                    const uint8_t *in, size_t in_len) {
  if (in_len < TG_TICKET_OVERHEAD) {
    return false;
  }
  struct tg_ticket_keys_state state;
  bool ok = false;
  if (live_keys(keys, now_s, &state)) {
    for (size_t i = 0; i < 2 && !ok; i++) {
      // A key's name is public, so the comparison need not take constant time.
      if (memcmp(in, state.keys[i].name, kNameLen) == 0) {
        ok = open_with(&state.keys[i], out, out_len, max_out_len, in, in_len);
      }
    }
  }
  OPENSSL_cleanse(&state, sizeof(state));
  if (!ok) {
    ERR_clear_error();
  }
  return ok;
}

static struct tg_ticket_keys *keys_of(SSL *ssl) {
  return SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
}

static uint64_t now_s(void) {
  return tg_clock_now_ns() / TG_NS_PER_S;
}

static size_t aead_max_overhead(SSL *ssl) {
  (void)ssl;
  return TG_TICKET_OVERHEAD;
}

static int aead_seal(SSL *ssl, uint8_t *out, size_t *out_len, size_t max_out_len, const uint8_t *in, size_t in_len) {
  return tg_ticket_seal(keys_of(ssl), now_s(), out, out_len, max_out_len, in, in_len) ? 1 : 0;
}

static enum ssl_ticket_aead_result_t aead_open(SSL *ssl, uint8_t *out, size_t *out_len, size_t max_out_len,
                                               const uint8_t *in, size_t in_len) {
  // A ticket that cannot be opened costs the client a full handshake, no more.
  return tg_ticket_open(keys_of(ssl), now_s(), out, out_len, max_out_len, in, in_len) ? ssl_ticket_aead_success
                                                                                      : ssl_ticket_aead_ignore_ticket;
}

bool tg_ticket_keys_install(SSL_CTX *ctx, struct tg_ticket_keys *keys) {
  static const SSL_TICKET_AEAD_METHOD kMethod = {
      .max_overhead = aead_max_overhead, .seal = aead_seal, .open = aead_open};
  SSL_CTX_set_ticket_aead_method(ctx, &kMethod);
  // The methods look for the keys there and nowhere else.
  return SSL_CTX_set_app_data(ctx, keys) == 1;
}
