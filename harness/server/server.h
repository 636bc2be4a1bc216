// The server: its listeners, a thread for each shard, and how they end.
#ifndef TLSGATE_HARNESS_SERVER_SERVER_H
#define TLSGATE_HARNESS_SERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/accept/counters.h"
#include "harness/base/error.h"
#include "harness/server/options.h"

struct tg_server;

// tg_server_create loads or makes the certificate, opens every listener and makes the shards; nothing is served yet,
// but connections queue from here on. `options` is read during the call, except that its strings are not kept.
// Returns NULL with `err` filled in.
struct tg_server *tg_server_create(const struct tg_options *options, struct tg_error *err);

uint16_t tg_server_tls_port(const struct tg_server *server);

// tg_server_http_port returns 0 when there is no plaintext listener.
uint16_t tg_server_http_port(const struct tg_server *server);

uint32_t tg_server_shards(const struct tg_server *server);

// tg_server_start starts the threads. They inherit the caller's signal mask. Returns false with `err` filled in, upon
// which those that started have ended again. A thread that cannot go on says so on stderr and sends the process
// SIGTERM.
bool tg_server_start(struct tg_server *server, struct tg_error *err);

// tg_server_stop asks every shard to wind down and waits for the threads: within the options' grace_ms, as a rule much
// sooner. Returns false if a shard had failed. To be called once, after tg_server_start returned true.
bool tg_server_stop(struct tg_server *server);

// tg_server_counters adds up the counters of all shards. Safe from any thread until the server is destroyed. Shards
// are read one after the other, so gauges of a busy server may be a few events apart.
void tg_server_counters(const struct tg_server *server, struct tg_counters *out);

// tg_server_destroy frees a server whose threads do not run. NULL is ignored.
void tg_server_destroy(struct tg_server *server);

#endif
