#include "harness/server/server.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/accept/accept.h"
#include "harness/accept/listener.h"
#include "harness/accept/tls_context.h"
#include "harness/server/credentials.h"
#include "harness/server/http_app.h"

struct worker {
  struct tg_server *server;
  struct tg_shard *shard;
  struct tg_http_app *app;
  pthread_t thread;
};

struct tg_server {
  struct tg_tls_context *tls;
  uint16_t tls_port;
  uint16_t http_port;
  uint32_t grace_ms;
  atomic_bool stopping;
  atomic_bool failed;
  atomic_size_t connections;  // of all shards
  uint32_t num_workers;
  struct worker workers[];
};

uint16_t tg_server_tls_port(const struct tg_server *server) {
  return server->tls_port;
}

uint16_t tg_server_http_port(const struct tg_server *server) {
  return server->http_port;
}

uint32_t tg_server_shards(const struct tg_server *server) {
  return server->num_workers;
}

void tg_server_counters(const struct tg_server *server, struct tg_counters *out) {
  *out = (struct tg_counters){0};
  for (uint32_t i = 0; i < server->num_workers; i++) {
    struct tg_counters one;
    tg_shard_counters(server->workers[i].shard, &one);
    tg_counters_add(out, &one);
  }
}

static void stats(void *data, struct tg_counters *out) {
  tg_server_counters(data, out);
}

// As many CPUs as the process may use, whatever the machine has.
static uint32_t usable_cpus(void) {
  // Larger than the C library's fixed set, which sched_getaffinity refuses to fill on machines with more CPUs.
  enum { MOST_CPUS = 1 << 16 };
  uint32_t cpus = 1;
  cpu_set_t *set = CPU_ALLOC(MOST_CPUS);
  if (set != NULL && sched_getaffinity(0, CPU_ALLOC_SIZE(MOST_CPUS), set) == 0) {
    cpus = (uint32_t)CPU_COUNT_S(CPU_ALLOC_SIZE(MOST_CPUS), set);
  }
  CPU_FREE(set);
  return cpus < TG_SHARDS_MAX ? cpus : TG_SHARDS_MAX;
}

static struct tg_tls_context *make_tls_context(const struct tg_options *options, struct tg_error *err) {
  struct tg_credentials credentials;
  bool ok = options->cert_file != NULL ? tg_credentials_load(options->cert_file, options->key_file, &credentials, err)
                                       : tg_credentials_self_signed(options->key_type, &credentials, err);
  if (!ok) {
    return NULL;
  }
  struct tg_tls_config config = {
      .key = credentials.key,
      .chain = credentials.chain,
      .groups = options->groups,
      .client_ca_file = options->client_ca_file,
      .early_data = options->early_data,
      .ticket_key_lifetime_s = options->ticket_lifetime_s,
  };
  struct tg_tls_context *tls = tg_tls_context_create(&config, err);
  tg_credentials_free(&credentials);
  return tls;
}

// Opens a listener on the port that the first of its kind was given. Returns -1 with `err` filled in.
static int open_listener(const char *address, uint16_t wanted, uint16_t *in_use, struct tg_error *err) {
  bool first = *in_use == 0;
  int fd = tg_listener_open(address, first ? wanted : *in_use, first, err);
  if (fd >= 0 && first) {
    *in_use = tg_listener_port(fd);
  }
  return fd;
}

static void close_listener(int fd) {
  if (fd >= 0) {
    close(fd);
  }
}

