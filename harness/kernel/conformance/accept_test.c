// The accept path as shipped, on the simulated kernel and on the kernel of this host: its request waits for a delayed
// ACK in the same cases. All of --quickack off, accept and rearm, with and without a flush of the tickets, TLS 1.2 and
// 1.3, full and resumed handshakes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "harness/accept/testing_rig.h"
#include "harness/accept/tls_context.h"
#include "harness/kernel/conformance/namespace.h"
#include "harness/kernel/conformance/schedule.h"
#include "harness/kernel/testing_shard.h"

#define CASES      24
#define REPEATS    3
#define TRIES_MAX  10  // of one repeat, when the machine was late
#define SIM_RUN_NS (1000 * TG_SIM_NS_PER_MS)

struct path_case {
  enum tg_quickack quickack;
  bool flush_tickets;
  uint16_t version;
  bool resumed;
};

static SSL_SESSION *kept;  // of the simulated client

static int keep_session(SSL *ssl, SSL_SESSION *session) {
  (void)ssl;
  SSL_SESSION_free(kept);
  kept = session;
  return 1;
}

static struct path_case case_of(unsigned number) {
  static const enum tg_quickack quickacks[] = {TG_QUICKACK_OFF, TG_QUICKACK_ACCEPT, TG_QUICKACK_REARM};
  return (struct path_case){
      .quickack = quickacks[number / 8],
      .flush_tickets = number / 4 % 2 != 0,
      .version = number / 2 % 2 != 0 ? TLS1_3_VERSION : TLS1_2_VERSION,
      .resumed = number % 2 != 0,
  };
}

static const char *name_of(const struct path_case *of) {
  static const char *const quickacks[] = {
      [TG_QUICKACK_OFF] = "off", [TG_QUICKACK_ACCEPT] = "accept", [TG_QUICKACK_REARM] = "rearm"};
  static char name[64];
  snprintf(name, sizeof(name), "--quickack %-6s %-9s TLS 1.%c %s", quickacks[of->quickack],
           of->flush_tickets ? "flush" : "no flush", of->version == TLS1_3_VERSION ? '3' : '2',
           of->resumed ? "resumed" : "full");
  return name;
}

// --- simulated -------------------------------------------------------------------------------------------------------

static struct tg_tls_context *make_tls(void) {
  struct testing_identity identity = testing_leaf("localhost", NULL, 1);
  STACK_OF(X509) *chain = sk_X509_new_null();
  assert_true(sk_X509_push(chain, identity.cert) > 0);
  struct tg_tls_config config = {.key = identity.key, .chain = chain, .ticket_key_lifetime_s = 3600};
  struct tg_error err;
  struct tg_tls_context *tls = tg_tls_context_create(&config, &err);
  assert_non_null(tls);
  sk_X509_free(chain);
  testing_identity_free(&identity);
  return tls;
}

static uint64_t sim_fetch(struct tg_kernel *kernel, void *server, SSL_CTX *ctx, SSL_SESSION *session) {
  struct testing_client client;
  testing_client_resume(&client, kernel, TESTING_TLS_PORT, ctx, session);
  tg_adapter_run(kernel, &testing_shard_adapter, server, NULL, tg_kernel_sim(kernel)->now_ns + SIM_RUN_NS);
  assert_false(client.failed);
  assert_true(client.answered_ns > client.asked_ns);
  assert_int_equal(SSL_session_reused(client.ssl), session != NULL);
  testing_client_free(&client);
  return client.answered_ns - client.asked_ns;
}

