#include "fuzz/examples/handoff/handoff.h"

#include <assert.h>
#include <openssl/err.h>
#include <stdlib.h>

#include "fuzz/examples/handoff/acceptor.h"
#include "fuzz/examples/handoff/clock.h"
#include "fuzz/examples/handoff/worker.h"

struct handoff {
  struct house house;
  struct mailbox boxes[HANDOFF_WORKERS];
  struct acceptor acceptor;
  struct worker workers[HANDOFF_WORKERS];
};

static SSL_CTX *make_tls(const struct handoff_config *config) {
  SSL_CTX *tls = SSL_CTX_new(TLS_method());
  if (tls == NULL) {
    return NULL;
  }
  SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
  bool ok = SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION) && SSL_CTX_set_max_proto_version(tls, TLS1_3_VERSION) &&
            SSL_CTX_use_certificate(tls, sk_X509_value(config->chain, 0)) && SSL_CTX_use_PrivateKey(tls, config->key);
  for (size_t i = 1; ok && i < sk_X509_num(config->chain); i++) {
    ok = SSL_CTX_add1_chain_cert(tls, sk_X509_value(config->chain, i));
  }
  if (!ok) {
    SSL_CTX_free(tls);
    return NULL;
  }
  return tls;
}

static bool open_all(struct handoff *server, const struct handoff_config *config) {
  bool ok = server->house.tls != NULL && server->house.bio_method != NULL;
  for (unsigned i = 0; i < HANDOFF_WORKERS; i++) {
    ok = ok && mailbox_open(&server->boxes[i]);
    ok = ok && worker_open(&server->workers[i], &server->boxes[i], &server->house);
  }
  return ok &&
         acceptor_open(&server->acceptor, config->tls_port, config->plaintext_port, server->boxes, HANDOFF_WORKERS);
}

struct handoff *handoff_create(const struct handoff_config *config) {
  struct handoff *server = calloc(1, sizeof(*server));
  if (server == NULL) {
    return NULL;
  }
  // What is not open yet is not closed.
  server->acceptor.epoll_fd = server->acceptor.rest_fd = -1;
  server->acceptor.listeners[0] = server->acceptor.listeners[1] = -1;
  for (unsigned i = 0; i < HANDOFF_WORKERS; i++) {
    server->boxes[i].event_fd = server->workers[i].epoll_fd = -1;
  }
  server->house = (struct house){
      .tls = make_tls(config),
      .bio_method = socket_bio_method(),
      .max_body = config->max_body,
      .handshake_ns = config->handshake_ms * NS_PER_MS,
      .request_ns = config->request_ms * NS_PER_MS,
      .idle_ns = config->idle_ms * NS_PER_MS,
      .response_ns = config->response_ms * NS_PER_MS,
      .drain_ns = config->drain_ms * NS_PER_MS,
  };
  if (!open_all(server, config)) {
    handoff_destroy(server);
    server = NULL;
  }
  ERR_clear_error();
  return server;
}

void handoff_turn(struct handoff *server, unsigned loop) {
  assert(loop < HANDOFF_LOOPS);
  if (loop == 0) {
    acceptor_turn(&server->acceptor);
  } else {
    worker_turn(&server->workers[loop - 1]);
  }
}

void handoff_destroy(struct handoff *server) {
  acceptor_close(&server->acceptor);
  for (unsigned i = 0; i < HANDOFF_WORKERS; i++) {
    worker_close(&server->workers[i]);
    mailbox_close(&server->boxes[i]);
  }
  SSL_CTX_free(server->house.tls);
  BIO_meth_free(server->house.bio_method);
  free(server);
}

uint64_t handoff_timed_out(const struct handoff *server) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < HANDOFF_WORKERS; i++) {
    sum += server->workers[i].timed_out;
  }
  return sum;
}

bool handoff_failed(const struct handoff *server) {
  return server->acceptor.failed;
}
