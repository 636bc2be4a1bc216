// The server as the accept path of the simulated world: create, turn, destroy, and what it promises.
#include "fuzz/examples/handoff/handoff.h"
#include "fuzz/examples/handoff/request.h"
#include "fuzz/world/accept_path.h"

#define TLS_PORT       8443
#define PLAINTEXT_PORT 8080

static void *create(const void *given) {
  const struct tg_accept_path_config *config = given;
  return handoff_create(&(struct handoff_config){
      .tls_port = TLS_PORT,
      .plaintext_port = config->settings->plaintext_listener ? PLAINTEXT_PORT : 0,
      .key = config->key,
      .chain = config->chain,
      .max_body = config->max_body,
      .handshake_ms = config->deadlines.handshake_ms,
      .request_ms = config->deadlines.request_ms,
      .idle_ms = config->deadlines.idle_ms,
      .response_ms = config->deadlines.response_ms,
      .drain_ms = config->deadlines.drain_ms,
  });
}

static uint32_t threads(void *server) {
  (void)server;
  return HANDOFF_LOOPS;
}

static bool turn(void *server, uint32_t thread) {
  handoff_turn(server, thread);
  return true;
}

static void destroy(void *server) {
  handoff_destroy(server);
}

static bool cut_some(const void *server) {
  return handoff_timed_out(server) > 0;
}

static bool failed(const void *server) {
  return handoff_failed(server);
}

const struct tg_accept_path tg_world_accept_path = {
    .name = "handoff",
    .adapter = {.create = create, .threads = threads, .turn = turn, .destroy = destroy},
    .tls_port = TLS_PORT,
    .plaintext_port = PLAINTEXT_PORT,
    .deadlines = {.handshake_ms = 8000, .request_ms = 20000, .idle_ms = 40000, .response_ms = 20000, .drain_ms = 4000},
    .uses_boringssl = true,
    .http = {.requests = 1u << TG_REQUEST_GET | 1u << TG_REQUEST_BYTES | 1u << TG_REQUEST_POST | 1u << TG_REQUEST_HEAD |
                         1u << TG_REQUEST_PIPELINE | 1u << TG_REQUEST_CLOSE | 1u << TG_REQUEST_HTTP10 |
                         1u << TG_REQUEST_NOT_FOUND | 1u << TG_REQUEST_BIG_HEAD | 1u << TG_REQUEST_NUL |
                         1u << TG_REQUEST_BROKEN | 1u << TG_REQUEST_HEAD_ONLY | 1u << TG_REQUEST_BODY_TOO_BIG,
             .small = "/hello",
             .small_body = "handed over\n",
             .bytes = "/filler/",
             .bytes_are_filler = true,
             .upload = "/sink",
             .head_max = REQUEST_HEAD_MAX},
    .takes = {.key = true, .deadlines = true},
    .inside = {.cut_some = cut_some, .failed = failed},
};