static enum tg_wait simulate(struct tg_kernel *kernel, const struct path_case *of) {
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  tg_kernel_reset(kernel, &options);
  struct testing_shard_config config = {
      .tls = make_tls(), .quickack = of->quickack, .flush_tickets = of->flush_tickets, .shards = 1};
  SSL_CTX *ctx = SSL_CTX_new(TLS_method());
  assert_non_null(ctx);
  assert_int_equal(SSL_CTX_set_min_proto_version(ctx, of->version), 1);
  assert_int_equal(SSL_CTX_set_max_proto_version(ctx, of->version), 1);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(ctx, keep_session);
  tg_kernel_enter(kernel, 0);
  void *server = testing_shard_adapter.create(&config);
  tg_kernel_leave(kernel);
  assert_non_null(server);
  uint64_t took_ns = sim_fetch(kernel, server, ctx, NULL);
  if (of->resumed) {
    assert_non_null(kept);
    SSL_SESSION *session = kept;
    kept = NULL;
    took_ns = sim_fetch(kernel, server, ctx, session);
    SSL_SESSION_free(session);
  }
  tg_kernel_enter(kernel, 0);
  testing_shard_adapter.destroy(server);
  tg_kernel_leave(kernel);
  SSL_SESSION_free(kept);
  kept = NULL;
  SSL_CTX_free(ctx);
  tg_tls_context_destroy(config.tls);
  return tg_wait_of(took_ns);
}

// --- real ------------------------------------------------------------------------------------------------------------

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 * TG_SIM_NS_PER_MS + (uint64_t)t.tv_nsec;
}

static enum tg_wait real_fetch(struct testing_rig *rig, const struct testing_peer_options *options,
                               SSL_SESSION **out_session) {
  struct testing_peer peer;
  testing_peer_connect(&peer, rig, options);
  assert_int_equal(SSL_session_reused(peer.ssl), options->session != NULL);
  uint64_t start_ns = now_ns();
  testing_peer_echo(&peer, rig);
  uint64_t took_ns = now_ns() - start_ns;
  if (out_session != NULL) {
    *out_session = testing_peer_session(&peer);
  }
  testing_peer_close(&peer);
  testing_rig_settle(rig);
  return tg_wait_of(took_ns);
}

// One letter for each repeat.
static void measure(const struct path_case *of, char out[REPEATS + 1]) {
  struct testing_rig rig;
  struct testing_options options;
  testing_options_default(&options);
  options.shard.quickack = of->quickack;
  options.shard.flush_tickets = of->flush_tickets;
  testing_rig_start(&rig, &options);
  for (int i = 0; i < REPEATS; i++) {
    struct testing_peer_options peer = {.version = of->version};
    enum tg_wait wait = TG_WAIT_ODD;
    for (int tries = 0; wait == TG_WAIT_ODD && tries < TRIES_MAX; tries++) {
      if (of->resumed) {  // a session is for one use
        real_fetch(&rig, &(struct testing_peer_options){.version = of->version}, &peer.session);
      }
      wait = real_fetch(&rig, &peer, NULL);
      SSL_SESSION_free(peer.session);
      peer.session = NULL;
    }
    out[i] = (char)wait;
  }
  out[REPEATS] = '\0';
  testing_rig_stop(&rig);
}

static void both_kernels_stall_in_the_same_cases(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  struct tg_kernel *kernel = tg_kernel_create(&options);
  assert_non_null(kernel);
  unsigned agree = 0;
  unsigned stall = 0;
  for (unsigned number = 0; number < CASES; number++) {
    struct path_case of = case_of(number);
    char real[REPEATS + 1];
    enum tg_wait simulated = simulate(kernel, &of);
    measure(&of, real);
    bool same = strspn(real, (char[]){(char)simulated, '\0'}) == REPEATS;
    agree += same;
    stall += simulated == TG_WAIT_STALL;
    print_message("%-45s simulated %c, this kernel %s%s\n", name_of(&of), simulated, real, same ? "" : "  DIFFERS");
  }
  tg_kernel_destroy(kernel);
  print_message("%u of %u cases agree; %u stall\n", agree, CASES, stall);
  assert_int_equal(agree, CASES);
  // Both kinds are among them, or the comparison would show nothing.
  assert_in_range(stall, 1, CASES - 1);
}

int main(void) {
  char error[512];
  if (!tg_namespace_permit(error, sizeof(error)) || !tg_namespace_enter(error, sizeof(error)) ||
      !tg_namespace_set("tcp_pingpong_thresh", 1, error, sizeof(error))) {
    fprintf(stderr, "accept_test: %s\n", error);
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(both_kernels_stall_in_the_same_cases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
