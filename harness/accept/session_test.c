// Sessions: resumption with tickets of this shard, of another and of old keys; early data; client certificates.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/accept/testing_rig.h"

static const struct testing_peer_options kTls13 = {.version = TLS1_3_VERSION};

// Makes a connection and returns the session of its ticket.
static SSL_SESSION *session_from(struct testing_rig *rig, const struct testing_peer_options *options) {
  struct testing_peer peer;
  testing_peer_connect(&peer, rig, options);
  testing_peer_echo(&peer, rig);
  SSL_SESSION *session = testing_peer_session(&peer);
  testing_peer_close(&peer);
  testing_rig_settle(rig);
  return session;
}

static bool resumes(struct testing_rig *rig, const struct testing_peer_options *base, SSL_SESSION *session) {
  struct testing_peer peer;
  struct testing_peer_options options = *base;
  options.session = session;
  uint64_t before = testing_rig_counters(rig).resumed;
  testing_peer_connect(&peer, rig, &options);
  testing_peer_echo(&peer, rig);
  bool reused = SSL_session_reused(peer.ssl) != 0;
  assert_int_equal(testing_rig_counters(rig).resumed - before, reused);
  testing_peer_close(&peer);
  testing_rig_settle(rig);
  return reused;
}

static void check_resumption(uint16_t version) {
  struct testing_rig rig;
  struct testing_rig other;
  struct testing_options options;
  struct testing_peer_options peer = {.version = version};
  testing_rig_start(&rig, NULL);
  SSL_SESSION *session = session_from(&rig, &peer);
  assert_true(resumes(&rig, &peer, session));
  // The other shard has the same keys.
  testing_options_default(&options);
  options.tls = rig.tls;
  testing_rig_start(&other, &options);
  assert_true(resumes(&other, &peer, session));
  testing_rig_stop(&other);
  testing_rig_stop(&rig);
  // Another server has not, and makes a full handshake of it.
  testing_rig_start(&rig, NULL);
  assert_false(resumes(&rig, &peer, session));
  testing_rig_stop(&rig);
  SSL_SESSION_free(session);
}

static void test_tls13_resumption(void **state) {
  (void)state;
  check_resumption(TLS1_3_VERSION);
}

static void test_tls12_resumption(void **state) {
  (void)state;
  check_resumption(TLS1_2_VERSION);
}

static void test_resumption_ends_with_the_key(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_options options;
  testing_options_default(&options);
  options.ticket_key_lifetime_s = 1;
  testing_rig_start(&rig, &options);
  SSL_SESSION *session = session_from(&rig, &kTls13);
  // The client would not offer a session that the server has said to be too old.
  SSL_SESSION_set_timeout(session, 1000);
  uint64_t limit_ms = testing_now_ms() + 3000;
  while (testing_now_ms() < limit_ms) {
    usleep(10000);
  }
  assert_false(resumes(&rig, &kTls13, session));
  SSL_SESSION_free(session);
  testing_rig_stop(&rig);
}

static void check_early_data(bool server_accepts) {
  struct testing_rig rig;
  struct testing_peer peer;
  struct testing_options options;
  static const char kLine[] = "echo early\n";
  testing_options_default(&options);
  options.early_data = server_accepts;
  testing_rig_start(&rig, &options);
  struct testing_peer_options with_early = {.early_data = true};
  SSL_SESSION *session = session_from(&rig, &with_early);
  with_early.session = session;
  testing_peer_start(&peer, &rig, &with_early);
  bool offered = SSL_do_handshake(peer.ssl) == 1 && SSL_in_early_data(peer.ssl);
  assert_int_equal(offered, server_accepts);
  if (offered) {
    size_t requests = rig.stats.requests;
    assert_int_equal(SSL_write(peer.ssl, kLine, sizeof(kLine) - 1), sizeof(kLine) - 1);
    // The server has the request, and the client's Finished is not sent: nothing is opened, still less answered.
    uint64_t bytes = testing_rig_counters(&rig).bytes_read;
    TESTING_TURN_UNTIL(&rig, testing_rig_counters(&rig).bytes_read > bytes);
    for (int i = 0; i < 20; i++) {
      assert_true(tg_shard_turn(rig.shard, 1) >= 0);
    }
    assert_int_equal(testing_rig_counters(&rig).in_handshake, 1);
    assert_int_equal(rig.stats.requests, requests);
  } else {
    assert_true(testing_peer_shake(&peer, &rig));
    testing_peer_send(&peer, &rig, kLine);
  }
  char answer[sizeof(kLine)] = "";
  assert_int_equal(testing_peer_receive(&peer, &rig, answer, sizeof(kLine) - 1), sizeof(kLine) - 1);
  assert_string_equal(answer, kLine);
  assert_int_equal(testing_rig_counters(&rig).early_data_accepted, server_accepts);
  testing_peer_echo(&peer, &rig);
  testing_peer_bye(&peer, &rig);
  testing_rig_settle(&rig);
  SSL_SESSION_free(session);
  testing_rig_stop(&rig);
}

