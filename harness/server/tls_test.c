// What the server negotiates: versions, resumption, HelloRetryRequest, certificates, early data, ALPN.
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/server/test_client.h"
#include "harness/server/test_credentials.h"
#include "harness/server/test_server.h"

static void ask_and_close(struct test_conn *conn) {
  assert_true(test_ask(conn, TEST_GET("/"), 200));
  test_close(conn);
}

static SSL_CTX *context_of_version(uint16_t version) {
  SSL_CTX *tls = test_tls_context();
  assert_non_null(tls);
  assert_true(SSL_CTX_set_min_proto_version(tls, version) && SSL_CTX_set_max_proto_version(tls, version));
  return tls;
}

// The newest session that the server has sent on any connection of the context.
static SSL_SESSION *latest_session;

static int keep_session(SSL *ssl, SSL_SESSION *session) {
  (void)ssl;
  SSL_SESSION_free(latest_session);
  latest_session = session;
  return 1;
}

static void keep_sessions(SSL_CTX *tls) {
  SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_CLIENT);
  SSL_CTX_sess_set_new_cb(tls, keep_session);
}

static void forget_session(void) {
  SSL_SESSION_free(latest_session);
  latest_session = NULL;
}

static void resumes_in_version(uint16_t version) {
  struct test_server server;
  test_server_start(&server, "--shards 3");
  SSL_CTX *tls = context_of_version(version);
  keep_sessions(tls);
  struct test_conn conn;
  assert_true(test_open(&conn, server.tls_port, tls));
  assert_int_equal(SSL_version(conn.ssl), version);
  assert_false(SSL_session_reused(conn.ssl));
  ask_and_close(&conn);
  assert_non_null(latest_session);
  // Enough to come by every shard: all hold the same ticket keys.
  enum { RESUMPTIONS = 24 };
  for (int i = 0; i < RESUMPTIONS; i++) {
    SSL_SESSION_up_ref(latest_session);
    SSL_SESSION *session = latest_session;
    assert_true(test_open_session(&conn, server.tls_port, tls, session));
    assert_true(SSL_session_reused(conn.ssl));
    ask_and_close(&conn);
    SSL_SESSION_free(session);
  }
  forget_session();
  SSL_CTX_free(tls);
  json_t *counters = test_server_stop(&server);
  assert_int_equal(test_counter(counters, "established"), 1 + RESUMPTIONS);
  assert_int_equal(test_counter(counters, "resumed"), RESUMPTIONS);
  json_decref(counters);
}

static void tls12_sessions_resume_on_any_shard(void **state) {
  (void)state;
  resumes_in_version(TLS1_2_VERSION);
}

static void tls13_sessions_resume_on_any_shard(void **state) {
  (void)state;
  resumes_in_version(TLS1_3_VERSION);
}

static void older_versions_are_refused(void **state) {
  (void)state;
  struct test_server server;
  test_server_start(&server, "--shards 1");
  SSL_CTX *old = context_of_version(TLS1_1_VERSION);
  struct test_conn conn;
  assert_false(test_open(&conn, server.tls_port, old));
  SSL_CTX_free(old);
  SSL_CTX *tls = test_tls_context();
  assert_true(test_get(server.tls_port, tls) >= 0);
  SSL_CTX_free(tls);
  json_t *counters = test_server_stop(&server);
  assert_int_equal(test_counter(counters, "handshake_failed"), 1);
  json_decref(counters);
}

static void a_group_without_a_key_share_takes_a_retry(void **state) {
  (void)state;
  struct test_server server;
  test_server_start(&server, "--groups P-384");
  SSL_CTX *tls = context_of_version(TLS1_3_VERSION);
  assert_true(SSL_CTX_set1_curves_list(tls, "X25519:P-384"));
  struct test_conn conn;
  assert_true(test_open(&conn, server.tls_port, tls));
  assert_true(SSL_used_hello_retry_request(conn.ssl));
  ask_and_close(&conn);
  SSL_CTX_free(tls);
  test_server_end(&server);
}

