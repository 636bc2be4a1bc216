#include "harness/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#include "harness/accept/counters.h"
#include "harness/accept/testing_rig.h"
#include "harness/accept/tls_context.h"

static void test_one_line_cut_to_size(void **state) {
  (void)state;
  struct tg_error err;
  char large[1000];
  memset(large, 'a', sizeof(large) - 1);
  large[sizeof(large) - 1] = '\0';
  tg_error_set(&err, "%s:%d", "a\nb", 7);
  assert_string_equal(err.text, "a b:7");
  tg_error_set(&err, "%s", large);
  assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
  tg_error_set(NULL, "%s", large);
}

static void test_the_library_s_reason_is_taken(void **state) {
  (void)state;
  struct tg_error err;
  OPENSSL_PUT_ERROR(SSL, SSL_R_NO_CERTIFICATE_SET);
  OPENSSL_PUT_ERROR(SSL, SSL_R_BAD_ALERT);
  tg_error_set_tls(&err, "cannot");
  assert_string_equal(err.text, "cannot: NO_CERTIFICATE_SET");
  assert_int_equal(ERR_peek_error(), 0);
  tg_error_set_tls(&err, "cannot");
  assert_string_equal(err.text, "cannot");
  OPENSSL_PUT_ERROR(SSL, SSL_R_BAD_ALERT);
  tg_error_set_tls(NULL, "cannot");
  assert_int_equal(ERR_peek_error(), 0);
}

static void test_context_errors_name_the_place(void **state) {
  (void)state;
  struct tg_error err;
  struct testing_identity ca = testing_ca();
  struct testing_identity leaf = testing_leaf("localhost", &ca, 2);
  struct testing_identity other = testing_leaf("other", &ca, 3);
  STACK_OF(X509) *chain = sk_X509_new_null();
  assert_non_null(chain);
  struct tg_tls_config config = {.key = leaf.key, .chain = chain, .ticket_key_lifetime_s = 60};
  assert_null(tg_tls_context_create(&config, &err));
  assert_non_null(strstr(err.text, "certificate chain"));
  assert_true(sk_X509_push(chain, leaf.cert) > 0);
  assert_true(sk_X509_push(chain, ca.cert) > 0);
  struct tg_tls_context *context = tg_tls_context_create(&config, &err);
  assert_non_null(context);
  tg_tls_context_destroy(context);
  tg_tls_context_destroy(NULL);

  config.key = other.key;
  assert_null(tg_tls_context_create(&config, &err));
  assert_non_null(strstr(err.text, "does not match"));
  config.key = leaf.key;
  config.groups = "P-256:nonsense";
  assert_null(tg_tls_context_create(&config, &err));
  assert_non_null(strstr(err.text, "P-256:nonsense"));
  config.groups = NULL;
  config.client_ca_file = "/no/such/file.pem";
  assert_null(tg_tls_context_create(&config, &err));
  assert_non_null(strstr(err.text, "/no/such/file.pem"));
  config.client_ca_file = NULL;
  static const uint32_t kBad[] = {0, 604801};
  for (size_t i = 0; i < 2; i++) {
    config.ticket_key_lifetime_s = kBad[i];
    assert_null(tg_tls_context_create(&config, &err));
    assert_non_null(strstr(err.text, "lifetime"));
  }
  assert_null(tg_tls_context_create(&config, NULL));
  assert_int_equal(ERR_peek_error(), 0);
  sk_X509_free(chain);
  testing_identity_free(&leaf);
  testing_identity_free(&other);
  testing_identity_free(&ca);
}

static void test_counters_are_added_field_by_field(void **state) {
  (void)state;
  struct tg_counters a;
  struct tg_counters b;
  uint64_t words[sizeof(a) / sizeof(uint64_t)];
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    words[i] = i + 1;
  }
  memcpy(&a, words, sizeof(a));
  b = a;
  tg_counters_add(&a, &b);
  memcpy(words, &a, sizeof(words));
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    assert_int_equal(words[i], 2 * (i + 1));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_line_cut_to_size),
      cmocka_unit_test(test_the_library_s_reason_is_taken),
      cmocka_unit_test(test_context_errors_name_the_place),
      cmocka_unit_test(test_counters_are_added_field_by_field),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