static void test_early_data_is_off_by_default(void **state) {
  (void)state;
  check_early_data(false);
}

static void test_early_data_waits_for_confirmation(void **state) {
  (void)state;
  check_early_data(true);
}

static void test_early_data_of_a_peer_that_never_confirms(void **state) {
  (void)state;
  struct testing_rig rig;
  struct testing_peer peer;
  struct testing_options options;
  testing_options_default(&options);
  options.early_data = true;
  testing_rig_start(&rig, &options);
  struct testing_peer_options with_early = {.early_data = true};
  SSL_SESSION *session = session_from(&rig, &with_early);
  with_early.session = session;
  testing_peer_start(&peer, &rig, &with_early);
  assert_int_equal(SSL_do_handshake(peer.ssl), 1);
  size_t requests = rig.stats.requests;
  assert_int_equal(SSL_write(peer.ssl, "echo x\n", 7), 7);
  for (int i = 0; i < 20; i++) {
    assert_true(tg_shard_turn(rig.shard, 1) >= 0);
  }
  testing_peer_close(&peer);
  testing_rig_settle(&rig);
  assert_int_equal(rig.stats.requests, requests);
  assert_int_equal(testing_rig_counters(&rig).handshake_failed, 1);
  SSL_SESSION_free(session);
  testing_rig_stop(&rig);
}

static void write_certificate(const char *path, X509 *cert) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(PEM_write_X509(file, cert), 1);
  assert_int_equal(fclose(file), 0);
}

static void check_client_certificate(uint16_t version) {
  struct testing_rig rig;
  struct testing_peer peer;
  struct testing_options options;
  struct testing_identity ca = testing_ca();
  struct testing_identity other_ca = testing_ca();
  struct testing_identity good = testing_leaf("client", &ca, 7);
  struct testing_identity wrong = testing_leaf("client", &other_ca, 8);
  const char *dir = getenv("TEST_TMPDIR");
  assert_non_null(dir);
  char path[300];
  (void)snprintf(path, sizeof(path), "%s/ca.pem", dir);
  write_certificate(path, ca.cert);
  testing_options_default(&options);
  options.client_ca_file = path;
  testing_rig_start(&rig, &options);

  struct testing_peer_options with_good = {.version = version, .identity = &good};
  SSL_SESSION *session = session_from(&rig, &with_good);
  assert_int_equal(testing_rig_counters(&rig).client_certificates, 1);
  assert_true(resumes(&rig, &with_good, session));
  SSL_SESSION_free(session);

  const struct testing_identity *bad[] = {NULL, &wrong};
  for (size_t i = 0; i < 2; i++) {
    testing_peer_start(&peer, &rig, &(struct testing_peer_options){.version = version, .identity = bad[i]});
    // A TLS 1.3 client is done before the server has judged its certificate; what it reads then is the alert.
    char byte;
    if (testing_peer_shake(&peer, &rig)) {
      assert_int_equal(testing_peer_receive(&peer, &rig, &byte, 1), 0);
    }
    testing_peer_close(&peer);
    testing_rig_settle(&rig);
    assert_int_equal(testing_rig_counters(&rig).handshake_failed, i + 1);
  }
  assert_int_equal(testing_rig_counters(&rig).client_certificates, 1);
  testing_rig_stop(&rig);
  testing_identity_free(&ca);
  testing_identity_free(&other_ca);
  testing_identity_free(&good);
  testing_identity_free(&wrong);
}

static void test_tls13_client_certificate(void **state) {
  (void)state;
  check_client_certificate(TLS1_3_VERSION);
}

static void test_tls12_client_certificate(void **state) {
  (void)state;
  check_client_certificate(TLS1_2_VERSION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tls13_resumption),
      cmocka_unit_test(test_tls12_resumption),
      cmocka_unit_test(test_resumption_ends_with_the_key),
      cmocka_unit_test(test_early_data_is_off_by_default),
      cmocka_unit_test(test_early_data_waits_for_confirmation),
      cmocka_unit_test(test_early_data_of_a_peer_that_never_confirms),
      cmocka_unit_test(test_tls13_client_certificate),
      cmocka_unit_test(test_tls12_client_certificate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
