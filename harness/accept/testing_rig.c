#include "harness/accept/testing_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/err.h>
#include <openssl/x509.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "harness/accept/listener.h"
#include "harness/accept/testing_app.h"

uint64_t testing_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void testing_options_default(struct testing_options *out) {
  *out = (struct testing_options){.ticket_key_lifetime_s = 3600};
  tg_shard_config_default(&out->shard);
}

static struct tg_tls_context *make_context(const struct testing_options *options) {
  struct testing_identity ca = testing_ca();
  struct testing_identity leaf = testing_leaf("localhost", &ca, 2);
  STACK_OF(X509) *chain = sk_X509_new_null();
  assert_non_null(chain);
  assert_true(sk_X509_push(chain, leaf.cert) > 0);
  struct tg_tls_config config = {
      .key = leaf.key,
      .chain = chain,
      .groups = options->groups,
      .client_ca_file = options->client_ca_file,
      .early_data = options->early_data,
      .ticket_key_lifetime_s = options->ticket_key_lifetime_s,
  };
  struct tg_error err;
  struct tg_tls_context *context = tg_tls_context_create(&config, &err);
  if (context == NULL) {
    fail_msg("%s", err.text);
  }
  sk_X509_free(chain);
  testing_identity_free(&leaf);
  testing_identity_free(&ca);
  return context;
}

void testing_rig_start(struct testing_rig *rig, const struct testing_options *options) {
  struct testing_options defaults;
  if (options == NULL) {
    testing_options_default(&defaults);
    options = &defaults;
  }
  struct tg_error err;
  // For the clients, which use write(2). That the shard raises none is stream_test's and faults_test's to show.
  (void)signal(SIGPIPE, SIG_IGN);
  memset(&rig->stats, 0, sizeof(rig->stats));
  struct tg_shard_config config = options->shard;
  rig->tls = options->tls == NULL ? make_context(options) : NULL;
  config.tls = options->tls == NULL ? rig->tls : options->tls;
  config.tls_listener = tg_listener_open("127.0.0.1", 0, true, &err);
  assert_true(config.tls_listener >= 0);
  config.http_listener = tg_listener_open("127.0.0.1", 0, true, &err);
  assert_true(config.http_listener >= 0);
  if (config.app == NULL) {
    config.app = &testing_app;
    config.app_data = &rig->stats;
  }
  rig->tls_port = tg_listener_port(config.tls_listener);
  rig->http_port = tg_listener_port(config.http_listener);
  rig->shard = tg_shard_create(&config, &err);
  if (rig->shard == NULL) {
    fail_msg("%s", err.text);
  }
}

struct tg_counters testing_rig_counters(struct testing_rig *rig) {
  struct tg_counters now;
  tg_shard_counters(rig->shard, &now);
  assert_int_equal(now.accepted, now.established + now.handshake_failed + now.handshake_timed_out + now.in_handshake);
  assert_int_equal(now.accepted + now.plain_accepted, now.closed + tg_shard_connections(rig->shard));
  assert_int_equal(tg_shard_connections(rig->shard), now.in_handshake + now.open + now.draining);
  return now;
}

void testing_rig_settle(struct testing_rig *rig) {
  TESTING_TURN_UNTIL(rig, tg_shard_connections(rig->shard) == 0);
  struct tg_counters now = testing_rig_counters(rig);
  assert_int_equal(now.in_handshake, 0);
  assert_int_equal(now.open, 0);
  assert_int_equal(now.draining, 0);
  assert_int_equal(rig->stats.opened, rig->stats.closed);
}

void testing_rig_stop(struct testing_rig *rig) {
  testing_rig_counters(rig);
  tg_shard_destroy(rig->shard);
  assert_int_equal(rig->stats.opened, rig->stats.closed);
  tg_tls_context_destroy(rig->tls);
  assert_int_equal(ERR_peek_error(), 0);
}
