#include "harness/client/tls_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct tg_client {
  SSL_CTX *ctx;
  SSL_SESSION *session;
  struct sockaddr_storage address;
  socklen_t address_len;
  uint32_t timeout_ms;
  bool nodelay;
  bool quickack;
};

// How long a client that holds no ACK back waits before it asks for the next one.
#define REARM_EVERY_MS 1

int64_t tg_client_now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

const char *tg_client_phase_name(enum tg_client_phase phase) {
  static const char *const names[] = {"connect", "handshake", "request", "response"};
  return names[phase];
}

static int keep_session(SSL *ssl, SSL_SESSION *session) {
  struct tg_client *client = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  SSL_SESSION_free(client->session);
  client->session = session;
  return 1;  // the reference is ours now
}

static bool resolve(struct tg_client *client, const struct tg_client_config *config, struct tg_error *err) {
  char service[8];
  (void)snprintf(service, sizeof(service), "%u", (unsigned)config->port);
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
  struct addrinfo *found = NULL;
  if (getaddrinfo(config->host, service, &hints, &found) != 0) {
    tg_error_set(err, "--host %s: not a numeric address, such as 127.0.0.1", config->host);
    return false;
  }
  memcpy(&client->address, found->ai_addr, found->ai_addrlen);
  client->address_len = found->ai_addrlen;
  freeaddrinfo(found);
  return true;
}

static bool configure(struct tg_client *client, const struct tg_client_config *config, struct tg_error *err) {
  // RFC 7301: one protocol, with its length before it.
  static const uint8_t alpn[] = "\x08http/1.1";
  SSL_CTX *ctx = client->ctx;
  SSL_CTX_set_app_data(ctx, client);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(ctx, keep_session);
  const uint16_t lowest = config->tls_version != 0 ? config->tls_version : TLS1_2_VERSION;
  const uint16_t highest = config->tls_version != 0 ? config->tls_version : TLS1_3_VERSION;
  if (!SSL_CTX_set_min_proto_version(ctx, lowest) || !SSL_CTX_set_max_proto_version(ctx, highest) ||
      SSL_CTX_set_alpn_protos(ctx, alpn, sizeof(alpn) - 1) != 0) {
    tg_error_set_tls(err, "--tls");
    return false;
  }
  if (config->groups != NULL && !SSL_CTX_set1_curves_list(ctx, config->groups)) {
    tg_error_set(err, "--groups %s: give names such as X25519:P-256:P-384", config->groups);
    return false;
  }
  if (config->cert_file != NULL && !SSL_CTX_use_certificate_chain_file(ctx, config->cert_file)) {
    tg_error_set_tls(err, "--cert %s: cannot be read as a PEM chain", config->cert_file);
    return false;
  }
  if (config->key_file != NULL &&
      (!SSL_CTX_use_PrivateKey_file(ctx, config->key_file, SSL_FILETYPE_PEM) || !SSL_CTX_check_private_key(ctx))) {
    tg_error_set_tls(err, "--key %s: cannot be read as the PEM key of --cert", config->key_file);
    return false;
  }
  if (config->ca_file != NULL) {
    if (!SSL_CTX_load_verify_locations(ctx, config->ca_file, NULL)) {
      tg_error_set_tls(err, "--ca %s: cannot be read as PEM certificates", config->ca_file);
      return false;
    }
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
  }
  return true;
}

struct tg_client *tg_client_create(const struct tg_client_config *config, struct tg_error *err) {
  struct tg_client *client = calloc(1, sizeof(*client));
  if (client == NULL || (client->ctx = SSL_CTX_new(TLS_method())) == NULL) {
    tg_error_set(err, "out of memory");
    free(client);
    return NULL;
  }
  client->timeout_ms = config->timeout_ms;
  client->nodelay = config->nodelay;
  client->quickack = config->quickack;
  if (!resolve(client, config, err) || !configure(client, config, err)) {
    tg_client_destroy(client);
    return NULL;
  }
  return client;
}

void tg_client_destroy(struct tg_client *client) {
  if (client != NULL) {
    SSL_SESSION_free(client->session);
    SSL_CTX_free(client->ctx);
    free(client);
  }
}

bool tg_client_has_session(const struct tg_client *client) {
  return client->session != NULL;
}

static bool set_timeout(int fd, uint32_t timeout_ms) {
  const struct timeval timeout = {.tv_sec = timeout_ms / 1000, .tv_usec = (suseconds_t)(timeout_ms % 1000) * 1000};
  return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 &&
         setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0;
}

// Says why an SSL_* call that returned `ret` failed; errno is the socket call's.
static void explain(const SSL *ssl, int ret, int error_number, struct tg_error *err) {
  switch (SSL_get_error(ssl, ret)) {
    case SSL_ERROR_WANT_READ:
      tg_error_set(err, "timed out waiting for the server");
      break;
    case SSL_ERROR_WANT_WRITE:
      tg_error_set(err, "timed out, the server does not read");
      break;
    case SSL_ERROR_ZERO_RETURN:
      tg_error_set(err, "the server closed the connection");
      break;
    case SSL_ERROR_SYSCALL:
      if (error_number != 0) {
        tg_error_set(err, "%s", strerror(error_number));
      } else {
        tg_error_set(err, "the server closed the connection");
      }
      break;
    default:
      tg_error_set_tls(err, "TLS");
      break;
  }
  ERR_clear_error();
}