static bool make_worker(struct tg_server *server, const struct tg_options *options, struct tg_error *err) {
  struct worker *worker = &server->workers[server->num_workers];
  worker->server = server;
  worker->app = tg_http_app_create(options->max_body, stats, server);
  if (worker->app == NULL) {
    tg_error_set(err, "out of memory for shard %u of %u: ask for fewer --shards", server->num_workers + 1,
                 options->shards);
    return false;
  }
  struct tg_shard_config config;
  tg_shard_config_default(&config);
  config.tls = server->tls;
  config.app = &tg_http_app_callbacks;
  config.app_data = worker->app;
  config.quickack = options->quickack;
  config.flush_tickets = options->flush_tickets;
  config.deadlines = options->deadlines;
  config.max_connections = options->max_connections;
  config.connections = &server->connections;
  config.tls_listener = open_listener(options->bind, options->tls_port, &server->tls_port, err);
  bool listening = config.tls_listener >= 0;
  if (listening && options->with_http) {
    config.http_listener = open_listener(options->bind, options->http_port, &server->http_port, err);
    listening = config.http_listener >= 0;
  }
  worker->shard = listening ? tg_shard_create(&config, err) : NULL;
  if (worker->shard == NULL) {
    close_listener(config.tls_listener);
    close_listener(config.http_listener);
    tg_http_app_destroy(worker->app);
    return false;
  }
  server->num_workers++;
  return true;
}

struct tg_server *tg_server_create(const struct tg_options *options, struct tg_error *err) {
  struct tg_options complete = *options;
  if (complete.shards == 0) {
    complete.shards = usable_cpus();
  }
  struct tg_server *server = calloc(1, sizeof(*server) + complete.shards * sizeof(server->workers[0]));
  if (server == NULL) {
    tg_error_set(err, "out of memory for %u shards: ask for fewer --shards", complete.shards);
    return NULL;
  }
  server->grace_ms = complete.grace_ms;
  server->tls = make_tls_context(&complete, err);
  bool ok = server->tls != NULL;
  while (ok && server->num_workers < complete.shards) {
    ok = make_worker(server, &complete, err);
  }
  if (!ok) {
    tg_server_destroy(server);
    return NULL;
  }
  return server;
}

static void fail(struct tg_server *server, const char *what) {
  fprintf(stderr, "https_server: %s: %s\n", what, strerror(errno));
  if (!atomic_exchange(&server->failed, true)) {
    kill(getpid(), SIGTERM);
  }
}

static void *run_worker(void *data) {
  struct worker *worker = data;
  struct tg_server *server = worker->server;
  bool alive = true;
  while (alive && !atomic_load(&server->stopping)) {
    alive = tg_shard_turn(worker->shard, -1) >= 0;
  }
  if (alive) {
    tg_shard_wind_down(worker->shard, server->grace_ms);
  }
  while (alive && tg_shard_connections(worker->shard) > 0) {
    alive = tg_shard_turn(worker->shard, -1) >= 0;
  }
  if (!alive) {
    fail(server, "a shard cannot wait for events");
  }
  return NULL;
}

static void stop_threads(struct tg_server *server, uint32_t num_started) {
  atomic_store(&server->stopping, true);
  for (uint32_t i = 0; i < num_started; i++) {
    tg_shard_wake(server->workers[i].shard);
  }
  for (uint32_t i = 0; i < num_started; i++) {
    pthread_join(server->workers[i].thread, NULL);
  }
}

bool tg_server_start(struct tg_server *server, struct tg_error *err) {
  for (uint32_t i = 0; i < server->num_workers; i++) {
    int error = pthread_create(&server->workers[i].thread, NULL, run_worker, &server->workers[i]);
    if (error != 0) {
      stop_threads(server, i);
      tg_error_set(err, "cannot start thread %u of %u: %s: ask for fewer --shards", i + 1, server->num_workers,
                   strerror(error));
      return false;
    }
  }
  return true;
}

bool tg_server_stop(struct tg_server *server) {
  stop_threads(server, server->num_workers);
  return !atomic_load(&server->failed);
}

void tg_server_destroy(struct tg_server *server) {
  if (server == NULL) {
    return;
  }
  for (uint32_t i = 0; i < server->num_workers; i++) {
    tg_shard_destroy(server->workers[i].shard);
    tg_http_app_destroy(server->workers[i].app);
  }
  tg_tls_context_destroy(server->tls);
  free(server);
}