static void a_group_with_a_key_share_takes_none(void **state) {
  (void)state;
  struct test_server server;
  test_server_start(&server, "--shards 1");
  SSL_CTX *tls = context_of_version(TLS1_3_VERSION);
  struct test_conn conn;
  assert_true(test_open(&conn, server.tls_port, tls));
  assert_false(SSL_used_hello_retry_request(conn.ssl));
  ask_and_close(&conn);
  SSL_CTX_free(tls);
  test_server_end(&server);
}

static void present(SSL_CTX *tls, const struct tg_credentials *credentials) {
  assert_true(SSL_CTX_use_certificate(tls, sk_X509_value(credentials->chain, 0)));
  assert_true(SSL_CTX_use_PrivateKey(tls, credentials->key));
}

static void client_certificates_are_required_and_verified(void **state) {
  (void)state;
  struct test_credentials trusted;
  struct test_credentials stranger;
  char line[600];
  test_credentials_make(&trusted, "trusted", TG_KEY_P256);
  test_credentials_make(&stranger, "stranger", TG_KEY_P256);
  snprintf(line, sizeof(line), "--shards 1 --client-ca %s", trusted.cert_file);
  struct test_server server;
  test_server_start(&server, line);
  static const uint16_t versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
  for (size_t i = 0; i < 2; i++) {
    SSL_CTX *tls = context_of_version(versions[i]);
    // A TLS 1.3 client learns of its refusal with the first read.
    assert_true(test_get(server.tls_port, tls) < 0);
    present(tls, &stranger.made);
    assert_true(test_get(server.tls_port, tls) < 0);
    SSL_CTX_free(tls);
    tls = context_of_version(versions[i]);
    present(tls, &trusted.made);
    assert_true(test_get(server.tls_port, tls) >= 0);
    SSL_CTX_free(tls);
  }
  json_t *counters = test_server_stop(&server);
  assert_int_equal(test_counter(counters, "client_certificates"), 2);
  assert_int_equal(test_counter(counters, "handshake_failed"), 4);
  json_decref(counters);
  tg_credentials_free(&trusted.made);
  tg_credentials_free(&stranger.made);
}

static void the_certificate_comes_from_the_file(void **state) {
  (void)state;
  struct test_credentials credentials;
  char line[1200];
  test_credentials_make(&credentials, "server", TG_KEY_P256);
  snprintf(line, sizeof(line), "--cert %s --key %s", credentials.cert_file, credentials.key_file);
  struct test_server server;
  test_server_start(&server, line);
  SSL_CTX *tls = test_tls_context();
  struct test_conn conn;
  assert_true(test_open(&conn, server.tls_port, tls));
  X509 *shown = SSL_get_peer_certificate(conn.ssl);
  assert_int_equal(X509_cmp(shown, sk_X509_value(credentials.made.chain, 0)), 0);
  X509_free(shown);
  ask_and_close(&conn);
  SSL_CTX_free(tls);
  test_server_end(&server);
  tg_credentials_free(&credentials.made);
}

static void the_key_type_is_as_asked(void **state) {
  (void)state;
  static const struct {
    const char *line;
    int type;
    int bits;
  } table[] = {
      {"--key-type p256", EVP_PKEY_EC, 256},
      {"--key-type rsa2048", EVP_PKEY_RSA, 2048},
      {"--key-type rsa4096", EVP_PKEY_RSA, 4096},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    struct test_server server;
    test_server_start(&server, table[i].line);
    static const uint16_t versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    for (size_t v = 0; v < 2; v++) {
      SSL_CTX *tls = context_of_version(versions[v]);
      struct test_conn conn;
      assert_true(test_open(&conn, server.tls_port, tls));
      X509 *shown = SSL_get_peer_certificate(conn.ssl);
      EVP_PKEY *key = X509_get_pubkey(shown);
      assert_int_equal(EVP_PKEY_id(key), table[i].type);
      assert_int_equal(EVP_PKEY_bits(key), table[i].bits);
      assert_true(X509_check_host(shown, "localhost", strlen("localhost"), 0, NULL) == 1);
      assert_true(X509_check_ip_asc(shown, "127.0.0.1", 0) == 1);
      assert_true(X509_check_ip_asc(shown, "::1", 0) == 1);
      EVP_PKEY_free(key);
      X509_free(shown);
      ask_and_close(&conn);
      SSL_CTX_free(tls);
    }
    test_server_end(&server);
  }
}

