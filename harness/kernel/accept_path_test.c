// The accept path as shipped over the simulated kernel: it serves, it stalls without its re-arm, and not with it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string.h>

#include "harness/accept/testing_rig.h"
#include "harness/accept/tls_context.h"
#include "harness/kernel/testing_shard.h"

#define STALL_NS (40 * TG_SIM_NS_PER_MS)

static struct tg_kernel *kernel;
static struct tg_tls_context *tls;
static SSL_CTX *client_ctx;

static int set_up(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  kernel = tg_kernel_create(&options);
  assert_non_null(kernel);
  struct testing_identity identity = testing_leaf("localhost", NULL, 1);
  STACK_OF(X509) *chain = sk_X509_new_null();
  assert_true(sk_X509_push(chain, identity.cert) > 0);
  struct tg_tls_config config = {.key = identity.key, .chain = chain, .ticket_key_lifetime_s = 3600};
  struct tg_error err;
  tls = tg_tls_context_create(&config, &err);
  assert_non_null(tls);
  sk_X509_free(chain);
  testing_identity_free(&identity);
  client_ctx = SSL_CTX_new(TLS_method());
  assert_non_null(client_ctx);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  SSL_CTX_free(client_ctx);
  tg_tls_context_destroy(tls);
  tg_kernel_destroy(kernel);
  return 0;
}

static void *start(enum tg_quickack quickack, uint32_t shards) {
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  tg_kernel_reset(kernel, &options);
  struct testing_shard_config config = {.tls = tls, .quickack = quickack, .shards = shards};
  tg_kernel_enter(kernel, 0);
  void *server = testing_shard_adapter.create(&config);
  tg_kernel_leave(kernel);
  assert_non_null(server);
  return server;
}

static void run(void *server) {
  uint64_t until_ns = tg_kernel_sim(kernel)->now_ns + 1000 * TG_SIM_NS_PER_MS;
  tg_adapter_run(kernel, &testing_shard_adapter, server, NULL, until_ns);
}

static void stop(void *server) {
  tg_kernel_enter(kernel, 0);
  testing_shard_adapter.destroy(server);
  tg_kernel_leave(kernel);
  assert_int_equal(tg_kernel_open_fds(kernel), 0);
}

// Returns how long the request of one connection took.
static uint64_t fetch(uint16_t version, enum tg_quickack quickack) {
  assert_int_equal(SSL_CTX_set_max_proto_version(client_ctx, version), 1);
  void *server = start(quickack, 1);
  struct testing_client client;
  testing_client_start(&client, kernel, TESTING_TLS_PORT, client_ctx);
  run(server);
  if (client.answered_ns == 0 || client.failed) {
    tg_trace_tail(tg_kernel_trace(kernel), stderr);
  }
  assert_false(client.failed);
  assert_true(client.answered_ns > 0);
  assert_true(client.closed);
  assert_int_equal(SSL_version(client.ssl), version);
  assert_int_equal(tg_shard_connections(testing_shard_at(server, 0)), 0);
  testing_client_free(&client);
  stop(server);
  return client.answered_ns - client.asked_ns;
}

static void a_tls13_request_is_answered_at_once(void **state) {
  (void)state;
  assert_in_range(fetch(TLS1_3_VERSION, TG_QUICKACK_REARM), 1, TG_SIM_NS_PER_MS);
}

static void a_tls12_request_is_answered_at_once(void **state) {
  (void)state;
  assert_in_range(fetch(TLS1_2_VERSION, TG_QUICKACK_REARM), 1, TG_SIM_NS_PER_MS);
}

static void a_tls13_request_stalls_without_the_rearm(void **state) {
  (void)state;
  assert_in_range(fetch(TLS1_3_VERSION, TG_QUICKACK_OFF), STALL_NS, STALL_NS + 5 * TG_SIM_NS_PER_MS);
  assert_in_range(fetch(TLS1_3_VERSION, TG_QUICKACK_ACCEPT), STALL_NS, STALL_NS + 5 * TG_SIM_NS_PER_MS);
}

static void a_full_tls12_handshake_does_not_stall_without_it(void **state) {
  (void)state;
  assert_in_range(fetch(TLS1_2_VERSION, TG_QUICKACK_OFF), 1, TG_SIM_NS_PER_MS);
}