// A socket call with a time-out ends in EINTR when the process was stopped and continued (signal(7)).
static bool interrupted(const SSL *ssl, int ret) {
  const int error = SSL_get_error(ssl, ret);
  return errno == EINTR && (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE);
}

static bool connect_socket(const struct tg_client *client, int *out, struct tg_error *err) {
  const int fd = socket(client->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    tg_error_set(err, "socket: %s", strerror(errno));
    return false;
  }
  const int nodelay = client->nodelay;
  if (!set_timeout(fd, client->timeout_ms) ||
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, sizeof(nodelay)) != 0 ||
      connect(fd, (const struct sockaddr *)&client->address, client->address_len) != 0) {
    // connect() with SO_SNDTIMEO ends in EINPROGRESS (socket(7)).
    tg_error_set(err, "%s", errno == EINPROGRESS ? "timed out" : strerror(errno));
    close(fd);
    return false;
  }
  *out = fd;
  return true;
}

bool tg_client_connect(struct tg_client *client, bool resume, struct tg_client_conn *out, enum tg_client_phase *phase,
                       struct tg_error *err) {
  *phase = TG_CLIENT_CONNECT;
  out->fd = -1;
  out->ssl = SSL_new(client->ctx);
  if (out->ssl == NULL || (resume && client->session != NULL && !SSL_set_session(out->ssl, client->session))) {
    tg_error_set_tls(err, "TLS set-up");
    tg_client_abandon(out);
    return false;
  }
  if (!connect_socket(client, &out->fd, err)) {
    tg_client_abandon(out);
    return false;
  }
  out->connected_ns = tg_client_now_ns();
  *phase = TG_CLIENT_HANDSHAKE;
  if (!SSL_set_fd(out->ssl, out->fd)) {
    tg_error_set_tls(err, "TLS set-up");
    tg_client_abandon(out);
    return false;
  }
  int ret;
  do {
    errno = 0;
    ret = SSL_connect(out->ssl);
  } while (ret != 1 && interrupted(out->ssl, ret));
  if (ret != 1) {
    explain(out->ssl, ret, errno, err);
    tg_client_abandon(out);
    return false;
  }
  out->established_ns = tg_client_now_ns();
  out->rearm_within_ms = client->quickack ? client->timeout_ms : 0;
  if (client->quickack) {
    const struct timeval every = {.tv_usec = REARM_EVERY_MS * 1000};
    (void)setsockopt(out->fd, SOL_SOCKET, SO_RCVTIMEO, &every, sizeof(every));
  }
  return true;
}

// Whether a read that returned `ret` has only to wait on; then an ACK that is due has been sent.
static bool waits_on(const struct tg_client_conn *conn, int ret, int64_t since_ns) {
  static const int on = 1;
  if (conn->rearm_within_ms == 0 || SSL_get_error(conn->ssl, ret) != SSL_ERROR_WANT_READ ||
      tg_client_now_ns() - since_ns > (int64_t)conn->rearm_within_ms * 1000000) {
    return false;
  }
  (void)setsockopt(conn->fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
  return true;
}

bool tg_client_write(struct tg_client_conn *conn, const void *bytes, size_t len, struct tg_error *err) {
  int ret;
  do {
    errno = 0;
    ret = SSL_write(conn->ssl, bytes, (int)len);
  } while (ret <= 0 && interrupted(conn->ssl, ret));
  if (ret <= 0) {
    explain(conn->ssl, ret, errno, err);
    return false;
  }
  return true;
}

ssize_t tg_client_read(struct tg_client_conn *conn, void *out, size_t len, struct tg_error *err) {
  const int64_t since_ns = tg_client_now_ns();
  int ret;
  do {
    errno = 0;
    ret = SSL_read(conn->ssl, out, (int)len);
  } while (ret <= 0 && (interrupted(conn->ssl, ret) || waits_on(conn, ret, since_ns)));
  if (ret > 0) {
    return ret;
  }
  const int error = SSL_get_error(conn->ssl, ret);
  if (error == SSL_ERROR_ZERO_RETURN || (error == SSL_ERROR_SYSCALL && errno == 0)) {
    ERR_clear_error();
    return 0;
  }
  explain(conn->ssl, ret, errno, err);
  return -1;
}

enum tg_client_end tg_client_close(struct tg_client_conn *conn) {
  enum tg_client_end end = TG_CLIENT_END_UNCLEAN;
  char byte;
  (void)set_timeout(conn->fd, TG_CLIENT_CLOSE_MS);
  if (SSL_shutdown(conn->ssl) >= 0) {
    const int ret = SSL_read(conn->ssl, &byte, 1);
    if (ret > 0) {
      end = TG_CLIENT_END_DATA;
    } else if (SSL_get_error(conn->ssl, ret) == SSL_ERROR_ZERO_RETURN && shutdown(conn->fd, SHUT_WR) == 0 &&
               recv(conn->fd, &byte, 1, 0) == 0) {
      end = TG_CLIENT_END_CLEAN;
    }
  }
  tg_client_abandon(conn);
  return end;
}

void tg_client_abandon(struct tg_client_conn *conn) {
  if (conn->fd >= 0) {
    close(conn->fd);
    conn->fd = -1;
  }
  SSL_free(conn->ssl);
  conn->ssl = NULL;
  ERR_clear_error();
}
