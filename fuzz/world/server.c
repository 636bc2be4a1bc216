#include "fuzz/world/server.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/world/accept_path.h"
#include "fuzz/world/finding.h"
#include "fuzz/world/refused.h"
#include "fuzz/world/server_tls.h"
#include "fuzz/world/watch.h"
#include "harness/accept/accept.h"
#include "harness/accept/conn.h"
#include "harness/accept/listener.h"
#include "harness/accept/shard_state.h"
#include "harness/accept/tls_context.h"
#include "harness/server/http_app.h"
#include "harness/server/http_request.h"

struct world_shard {
  struct tg_shard *shard;
  struct tg_http_app *app;
  bool failed;
};

struct tg_world_server {
  struct tg_kernel *kernel;
  struct tg_tls_context *tls;
  struct tg_kept_tls *kept;  // whose `tls` it is; NULL: the server's own
  atomic_size_t connections;
  uint32_t num_shards;
  struct world_shard shards[TG_KERNEL_THREADS_MAX];
  struct tg_watch watch;
};

// The responder, with P11 in front of it: no application byte before the handshake allows it (RFC 8446, 4.2.10 and
// docs/accept-path.md: early data waits until the handshake is confirmed).
static void require_confirmed(struct tg_conn *conn) {
  if (tg_conn_is_tls(conn) && (SSL_in_init(conn->ssl) || SSL_in_early_data(conn->ssl))) {
    tg_finding(tg_kernel_current(), "P11", TG_NO_CLIENT, "OPEN",
               "the application is called on descriptor %d before the handshake is confirmed", conn->stream.fd);
  }
}

static void *opened(void *data, struct tg_conn *conn) {
  require_confirmed(conn);
  return tg_http_app_callbacks.opened(data, conn);
}

static enum tg_app_next readable(void *state, struct tg_conn *conn) {
  require_confirmed(conn);
  return tg_http_app_callbacks.readable(state, conn);
}

static enum tg_app_next writable(void *state, struct tg_conn *conn) {
  require_confirmed(conn);
  return tg_http_app_callbacks.writable(state, conn);
}

static enum tg_app_next finish_requested(void *state, struct tg_conn *conn) {
  return tg_http_app_callbacks.finish_requested(state, conn);
}

static void closed(void *state) {
  tg_http_app_callbacks.closed(state);
}

static const struct tg_app app_callbacks = {
    .opened = opened,
    .readable = readable,
    .writable = writable,
    .finish_requested = finish_requested,
    .closed = closed,
};

// Always the same, so that the answer to /stats does not depend on how bytes were cut (P7).
static void no_stats(void *data, struct tg_counters *out) {
  (void)data;
  *out = (struct tg_counters){0};
}

static struct tg_deadlines deadlines_of(const struct tg_promises *promised) {
  return (struct tg_deadlines){.handshake_ms = promised->handshake_ms,
                               .request_ms = promised->request_ms,
                               .idle_ms = promised->idle_ms,
                               .response_ms = promised->response_ms,
                               .drain_ms = promised->drain_ms};
}

static int open_listener(uint16_t port, bool first) {
  struct tg_error err;
  return tg_listener_open("127.0.0.1", port, first, &err);
}

static void close_listener(int fd) {
  if (fd >= 0) {
    close(fd);
  }
}

// What is promised for the shards' defaults is what they are.
static void require_promised(const struct tg_deadlines *defaults) {
  const struct tg_deadlines promised = deadlines_of(&tg_world_accept_path.deadlines);
  assert(promised.handshake_ms == defaults->handshake_ms && promised.request_ms == defaults->request_ms &&
         promised.idle_ms == defaults->idle_ms && promised.response_ms == defaults->response_ms &&
         promised.drain_ms == defaults->drain_ms);
}

static bool make_shard(struct tg_world_server *server, const struct tg_accept_path_config *config) {
  const struct tg_schedule_settings *settings = config->settings;
  struct world_shard *one = &server->shards[server->num_shards];
  bool first = server->num_shards == 0;
  one->app = tg_http_app_create(config->max_body, no_stats, NULL);
  struct tg_shard_config shard_config;
  tg_shard_config_default(&shard_config);
  require_promised(&shard_config.deadlines);
  shard_config.tls = server->tls;
  shard_config.tls_listener = open_listener(TG_WORLD_TLS_PORT, first);
  shard_config.http_listener = settings->plaintext_listener ? open_listener(TG_WORLD_PLAIN_PORT, first) : -1;
  shard_config.app = &app_callbacks;
  shard_config.app_data = one->app;
  shard_config.quickack = (enum tg_quickack)config->quickack;
  shard_config.flush_tickets = settings->flush_tickets;
  shard_config.deadlines = deadlines_of(&config->deadlines);
  if (settings->max_connections > 0) {
    shard_config.max_connections = settings->max_connections;
  }
  shard_config.connections = &server->connections;
  struct tg_error err;
  bool ready = one->app != NULL && shard_config.tls_listener >= 0 &&
               (!settings->plaintext_listener || shard_config.http_listener >= 0);
  one->shard = ready ? tg_shard_create(&shard_config, &err) : NULL;
  if (one->shard == NULL) {
    close_listener(shard_config.tls_listener);
    close_listener(shard_config.http_listener);
    tg_http_app_destroy(one->app);
    one->app = NULL;
    return false;
  }
  server->num_shards++;
  return true;
}