static void nothing_is_left_behind(void **state) {
  (void)state;
  // What the library allocates for good the first time.
  fetch(TLS1_3_VERSION, TG_QUICKACK_REARM);
  fetch(TLS1_3_VERSION, TG_QUICKACK_REARM);
  if (tg_kernel_allocations(kernel) > 0) {
    tg_kernel_print_allocations(kernel, stderr);
  }
  assert_int_equal(tg_kernel_allocations(kernel), 0);
  assert_int_equal(tg_kernel_allocated_bytes(kernel), 0);
  assert_true(tg_kernel_calls(kernel, TG_CALL_MALLOC) > 0);
}

static void shards_share_the_connections(void **state) {
  (void)state;
  enum { NUM_SHARDS = 3, NUM_CLIENTS = 60 };
  void *server = start(TG_QUICKACK_REARM, NUM_SHARDS);
  struct testing_client clients[NUM_CLIENTS];
  for (size_t i = 0; i < NUM_CLIENTS; i++) {
    testing_client_start(&clients[i], kernel, TESTING_HTTP_PORT, NULL);
  }
  run(server);
  for (size_t i = 0; i < NUM_CLIENTS; i++) {
    assert_true(clients[i].answered_ns > 0 && clients[i].closed);
  }
  uint64_t accepted = 0;
  for (uint32_t i = 0; i < NUM_SHARDS; i++) {
    struct tg_counters counters;
    tg_shard_counters(testing_shard_at(server, i), &counters);
    assert_in_range(counters.plain_accepted, NUM_CLIENTS / NUM_SHARDS / 2, NUM_CLIENTS / NUM_SHARDS * 2);
    accepted += counters.plain_accepted;
  }
  assert_int_equal(accepted, NUM_CLIENTS);
  assert_int_equal(tg_kernel_accepts(kernel, TESTING_HTTP_PORT), NUM_CLIENTS);
  stop(server);
}

// What a fault leaves of a response is cut; the rest of the rules hold.
static void forgive_cuts(void *context, const char *property, const char *text) {
  (void)context;
  if (strcmp(property, "P6") != 0) {
    tg_trace_tail(tg_kernel_trace(kernel), stderr);
    fail_msg("breach of %s: %s", property, text);
  }
}

// Runs one connection with a fault. Returns whether it was met.
static bool survive(const struct tg_injection *fault) {
  void *server = start(TG_QUICKACK_REARM, 1);
  struct testing_client client;
  assert_true(tg_kernel_inject(kernel, fault));
  testing_client_start(&client, kernel, TESTING_TLS_PORT, client_ctx);
  // Beyond all deadlines.
  uint64_t until_ns = tg_kernel_sim(kernel)->now_ns + 200000 * TG_SIM_NS_PER_MS;
  tg_adapter_run(kernel, &testing_shard_adapter, server, NULL, until_ns);
  bool met = tg_kernel_was_hit(kernel, fault->call);
  bool served = client.answered_ns > 0;
  assert_true(client.closed);
  assert_true(served || met);
  assert_int_equal(tg_shard_connections(testing_shard_at(server, 0)), 0);
  testing_client_free(&client);
  tg_kernel_clear_injections(kernel);
  stop(server);
  if (tg_kernel_allocations(kernel) > 0) {
    tg_kernel_print_allocations(kernel, stderr);
  }
  assert_int_equal(tg_kernel_allocations(kernel), 0);
  return met;
}

