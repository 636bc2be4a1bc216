// Handshakes of every kind, through a whole shard on loopback.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <openssl/err.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/accept/handshake.h"
#include "harness/accept/testing_rig.h"

static const struct testing_peer_options kTls13 = {.version = TLS1_3_VERSION};

static void check_exchange(uint16_t version) {
  struct testing_rig rig;
  struct testing_peer peer;
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&peer, &rig, &(struct testing_peer_options){.version = version});
  testing_peer_echo(&peer, &rig);
  testing_peer_echo(&peer, &rig);
  struct tg_counters now = testing_rig_counters(&rig);
  assert_int_equal(now.established, 1);
  assert_int_equal(now.open, 1);
  assert_int_equal(now.resumed, 0);
  testing_peer_bye(&peer, &rig);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_tls13_exchange(void **state) {
  (void)state;
  check_exchange(TLS1_3_VERSION);
}

static void test_tls12_exchange(void **state) {
  (void)state;
  check_exchange(TLS1_2_VERSION);
}

static void test_tls11_is_refused(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  testing_rig_start(&rig, NULL);
  testing_peer_start(&peer, &rig, &(struct testing_peer_options){.version = TLS1_1_VERSION});
  assert_false(testing_peer_shake(&peer, &rig));
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  assert_int_equal(testing_rig_counters(&rig).handshake_failed, 1);
  testing_rig_stop(&rig);
}

static void test_hello_retry_request(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  struct testing_options options;
  testing_options_default(&options);
  options.groups = "P-384";
  testing_rig_start(&rig, &options);
  // The client guesses its first group, and offers P-384 as well.
  testing_peer_connect(&peer, &rig, &(struct testing_peer_options){.groups = "X25519:P-384"});
  assert_true(SSL_used_hello_retry_request(peer.ssl));
  assert_int_equal(SSL_get_curve_id(peer.ssl), SSL_CURVE_SECP384R1);
  testing_peer_echo(&peer, &rig);
  testing_peer_bye(&peer, &rig);
  // No group in common: an alert.
  testing_peer_start(&peer, &rig, &(struct testing_peer_options){.groups = "X25519"});
  assert_false(testing_peer_shake(&peer, &rig));
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_alpn_and_names(void **state) {
  (void)state;
  static const struct {
    const char *offered;
    const char *selected;
  } kCases[] = {{"\x02h2\x08http/1.1", "http/1.1"}, {"\x02h2", ""}, {NULL, ""}};
  struct testing_rig rig;
  testing_rig_start(&rig, NULL);
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); i++) {
    struct testing_peer peer;
    testing_peer_connect(&peer, &rig,
                         &(struct testing_peer_options){.alpn = kCases[i].offered, .server_name = "any.name.example"});
    const uint8_t *selected = NULL;
    unsigned len = 0;
    SSL_get0_alpn_selected(peer.ssl, &selected, &len);
    assert_int_equal(len, strlen(kCases[i].selected));
    if (len > 0) {
      assert_memory_equal(selected, kCases[i].selected, len);
    }
    testing_peer_echo(&peer, &rig);
    testing_peer_bye(&peer, &rig);
  }
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

// Captures a real ClientHello, made large by its ALPN list, and sends it in pieces of one byte.
static void test_large_client_hello_byte_by_byte(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  char alpn[2101];
  for (size_t i = 0; i < 100; i++) {
    (void)snprintf(alpn + i * 21, 22, "\x14protocol-%03zu-of-many", i);
    assert_int_equal(strlen(alpn + i * 21), 21);
  }
  testing_rig_start(&rig, NULL);
  testing_peer_start(&peer, &rig, &(struct testing_peer_options){.alpn = alpn, .server_name = "name.example"});
  BIO *out = BIO_new(BIO_s_mem());
  BIO *in = BIO_new_socket(peer.fd, BIO_NOCLOSE);
  assert_non_null(out);
  assert_non_null(in);
  SSL_set_bio(peer.ssl, in, out);
  assert_int_equal(SSL_do_handshake(peer.ssl), -1);
  const uint8_t *hello;
  size_t len;
  assert_int_equal(BIO_mem_contents(out, &hello, &len), 1);
  assert_true(len > 2100);
  for (size_t i = 0; i < len; i++) {
    assert_int_equal(send(peer.fd, hello + i, 1, MSG_NOSIGNAL), 1);
    assert_true(tg_shard_turn(rig.shard, i % 64 == 0 ? 1 : 0) >= 0);
  }
  assert_int_equal(SSL_set_fd(peer.ssl, peer.fd), 1);
  ERR_clear_error();
  assert_true(testing_peer_shake(&peer, &rig));
  testing_peer_echo(&peer, &rig);
  testing_peer_bye(&peer, &rig);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

// BoringSSL's client cannot ask for a renegotiation, so OpenSSL's does.
static void test_renegotiation_is_refused(void **state) {
  (void)state;
  struct testing_rig rig;
  int commands[2];
  char target[32];
  testing_rig_start(&rig, NULL);
  (void)snprintf(target, sizeof(target), "127.0.0.1:%u", rig.tls_port);
  assert_int_equal(pipe(commands), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(commands[0], STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(commands[0]);
    close(commands[1]);
    execlp("openssl", "openssl", "s_client", "-tls1_2", "-connect", target, (char *)NULL);
    _exit(127);
  }
  close(commands[0]);
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).established == 1);
  assert_int_equal(write(commands[1], "echo x\n", 7), 7);
  TESTING_TURN_UNTIL(&rig, rig.stats.requests == 1);
  // Only the server can end this: the client's input stays open.
  assert_int_equal(write(commands[1], "R\n", 2), 2);
  testing_rig_settle(&rig);
  assert_int_equal(testing_rig_counters(&rig).established, 1);
  assert_int_equal(rig.stats.requests, 1);
  close(commands[1]);
  assert_int_equal(waitpid(child, NULL, 0), child);
  testing_rig_stop(&rig);
}

