#include "harness/kernel/testing_shard.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/accept/listener.h"

struct line_state {
  char line[256];
  size_t len;
};

static void *line_opened(void *data, struct tg_conn *conn) {
  (void)data;
  (void)conn;
  return calloc(1, sizeof(struct line_state));
}

static enum tg_app_next line_readable(void *opaque, struct tg_conn *conn) {
  struct line_state *state = opaque;
  for (;;) {
    ssize_t got = tg_conn_read(conn, state->line + state->len, sizeof(state->line) - state->len);
    if (got < 0) {
      return state->len > 0 ? TG_APP_PARTIAL : TG_APP_IDLE;
    }
    state->len += (size_t)got;
    if (state->line[state->len - 1] == '\n') {
      return tg_conn_write(conn, state->line, state->len) == state->len ? TG_APP_FINISH : TG_APP_ABORT;
    }
    if (state->len == sizeof(state->line)) {
      return TG_APP_ABORT;
    }
  }
}

static enum tg_app_next line_writable(void *state, struct tg_conn *conn) {
  (void)state;
  (void)conn;
  return TG_APP_ABORT;
}

static enum tg_app_next line_finish_requested(void *state, struct tg_conn *conn) {
  (void)state;
  (void)conn;
  return TG_APP_FINISH;
}

static const struct tg_app kLineApp = {
    .opened = line_opened,
    .readable = line_readable,
    .writable = line_writable,
    .finish_requested = line_finish_requested,
    .closed = free,
};

struct testing_server {
  uint32_t num_shards;
  struct tg_shard *shards[TG_KERNEL_THREADS_MAX];
};

static void destroy(void *opaque) {
  struct testing_server *server = opaque;
  for (uint32_t i = 0; i < server->num_shards; i++) {
    tg_shard_destroy(server->shards[i]);
  }
  free(server);
}

static void close_listener(int fd) {
  if (fd >= 0) {
    close(fd);
  }
}

static void *create(const void *opaque) {
  const struct testing_shard_config *wanted = opaque;
  struct testing_server *server = calloc(1, sizeof(*server));
  if (server == NULL) {
    return NULL;
  }
  for (uint32_t i = 0; i < wanted->shards; i++) {
    struct tg_shard_config config;
    struct tg_error err;
    tg_shard_config_default(&config);
    config.app = &kLineApp;
    config.quickack = wanted->quickack;
    config.flush_tickets = wanted->flush_tickets;
    config.tls = wanted->tls;
    if (wanted->tls != NULL) {
      config.tls_listener = tg_listener_open("127.0.0.1", TESTING_TLS_PORT, i == 0, &err);
    }
    config.http_listener = tg_listener_open("127.0.0.1", TESTING_HTTP_PORT, i == 0, &err);
    bool listening = config.http_listener >= 0 && (wanted->tls == NULL || config.tls_listener >= 0);
    server->shards[i] = listening ? tg_shard_create(&config, &err) : NULL;
    if (server->shards[i] == NULL) {
      close_listener(config.tls_listener);
      close_listener(config.http_listener);
      destroy(server);
      return NULL;
    }
    server->num_shards++;
  }
  return server;
}

static uint32_t threads(void *opaque) {
  const struct testing_server *server = opaque;
  return server->num_shards;
}

static bool turn(void *opaque, uint32_t thread) {
  const struct testing_server *server = opaque;
  return tg_shard_turn(server->shards[thread], -1) >= 0;
}

const struct tg_adapter testing_shard_adapter = {
    .create = create, .threads = threads, .turn = turn, .destroy = destroy};

struct tg_shard *testing_shard_at(void *opaque, uint32_t thread) {
  const struct testing_server *server = opaque;
  return server->shards[thread];
}
