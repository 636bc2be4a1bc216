// The accept path as shipped, with a small application, as the simulated kernel's adapter; and a client of it.
//
// The application answers each line with the line. The client sends one line when its handshake is done, as a write of
// its own behind the Finished, reads the answer, and closes when the server has.
#ifndef TLSGATE_HARNESS_KERNEL_TESTING_SHARD_H
#define TLSGATE_HARNESS_KERNEL_TESTING_SHARD_H

#include <openssl/base.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/accept/accept.h"
#include "harness/kernel/adapter.h"

#define TESTING_TLS_PORT  443
#define TESTING_HTTP_PORT 80

struct testing_shard_config {
  struct tg_tls_context *tls;  // NULL: no TLS listener
  enum tg_quickack quickack;
  bool flush_tickets;
  uint32_t shards;
};

// Its config is a struct testing_shard_config.
extern const struct tg_adapter testing_shard_adapter;

// testing_shard_at returns one of the shards of a server that the adapter has made.
struct tg_shard *testing_shard_at(void *server, uint32_t thread);

struct testing_client {
  struct tg_kernel *kernel;
  struct tg_tcp *end;
  SSL *ssl;  // NULL: plaintext
  char answer[64];
  size_t answer_len;
  uint64_t asked_ns;     // when the request was written
  uint64_t answered_ns;  // when its answer was whole; 0: not yet
  bool asked;
  bool closed;
  bool failed;
};

// testing_client_start connects; `ctx` NULL is plaintext. All that follows happens in driver's events.
void testing_client_start(struct testing_client *client, struct tg_kernel *kernel, uint16_t port, SSL_CTX *ctx);

// testing_client_resume does so with a session of an earlier connection.
void testing_client_resume(struct testing_client *client, struct tg_kernel *kernel, uint16_t port, SSL_CTX *ctx,
                           SSL_SESSION *session);

// testing_client_free frees what the client holds outside the kernel.
void testing_client_free(struct testing_client *client);

#endif