static void destroy(void *made) {
  struct tg_world_server *server = made;
  for (uint32_t i = 0; i < server->num_shards; i++) {
    tg_shard_destroy(server->shards[i].shard);
    tg_http_app_destroy(server->shards[i].app);
  }
  if (server->kept == NULL) {
    tg_tls_context_destroy(server->tls);
  }
  free(server);
}

static void *create(const void *given) {
  const struct tg_accept_path_config *config = given;
  struct tg_world_server *server = calloc(1, sizeof(*server));
  if (server == NULL) {
    return NULL;
  }
  server->kernel = config->kernel;
  server->kept = config->kept;
  server->tls = server->kept != NULL ? tg_kept_tls_begin(server->kept) : tg_server_tls_create(config->settings);
  bool ok = server->tls != NULL;
  for (uint32_t i = 0; ok && i < config->settings->shards; i++) {
    ok = make_shard(server, config);
  }
  if (!ok) {
    destroy(server);
    return NULL;
  }
  const struct tg_deadlines deadlines = deadlines_of(&config->deadlines);
  tg_watch_init(&server->watch, config->kernel, &deadlines);
  return server;
}

static uint32_t threads(void *made) {
  struct tg_world_server *server = made;
  return server->num_shards;
}

static bool turn(void *made, uint32_t thread) {
  struct tg_world_server *server = made;
  // A shard whose listener is unusable still serves what is there, and says so every time.
  if (tg_shard_turn(server->shards[thread].shard, -1) < 0) {
    server->shards[thread].failed = true;
  }
  return true;
}

static void check(void *made, void *context) {
  (void)context;
  struct tg_world_server *server = made;
  if (ERR_peek_error() != 0) {
    char text[160];
    ERR_error_string_n(ERR_peek_error(), text, sizeof(text));
    tg_finding(server->kernel, "P8", TG_NO_CLIENT, NULL, "the error queue is not empty after a turn: %s", text);
  }
  tg_watch_begin(&server->watch);
  for (uint32_t i = 0; i < server->num_shards; i++) {
    tg_watch_shard(&server->watch, server->shards[i].shard);
  }
  tg_watch_end(&server->watch);
}

static void wind_down(void *made, uint32_t grace_ms) {
  struct tg_world_server *server = made;
  for (uint32_t i = 0; i < server->num_shards; i++) {
    tg_kernel_enter(server->kernel, i);
    // As the thread is told that turns it: by whoever is to wake it.
    tg_shard_wake(server->shards[i].shard);
    tg_shard_wind_down(server->shards[i].shard, grace_ms);
    tg_kernel_leave(server->kernel);
  }
  check(server, NULL);
}

static void counters(void *made, struct tg_counters *out) {
  struct tg_world_server *server = made;
  *out = (struct tg_counters){0};
  for (uint32_t i = 0; i < server->num_shards; i++) {
    struct tg_counters one;
    tg_shard_counters(server->shards[i].shard, &one);
    tg_counters_add(out, &one);
  }
}

static bool cut_some(const void *made) {
  const struct tg_world_server *server = made;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < server->num_shards; i++) {
    const struct tg_counters *counted = &server->shards[i].shard->counters;
    sum += counted->handshake_timed_out + counted->open_timed_out + counted->drain_timed_out;
  }
  return sum > 0;
}

static size_t connections(const void *made) {
  const struct tg_world_server *server = made;
  size_t sum = 0;
  for (uint32_t i = 0; i < server->num_shards; i++) {
    sum += tg_shard_connections(server->shards[i].shard);
  }
  return sum;
}

static void check_rest(void *made) {
  struct tg_world_server *server = made;
  check(server, NULL);
  for (uint32_t i = 0; i < server->num_shards; i++) {
    tg_watch_rest(&server->watch, server->shards[i].shard);
  }
}

static bool failed(const void *made) {
  const struct tg_world_server *server = made;
  bool some = false;
  for (uint32_t i = 0; i < server->num_shards; i++) {
    some = some || server->shards[i].failed;
  }
  return some;
}

static void *keep_tls(const struct tg_schedule_settings *settings, bool *made) {
  return tg_kept_tls_get(settings, made);
}

static void kept_tls_end(void *kept) {
  tg_kept_tls_end(kept);
}

const struct tg_accept_path tg_world_accept_path = {
    .name = "harness/accept",
    .adapter = {.create = create, .threads = threads, .turn = turn, .destroy = destroy, .check = check},
    .tls_port = TG_WORLD_TLS_PORT,
    .plaintext_port = TG_WORLD_PLAIN_PORT,
    .deadlines = {.handshake_ms = 10000, .request_ms = 30000, .idle_ms = 60000, .response_ms = 30000, .drain_ms = 5000},
    .uses_boringssl = true,
    .http = {.requests = (1u << TG_SCHEDULE_REQUESTS_COUNT) - 1,
             .small = "/",
             .small_body = "{\"status\":\"ok\"}",
             .bytes = "/bytes/",
             .bytes_are_filler = true,
             .upload = "/upload",
             .upload_reports = true,
             .stats = "/stats",
             .error_bodies = true,
             .head_max = TG_HTTP_HEAD_MAX},
    .takes = {.key = true, .client_ca = true, .early_data = true, .deadlines = true, .max_connections = true},
    .wind_down = wind_down,
    .inside = {.checks_itself = true,
               .cut_some = cut_some,
               .connections = connections,
               .check_rest = check_rest,
               .failed = failed,
               .counters = counters},
    .keep_tls = keep_tls,
    .kept_tls_end = kept_tls_end,
    .refuse = tg_world_refuse,
};