static void early_data_is(bool accepted, const char *line) {
  struct test_server server;
  test_server_start(&server, line);
  SSL_CTX *tls = context_of_version(TLS1_3_VERSION);
  keep_sessions(tls);
  SSL_CTX_set_early_data_enabled(tls, 1);
  struct test_conn conn;
  assert_true(test_open(&conn, server.tls_port, tls));
  ask_and_close(&conn);
  assert_non_null(latest_session);
  SSL_SESSION_up_ref(latest_session);
  SSL_SESSION *session = latest_session;
  assert_true(test_open_session(&conn, server.tls_port, tls, session));
  assert_int_equal(SSL_in_early_data(conn.ssl), accepted);
  assert_true(test_ask(&conn, TEST_GET("/"), 200));
  assert_int_equal(SSL_early_data_accepted(conn.ssl), accepted);
  assert_true(SSL_session_reused(conn.ssl));
  ask_and_close(&conn);
  SSL_SESSION_free(session);
  forget_session();
  SSL_CTX_free(tls);
  json_t *counters = test_server_stop(&server);
  assert_int_equal(test_counter(counters, "early_data_accepted"), accepted);
  json_decref(counters);
}

static void early_data_is_off_by_default(void **state) {
  (void)state;
  early_data_is(false, "--shards 1");
}

static void early_data_is_answered_when_asked_for(void **state) {
  (void)state;
  early_data_is(true, "--shards 1 --early-data");
}

static void http11_is_the_only_protocol(void **state) {
  (void)state;
  struct test_server server;
  test_server_start(&server, "--shards 1");
  SSL_CTX *tls = test_tls_context();
  static const uint8_t both[] = "\x02h2\x08http/1.1";
  assert_int_equal(SSL_CTX_set_alpn_protos(tls, both, sizeof(both) - 1), 0);
  struct test_conn conn;
  assert_true(test_open(&conn, server.tls_port, tls));
  const uint8_t *chosen;
  unsigned chosen_len;
  SSL_get0_alpn_selected(conn.ssl, &chosen, &chosen_len);
  assert_int_equal(chosen_len, strlen("http/1.1"));
  assert_memory_equal(chosen, "http/1.1", chosen_len);
  ask_and_close(&conn);
  SSL_CTX_free(tls);
  test_server_end(&server);
}

static void a_hello_larger_than_a_segment_is_read(void **state) {
  (void)state;
  struct test_server server;
  test_server_start(&server, "--shards 1");
  SSL_CTX *tls = test_tls_context();
  // Some 12 KiB of protocol names before the one that counts.
  static const uint8_t last[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  static uint8_t names[48 * 256 + sizeof(last)];
  for (size_t i = 0; i < 48; i++) {
    memset(names + i * 256, 'a' + (int)(i % 26), 256);
    names[i * 256] = 255;
  }
  memcpy(names + sizeof(names) - sizeof(last), last, sizeof(last));
  assert_int_equal(SSL_CTX_set_alpn_protos(tls, names, sizeof(names)), 0);
  assert_true(test_get(server.tls_port, tls) >= 0);
  SSL_CTX_free(tls);
  test_server_end(&server);
}

int main(int argc, char *argv[]) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(tls12_sessions_resume_on_any_shard),
      cmocka_unit_test(tls13_sessions_resume_on_any_shard),
      cmocka_unit_test(older_versions_are_refused),
      cmocka_unit_test(a_group_without_a_key_share_takes_a_retry),
      cmocka_unit_test(a_group_with_a_key_share_takes_none),
      cmocka_unit_test(client_certificates_are_required_and_verified),
      cmocka_unit_test(the_certificate_comes_from_the_file),
      cmocka_unit_test(the_key_type_is_as_asked),
      cmocka_unit_test(early_data_is_off_by_default),
      cmocka_unit_test(early_data_is_answered_when_asked_for),
      cmocka_unit_test(http11_is_the_only_protocol),
      cmocka_unit_test(a_hello_larger_than_a_segment_is_read),
  };
  test_server_take_argument(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
