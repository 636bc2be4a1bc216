// Messages that cost the client little and the server much.
#include <openssl/aead.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <string.h>

#include "perf/probe/probe.h"
#include "perf/process/child.h"

#define QUICK_S 5.0

enum { RENEGOTIATORS = 16, HELLOS = 200, UPDATERS = 8, UPDATES = 5000, UPDATES_AT_ONCE = 16 };

// TLS_ECDHE_*_WITH_AES_128_GCM_SHA256 (RFC 5288, 3): no MAC keys; 16 bytes of key and 4 of IV for each side.
#define KEY_LEN   16
#define IV_LEN    4
#define NONCE_LEN 12
#define TAG_LEN   16
#define HEAD_LEN  5
#define HELLO_MAX 256

static uint8_t *put16(uint8_t *at, unsigned value) {
  at[0] = (uint8_t)(value >> 8);
  at[1] = (uint8_t)value;
  return at + 2;
}

static void put64(uint8_t *at, uint64_t value) {
  for (int i = 7; i >= 0; i--, value >>= 8) {
    at[i] = (uint8_t)value;
  }
}

// A ClientHello of TLS 1.2 that a server open to renegotiation would answer: it carries the connection's verify_data
// (RFC 5746, 3.5). The library itself sends none, so it is written out here (RFC 5246, 7.4.1.2). Returns its length.
static size_t write_hello(const SSL *ssl, uint8_t out[HELLO_MAX]) {
  static const uint8_t rest[] = {
      0x00, 0x0a, 0x00, 0x06, 0x00, 0x04, 0x00, 0x1d, 0x00, 0x17,              // groups: x25519, P-256
      0x00, 0x0b, 0x00, 0x02, 0x01, 0x00,                                      // point format: uncompressed
      0x00, 0x0d, 0x00, 0x08, 0x00, 0x06, 0x04, 0x03, 0x08, 0x04, 0x04, 0x01,  // signatures: ECDSA, PSS, PKCS1; SHA-256
  };
  uint8_t verify[64];
  size_t verify_len = SSL_get_finished(ssl, verify, sizeof(verify));
  uint8_t *at = out + 4;
  at = put16(at, 0x0303);
  (void)RAND_bytes(at, 32);
  at += 32;
  *at++ = 0;                                        // no session
  at = put16(put16(put16(at, 4), 0xc02b), 0xc02f);  // ECDHE-ECDSA and ECDHE-RSA with AES-128-GCM
  *at++ = 1;
  *at++ = 0;  // no compression
  at = put16(at, (unsigned)(5 + verify_len + sizeof(rest)));
  at = put16(put16(at, 0xff01), (unsigned)(1 + verify_len));
  *at++ = (uint8_t)verify_len;
  memcpy(at, verify, verify_len);
  at += verify_len;
  memcpy(at, rest, sizeof(rest));
  at += sizeof(rest);
  size_t len = (size_t)(at - out);
  out[0] = 1;  // ClientHello
  out[1] = 0;
  (void)put16(out + 2, (unsigned)(len - 4));
  return len;
}

// The client's own keys, for records of a kind that the library does not let a caller send.
struct sealer {
  EVP_AEAD_CTX aead;
  uint8_t iv[IV_LEN];
  uint64_t sequence;
};

static bool sealer_init(struct sealer *out, const SSL *ssl) {
  uint8_t block[256];
  size_t len = SSL_get_key_block_len(ssl);
  EVP_AEAD_CTX_zero(&out->aead);
  if (len != 2 * (KEY_LEN + IV_LEN) || !SSL_generate_key_block(ssl, block, len)) {
    return false;
  }
  memcpy(out->iv, block + (size_t)2 * KEY_LEN, IV_LEN);
  out->sequence = SSL_get_write_sequence(ssl);
  return EVP_AEAD_CTX_init(&out->aead, EVP_aead_aes_128_gcm(), block, KEY_LEN, TAG_LEN, NULL) == 1;
}

// RFC 5288, 3: the explicit part of the nonce is the sequence number; RFC 5246, 6.2.3.3: what is authenticated.
static size_t seal(struct sealer *sealer, const uint8_t *message, size_t len, uint8_t *out, size_t size) {
  uint8_t nonce[NONCE_LEN];
  uint8_t head[8 + HEAD_LEN];
  size_t sealed = 0;
  memcpy(nonce, sealer->iv, IV_LEN);
  put64(nonce + IV_LEN, sealer->sequence);
  put64(head, sealer->sequence);
  head[8] = 22;  // handshake
  (void)put16(put16(head + 9, 0x0303), (unsigned)len);
  if (!EVP_AEAD_CTX_seal(&sealer->aead, out + HEAD_LEN + 8, &sealed, size - HEAD_LEN - 8, nonce, NONCE_LEN, message,
                         len, head, sizeof(head))) {
    return 0;
  }
  out[0] = 22;
  (void)put16(put16(out + 1, 0x0303), (unsigned)(8 + sealed));
  put64(out + HEAD_LEN, sealer->sequence++);
  return HEAD_LEN + 8 + sealed;
}

// The type of the first record that the server answers with, 0 if none comes.
static int answer_type(struct tg_wire *wire, double until) {
  uint8_t head[HEAD_LEN];
  struct tg_wire bare = *wire;
  bare.ssl = NULL;  // as it stands, not decrypted
  ssize_t got = tg_wire_read(&bare, head, sizeof(head), until);
  wire->ended = bare.ended;
  return got > 0 ? head[0] : 0;
}