static void test_a_record_that_does_not_decrypt_gets_an_alert(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  char byte;
  // Application data, 32 bytes of it (RFC 8446, 5.2).
  static const uint8_t kRecord[5 + 32] = {23, 3, 3, 0, 32};
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&peer, &rig, &kTls13);
  testing_peer_echo(&peer, &rig);
  assert_int_equal(send(peer.fd, kRecord, sizeof(kRecord), MSG_NOSIGNAL), sizeof(kRecord));
  TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).draining == 1);
  ERR_clear_error();
  assert_int_equal(SSL_read(peer.ssl, &byte, 1), -1);
  assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_SSLV3_ALERT_BAD_RECORD_MAC);
  ERR_clear_error();
  // A FIN behind the alert, not an RST.
  assert_int_equal(recv(peer.fd, &byte, 1, 0), 0);
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

static void test_key_updates_are_followed_and_a_flood_ends(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  testing_rig_start(&rig, NULL);
  testing_peer_connect(&peer, &rig, &kTls13);
  testing_peer_echo(&peer, &rig);
  assert_int_equal(SSL_key_update(peer.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
  testing_peer_echo(&peer, &rig);
  testing_peer_echo(&peer, &rig);
  // BoringSSL ends a connection after 32 in a row (kMaxKeyUpdates, ssl/tls13_both.cc).
  for (int i = 0; i < 200 && testing_rig_counters(&rig).open == 1; i++) {
    ERR_clear_error();
    // A write of nothing sends the key update alone.
    assert_int_equal(SSL_key_update(peer.ssl, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    (void)SSL_write(peer.ssl, "", 0);
    assert_true(tg_shard_turn(rig.shard, 0) >= 0);
  }
  ERR_clear_error();
  assert_int_equal(testing_rig_counters(&rig).open, 0);
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  testing_rig_stop(&rig);
}

// The step knows no socket: here the two ends are memory, and the step is taken once per flight.
static void test_steps_without_a_socket(void **state) {
  (void)state;
  struct testing_identity ca = testing_ca();
  struct testing_identity leaf = testing_leaf("localhost", &ca, 2);
  SSL_CTX *ctx = SSL_CTX_new(TLS_method());
  assert_non_null(ctx);
  assert_int_equal(SSL_CTX_use_certificate(ctx, leaf.cert), 1);
  assert_int_equal(SSL_CTX_use_PrivateKey(ctx, leaf.key), 1);
  SSL *server = SSL_new(ctx);
  SSL *client = SSL_new(ctx);
  BIO *server_end;
  BIO *client_end;
  assert_int_equal(BIO_new_bio_pair(&server_end, 0, &client_end, 0), 1);
  SSL_set_bio(server, server_end, server_end);
  SSL_set_bio(client, client_end, client_end);
  SSL_set_accept_state(server);
  SSL_set_connect_state(client);
  struct tg_early_data early = {0};
  assert_int_equal(tg_handshake_step(server, &early), TG_HANDSHAKE_WAIT);
  assert_int_equal(SSL_do_handshake(client), -1);
  assert_int_equal(tg_handshake_step(server, &early), TG_HANDSHAKE_WAIT);
  assert_int_equal(tg_handshake_step(server, &early), TG_HANDSHAKE_WAIT);
  assert_int_equal(SSL_do_handshake(client), 1);
  assert_int_equal(tg_handshake_step(server, &early), TG_HANDSHAKE_DONE);
  assert_null(early.bytes);
  SSL_free(client);
  SSL_free(server);
  SSL_CTX_free(ctx);
  testing_identity_free(&leaf);
  testing_identity_free(&ca);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tls13_exchange),
      cmocka_unit_test(test_tls12_exchange),
      cmocka_unit_test(test_tls11_is_refused),
      cmocka_unit_test(test_hello_retry_request),
      cmocka_unit_test(test_alpn_and_names),
      cmocka_unit_test(test_large_client_hello_byte_by_byte),
      cmocka_unit_test(test_renegotiation_is_refused),
      cmocka_unit_test(test_a_record_that_does_not_decrypt_gets_an_alert),
      cmocka_unit_test(test_key_updates_are_followed_and_a_flood_ends),
      cmocka_unit_test(test_steps_without_a_socket),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
