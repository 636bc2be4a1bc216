// Two shards, each in its thread, that share a TLS context whose ticket keys rotate every second, and a thread that
// reads their counters: for ThreadSanitizer to watch.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/accept/testing_rig.h"

enum { kShards = 2, kConnections = 40 };

struct runner {
  struct testing_rig rig;
  pthread_t thread;
  atomic_bool stop;
};

static void *run_shard(void *opaque) {
  struct runner *runner = opaque;
  bool winding_down = false;
  while (!winding_down || tg_shard_connections(runner->rig.shard) > 0) {
    if (tg_shard_turn(runner->rig.shard, -1) < 0) {
      return opaque;
    }
    if (!winding_down && atomic_load(&runner->stop)) {
      winding_down = true;
      tg_shard_wind_down(runner->rig.shard, 5000);
    }
  }
  return NULL;
}

// A blocking client, resuming the session before if there is one. Returns the session of its ticket.
static SSL_SESSION *exchange(SSL_CTX *ctx, uint16_t port, SSL_SESSION *session, bool *resumed) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
  SSL *ssl = SSL_new(ctx);
  assert_non_null(ssl);
  assert_int_equal(SSL_set_fd(ssl, fd), 1);
  if (session != NULL) {
    assert_int_equal(SSL_set_session(ssl, session), 1);
  }
  assert_int_equal(SSL_connect(ssl), 1);
  *resumed = SSL_session_reused(ssl) != 0;
  char answer[4];
  assert_int_equal(SSL_write(ssl, "bye\n", 4), 4);
  assert_int_equal(SSL_read(ssl, answer, 4), 4);
  assert_memory_equal(answer, "bye\n", 4);
  assert_int_equal(SSL_read(ssl, answer, 1), 0);
  SSL_SESSION *next = SSL_get_app_data(ssl);
  SSL_set_app_data(ssl, NULL);
  SSL_free(ssl);
  close(fd);
  return next;
}

static int keep(SSL *ssl, SSL_SESSION *session) {
  SSL_SESSION_free(SSL_get_app_data(ssl));
  SSL_set_app_data(ssl, session);
  return 1;
}

static void test_shards_in_threads(void **state) {
  (void)state;
  static struct runner runners[kShards];
  struct testing_options options;
  testing_options_default(&options);
  options.ticket_key_lifetime_s = 1;
  for (size_t i = 0; i < kShards; i++) {
    testing_rig_start(&runners[i].rig, &options);
    options.tls = runners[0].rig.tls;
    assert_int_equal(pthread_create(&runners[i].thread, NULL, run_shard, &runners[i]), 0);
  }
  SSL_CTX *ctx = SSL_CTX_new(TLS_method());
  assert_non_null(ctx);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(ctx, keep);
  SSL_SESSION *session = NULL;
  size_t num_resumed = 0;
  for (size_t i = 0; i < kConnections; i++) {
    bool resumed;
    SSL_SESSION *next = exchange(ctx, runners[i % kShards].rig.tls_port, session, &resumed);
    num_resumed += resumed;
    SSL_SESSION_free(session);
    session = next;
    struct tg_counters sum = {0};
    for (size_t j = 0; j < kShards; j++) {
      struct tg_counters now;
      tg_shard_counters(runners[j].rig.shard, &now);
      assert_int_equal(now.accepted,
                       now.established + now.handshake_failed + now.handshake_timed_out + now.in_handshake);
      tg_counters_add(&sum, &now);
    }
    assert_in_range(sum.established, i + 1, i + 1);
    usleep(50000);
  }
  SSL_SESSION_free(session);
  SSL_CTX_free(ctx);
  // Each connection offers the other shard's ticket of a moment ago; keys rotate meanwhile.
  assert_in_range(num_resumed, kConnections * 3 / 4, kConnections - 1);
  for (size_t i = 0; i < kShards; i++) {
    void *failed;
    atomic_store(&runners[i].stop, true);
    tg_shard_wake(runners[i].rig.shard);
    assert_int_equal(pthread_join(runners[i].thread, &failed), 0);
    assert_null(failed);
  }
  for (size_t i = kShards; i > 0; i--) {
    testing_rig_stop(&runners[i - 1].rig);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shards_in_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