static bool handshake_12(struct tg_wire *wire, uint16_t port, double until) {
  if (!tg_wire_open(wire, port, until)) {
    return false;
  }
  if (tg_wire_prepare(wire, TLS1_2_VERSION, TLS1_2_VERSION) &&
      SSL_set_strict_cipher_list(wire->ssl, "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256") &&
      tg_wire_handshake(wire, TLS1_2_VERSION, TLS1_2_VERSION, TG_WIRE_WHOLE, until)) {
    return true;
  }
  tg_wire_close(wire);
  return false;
}

// Floods one connection. Returns the type of the first answer: 21 alert, 22 handshake, which is a renegotiation begun.
static int renegotiate(struct tg_wire *wire) {
  struct sealer sealer;
  uint8_t hello[HELLO_MAX];
  uint8_t record[HELLO_MAX + 64];
  int type = 0;
  if (!sealer_init(&sealer, wire->ssl)) {
    return -1;
  }
  size_t len = write_hello(wire->ssl, hello);
  for (size_t i = 0; i < HELLOS; i++) {
    size_t sealed = seal(&sealer, hello, len, record, sizeof(record));
    if (!tg_wire_send(wire, record, sealed, tg_now_s() + 1)) {
      break;
    }
    if (i == 0) {
      type = answer_type(wire, tg_now_s() + 1);
    }
  }
  EVP_AEAD_CTX_cleanup(&sealer.aead);
  return type;
}

void tg_probe_renegotiation(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  struct tg_wire wires[RENEGOTIATORS];
  size_t begun_again = 0;
  size_t refused = 0;
  size_t opened = 0;
  double last = 0;
  double begun = tg_now_s();
  for (; opened < RENEGOTIATORS; opened++) {
    if (!handshake_12(&wires[opened], target->port, tg_now_s() + QUICK_S)) {
      break;
    }
    int type = renegotiate(&wires[opened]);
    if (type < 0) {
      tg_probe_undecided(seen, "the connection's keys are not those of AES-128-GCM");
    }
    refused += type == 21 || wires[opened].ended;
    begun_again += type == 22;
  }
  if (opened == 0) {
    tg_probe_undecided(seen, "no TLS 1.2 with ECDHE and AES-128-GCM to be had, so nothing to renegotiate");
    return;
  }
  if (opened < RENEGOTIATORS) {
    tg_probe_fail(seen, "handshake %zu of %d failed", opened + 1, RENEGOTIATORS);
  }
  double wait = target->limit_s;
  size_t ended = tg_probe_await_ends(wires, opened, opened, tg_now_s() + wait, &last);
  tg_probe_ended(seen, ended, opened, last - begun, wait, 0, "renegotiating connections");
  tg_probe_note(seen, "refused on %zu of %zu connections, renegotiated on %zu", refused, opened, begun_again);
  tg_probe_close_all(wires, opened);
}

// Sends KeyUpdates, and a byte of a request now and then, until all are sent or the server ends it. Returns how many
// went out.
static size_t update_keys(struct tg_wire *wire) {
  size_t sent = 0;
  while (sent < UPDATES) {
    for (size_t i = 0; i < UPDATES_AT_ONCE; i++, sent++) {
      // An empty write puts the message out, with no record of its own.
      if (!SSL_key_update(wire->ssl, SSL_KEY_UPDATE_REQUESTED) || SSL_write(wire->ssl, "", 0) < 0) {
        return sent;
      }
    }
    // Data between them: some servers count only KeyUpdates in a row.
    if (SSL_write(wire->ssl, "G", 1) != 1 || !tg_wire_flush(wire, TG_WIRE_WHOLE, tg_now_s() + 1)) {
      return sent;
    }
  }
  return sent;
}

void tg_probe_key_update(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  struct tg_wire wires[UPDATERS];
  size_t opened = 0;
  size_t most = 0;
  double last = 0;
  double begun = tg_now_s();
  for (; opened < UPDATERS; opened++) {
    double until = tg_now_s() + QUICK_S;
    if (!tg_wire_open(&wires[opened], target->port, until)) {
      break;
    }
    if (!tg_wire_handshake(&wires[opened], TLS1_3_VERSION, TLS1_3_VERSION, TG_WIRE_WHOLE, until)) {
      tg_wire_close(&wires[opened]);
      break;
    }
    size_t sent = update_keys(&wires[opened]);
    most = sent > most ? sent : most;
  }
  if (opened == 0) {
    tg_probe_undecided(seen, "no TLS 1.3 to be had, so no KeyUpdate");
    return;
  }
  if (opened < UPDATERS) {
    tg_probe_fail(seen, "handshake %zu of %d failed", opened + 1, UPDATERS);
  }
  double wait = target->limit_s / 3;
  size_t ended = tg_probe_await_ends(wires, opened, opened, tg_now_s() + wait, &last);
  tg_probe_ended(seen, ended, opened, last - begun, wait, 0, "connections with KeyUpdates");
  tg_probe_note(seen, "up to %zu KeyUpdates sent on a connection", most);
  tg_probe_close_all(wires, opened);
}