static void any_call_may_fail(void **state) {
  (void)state;
  static const struct {
    enum tg_call call;
    int error;
    uint32_t limit;
  } kFaults[] = {
      {TG_CALL_ACCEPT, EINTR, 0},
      {TG_CALL_ACCEPT, ECONNABORTED, 0},
      {TG_CALL_ACCEPT, EMFILE, 0},
      {TG_CALL_ACCEPT, ENFILE, 0},
      {TG_CALL_ACCEPT, ENOBUFS, 0},
      {TG_CALL_ACCEPT, ENOMEM, 0},
      {TG_CALL_ACCEPT, EAGAIN, 0},
      {TG_CALL_RECV, EINTR, 0},
      {TG_CALL_RECV, EAGAIN, 0},
      {TG_CALL_RECV, ECONNRESET, 0},
      {TG_CALL_RECV, 0, 1},
      {TG_CALL_SEND, EINTR, 0},
      {TG_CALL_SEND, EAGAIN, 0},
      {TG_CALL_SEND, ECONNRESET, 0},
      {TG_CALL_SEND, EPIPE, 0},
      {TG_CALL_SEND, ENOBUFS, 0},
      {TG_CALL_SEND, 0, 1},
      {TG_CALL_SETSOCKOPT, ENOPROTOOPT, 0},
      {TG_CALL_SETSOCKOPT, EINVAL, 0},
      {TG_CALL_SETSOCKOPT, EBADF, 0},
      {TG_CALL_SHUTDOWN, ENOTCONN, 0},
      {TG_CALL_CLOSE, EINTR, 0},
      {TG_CALL_CLOSE, EIO, 0},
      {TG_CALL_EPOLL_CTL, ENOMEM, 0},
      {TG_CALL_EPOLL_CTL, ENOSPC, 0},
      {TG_CALL_EPOLL_WAIT, EINTR, 0},
      {TG_CALL_MALLOC, ENOMEM, 0},
  };
  assert_int_equal(SSL_CTX_set_max_proto_version(client_ctx, TLS1_3_VERSION), 1);
  fetch(TLS1_3_VERSION, TG_QUICKACK_REARM);
  tg_kernel_set_breach(kernel, forgive_cuts, NULL);
  for (size_t i = 0; i < sizeof(kFaults) / sizeof(kFaults[0]); i++) {
    struct tg_injection fault = {
        .call = kFaults[i].call, .times = 1, .error = kFaults[i].error, .limit = kFaults[i].limit};
    while (survive(&fault)) {
      fault.skip++;
    }
    assert_true(fault.skip > 0);
  }
  tg_kernel_set_breach(kernel, NULL, NULL);
}

static void a_server_that_cannot_start_leaves_nothing(void **state) {
  (void)state;
  static const struct {
    enum tg_call call;
    int error;
  } kFaults[] = {
      {TG_CALL_SOCKET, EMFILE},     {TG_CALL_SETSOCKOPT, ENOPROTOOPT}, {TG_CALL_BIND, EADDRINUSE},
      {TG_CALL_LISTEN, EADDRINUSE}, {TG_CALL_EPOLL_CREATE, ENFILE},    {TG_CALL_EVENTFD, ENOMEM},
      {TG_CALL_EPOLL_CTL, ENOSPC},  {TG_CALL_MALLOC, ENOMEM},
  };
  struct testing_shard_config config = {.tls = tls, .quickack = TG_QUICKACK_REARM, .shards = 2};
  for (size_t i = 0; i < sizeof(kFaults) / sizeof(kFaults[0]); i++) {
    struct tg_injection fault = {.call = kFaults[i].call, .times = 1, .error = kFaults[i].error};
    bool met = true;
    for (; met; fault.skip++) {
      struct tg_kernel_options options;
      tg_kernel_options_default(&options);
      tg_kernel_reset(kernel, &options);
      assert_true(tg_kernel_inject(kernel, &fault));
      tg_kernel_enter(kernel, 0);
      void *server = testing_shard_adapter.create(&config);
      met = tg_kernel_was_hit(kernel, fault.call);
      if (server != NULL) {
        testing_shard_adapter.destroy(server);
      }
      tg_kernel_leave(kernel);
      assert_true(met == (server == NULL));
      assert_int_equal(tg_kernel_open_fds(kernel), 0);
      assert_int_equal(tg_kernel_allocations(kernel), 0);
    }
    assert_true(fault.skip > 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tls13_request_is_answered_at_once),
      cmocka_unit_test(a_tls12_request_is_answered_at_once),
      cmocka_unit_test(a_tls13_request_stalls_without_the_rearm),
      cmocka_unit_test(a_full_tls12_handshake_does_not_stall_without_it),
      cmocka_unit_test(nothing_is_left_behind),
      cmocka_unit_test(any_call_may_fail),
      cmocka_unit_test(a_server_that_cannot_start_leaves_nothing),
      cmocka_unit_test(shards_share_the_connections),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
