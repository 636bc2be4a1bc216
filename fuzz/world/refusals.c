#include "fuzz/world/refusals.h"

#include <openssl/err.h>
#include <unistd.h>

#include "fuzz/world/finding.h"
#include "fuzz/world/fixtures.h"
#include "fuzz/world/server.h"
#include "harness/accept/accept.h"
#include "harness/accept/listener.h"
#include "harness/accept/tls_context.h"

static void require(struct tg_kernel *kernel, bool refused, struct tg_error *err, const char *what) {
  if (!refused || err->text[0] == '\0') {
    tg_finding(kernel, "P1", TG_NO_CLIENT, NULL, "%s is not refused in words", what);
  }
  err->text[0] = '\0';
}

static void refuse_tls(struct tg_kernel *kernel) {
  const struct tg_identity *identity = tg_fixture_server(TG_SCHEDULE_KEY_P256);
  const struct tg_tls_config good = {.key = identity->key, .chain = identity->chain, .ticket_key_lifetime_s = 1};
  struct tg_error err = {.text = ""};
  struct tg_tls_config bad = good;
  bad.ticket_key_lifetime_s = 0;
  require(kernel, tg_tls_context_create(&bad, &err) == NULL, &err, "a ticket key that lives no time");
  bad = good;
  bad.chain = NULL;
  require(kernel, tg_tls_context_create(&bad, &err) == NULL, &err, "a server without a certificate");
  bad = good;
  bad.key = tg_fixture_client()->key;
  require(kernel, tg_tls_context_create(&bad, &err) == NULL, &err, "a key that is not the certificate's");
  bad = good;
  bad.groups = "no-such-group";
  require(kernel, tg_tls_context_create(&bad, &err) == NULL, &err, "a group that there is not");
  bad = good;
  bad.client_ca_file = "/nowhere";
  require(kernel, tg_tls_context_create(&bad, &err) == NULL, &err, "a file of CAs that there is not");
  tg_tls_context_destroy(NULL);
}

static void refuse_listeners(struct tg_kernel *kernel) {
  struct tg_error err = {.text = ""};
  require(kernel, tg_listener_open("localhost", 1, true, &err) < 0, &err, "an address that is a name");
  int first = tg_listener_open("::1", TG_WORLD_TLS_PORT, true, &err);
  if (first < 0 || tg_listener_port(first) != TG_WORLD_TLS_PORT) {
    tg_finding(kernel, "P1", TG_NO_CLIENT, NULL, "a listener is not bound to the port that it was opened on");
  }
  require(kernel, tg_listener_open("::1", TG_WORLD_TLS_PORT, true, &err) < 0, &err, "a port that is in use");
  tg_kernel_set_max_fds(kernel, 1);
  require(kernel, tg_listener_open("::1", TG_WORLD_PLAIN_PORT, true, &err) < 0, &err, "one descriptor too many");
  tg_kernel_set_max_fds(kernel, TG_KERNEL_FDS_MAX);
  close(first);
  first = tg_listener_open("127.0.0.1", 0, true, &err);
  if (first < 0 || tg_listener_port(first) == 0) {
    tg_finding(kernel, "P1", TG_NO_CLIENT, NULL, "no port is chosen for a listener that may have any");
  }
  close(first);
}

static void refuse_shards(struct tg_kernel *kernel) {
  static const struct tg_app kApp;
  struct tg_error err = {.text = ""};
  struct tg_shard_config good;
  tg_shard_config_default(&good);
  good.app = &kApp;
  struct tg_shard_config bad = good;
  bad.deadlines.drain_ms = 0;
  require(kernel, tg_shard_create(&bad, &err) == NULL, &err, "a deadline of nothing");
  bad = good;
  bad.max_connections = 0;
  require(kernel, tg_shard_create(&bad, &err) == NULL, &err, "a shard for no connection");
  bad = good;
  bad.app = NULL;
  require(kernel, tg_shard_create(&bad, &err) == NULL, &err, "a shard without an application");
  bad = good;
  bad.tls_listener = 0;
  require(kernel, tg_shard_create(&bad, &err) == NULL, &err, "a TLS listener without TLS");
  tg_shard_destroy(NULL);
}

void tg_world_refuse(struct tg_kernel *kernel) {
  const uint32_t fds = tg_kernel_open_fds(kernel);
  const size_t allocations = tg_kernel_allocations(kernel);
  tg_kernel_allow_files(kernel, true);
  tg_kernel_enter(kernel, 0);
  refuse_tls(kernel);
  refuse_listeners(kernel);
  refuse_shards(kernel);
  ERR_clear_error();
  tg_kernel_leave(kernel);
  tg_kernel_allow_files(kernel, false);
  if (tg_kernel_open_fds(kernel) != fds || tg_kernel_allocations(kernel) != allocations) {
    tg_kernel_print_allocations(kernel, stderr);
    tg_finding(kernel, "P1", TG_NO_CLIENT, NULL, "a server that is refused leaves something behind");
  }
}
