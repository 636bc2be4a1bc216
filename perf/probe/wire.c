#include "perf/probe/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perf/process/child.h"

// The largest record (RFC 8446, 5.2), rounded up.
#define CHUNK     17000
#define HEAD_SIZE 8192

static pthread_once_t once = PTHREAD_ONCE_INIT;
static SSL_CTX *context;  // of the process: made once, and kept

static void make_context(void) {
  context = SSL_CTX_new(TLS_method());
  if (context != NULL) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  }
}

// Waits for `events` until `until`. Returns false when it came first.
static bool await(int fd, short events, double until) {
  for (;;) {
    double left = until - tg_now_s();
    struct pollfd poll_fd = {.fd = fd, .events = events};
    int got = left <= 0 ? 0 : poll(&poll_fd, 1, (int)(left * 1000) + 1);
    if (got > 0) {
      return true;
    }
    if (got == 0 || errno != EINTR) {
      return false;
    }
  }
}

static bool open_with(struct tg_wire *wire, uint16_t port, bool small, double until) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  *wire = (struct tg_wire){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (wire->fd < 0) {
    return false;
  }
  int least = 1;
  if (small) {
    (void)setsockopt(wire->fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least));
  }
  int problem = 0;
  socklen_t len = sizeof(problem);
  if (connect(wire->fd, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
      (errno != EINPROGRESS || !await(wire->fd, POLLOUT, until) ||
       getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &problem, &len) != 0 || problem != 0)) {
    tg_wire_close(wire);
    return false;
  }
  // A probe's pieces are to be segments.
  (void)setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  return true;
}

bool tg_wire_open(struct tg_wire *wire, uint16_t port, double until) {
  return open_with(wire, port, false, until);
}

bool tg_wire_open_small(struct tg_wire *wire, uint16_t port, double until) {
  return open_with(wire, port, true, until);
}

bool tg_wire_prepare(struct tg_wire *wire, uint16_t low, uint16_t high) {
  (void)pthread_once(&once, make_context);
  wire->ssl = context == NULL ? NULL : SSL_new(context);
  wire->in = BIO_new(BIO_s_mem());
  wire->out = BIO_new(BIO_s_mem());
  if (wire->ssl == NULL || wire->in == NULL || wire->out == NULL) {
    BIO_free(wire->in);
    BIO_free(wire->out);
    SSL_free(wire->ssl);
    wire->ssl = NULL;
    return false;
  }
  BIO_set_mem_eof_return(wire->in, -1);
  SSL_set_bio(wire->ssl, wire->in, wire->out);
  SSL_set_connect_state(wire->ssl);
  return SSL_set_min_proto_version(wire->ssl, low) && SSL_set_max_proto_version(wire->ssl, high) &&
         SSL_set_tlsext_host_name(wire->ssl, "localhost");
}

size_t tg_wire_hello(struct tg_wire *wire, uint16_t low, uint16_t high, uint8_t *out, size_t size) {
  if (!tg_wire_prepare(wire, low, high)) {
    return 0;
  }
  (void)SSL_do_handshake(wire->ssl);
  int got = BIO_read(wire->out, out, (int)size);
  return got > 0 ? (size_t)got : 0;
}

bool tg_wire_send(struct tg_wire *wire, const void *bytes, size_t len, double until) {
  const char *at = bytes;
  while (len > 0) {
    ssize_t sent = send(wire->fd, at, len, MSG_NOSIGNAL);
    if (sent > 0) {
      at += sent;
      len -= (size_t)sent;
    } else if (errno == EAGAIN) {
      if (!await(wire->fd, POLLOUT, until)) {
        return false;
      }
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool tg_wire_flush(struct tg_wire *wire, size_t piece, double until) {
  char bytes[CHUNK];
  size_t most = piece == TG_WIRE_WHOLE || piece > sizeof(bytes) ? sizeof(bytes) : piece;
  for (;;) {
    int got = BIO_read(wire->out, bytes, (int)most);
    if (got <= 0) {
      return true;
    }
    if (!tg_wire_send(wire, bytes, (size_t)got, until)) {
      return false;
    }
    if (piece != TG_WIRE_WHOLE) {
      (void)usleep(200);  // so that segments are not merged in the server's queue
    }
  }
}

// Moves what has come to TLS, waiting for something if there is nothing. Returns false at the end and when `until`
// comes.
static bool fill(struct tg_wire *wire, double until) {
  char bytes[CHUNK];
  for (;;) {
    ssize_t got = recv(wire->fd, bytes, sizeof(bytes), 0);
    if (got > 0) {
      return BIO_write(wire->in, bytes, (int)got) == (int)got;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      wire->ended = true;
      wire->reset = got < 0;
      return false;
    }
    if (!await(wire->fd, POLLIN, until)) {
      return false;
    }
  }
}

bool tg_wire_handshake(struct tg_wire *wire, uint16_t low, uint16_t high, size_t piece, double until) {
  if (wire->ssl == NULL && !tg_wire_prepare(wire, low, high)) {
    return false;
  }
  for (;;) {
    int done = SSL_do_handshake(wire->ssl);
    int error = done == 1 ? SSL_ERROR_NONE : SSL_get_error(wire->ssl, done);
    if (!tg_wire_flush(wire, piece, until)) {
      return false;
    }
    if (done == 1) {
      return true;
    }
    if (error != SSL_ERROR_WANT_READ || !fill(wire, until)) {
      return false;
    }
  }
}

bool tg_wire_tls(struct tg_wire *wire, uint16_t port, double until) {
  if (!tg_wire_open(wire, port, until)) {
    return false;
  }
  if (tg_wire_handshake(wire, TLS1_2_VERSION, TLS1_3_VERSION, TG_WIRE_WHOLE, until)) {
    return true;
  }
  tg_wire_close(wire);
  return false;
}

bool tg_wire_write(struct tg_wire *wire, const void *bytes, size_t len, double until) {
  if (wire->ssl == NULL) {
    return tg_wire_send(wire, bytes, len, until);
  }
  return SSL_write(wire->ssl, bytes, (int)len) == (int)len && tg_wire_flush(wire, TG_WIRE_WHOLE, until);
}

static ssize_t read_plain(struct tg_wire *wire, void *out, size_t size, double until) {
  for (;;) {
    ssize_t got = recv(wire->fd, out, size, 0);
    if (got > 0) {
      return got;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      wire->ended = true;
      wire->reset = got < 0;
      return 0;
    }
    if (!await(wire->fd, POLLIN, until)) {
      return -1;
    }
  }
}

ssize_t tg_wire_read(struct tg_wire *wire, void *out, size_t size, double until) {
  if (wire->ssl == NULL) {
    return read_plain(wire, out, size, until);
  }
  for (;;) {
    int got = SSL_read(wire->ssl, out, (int)size);
    if (got > 0) {
      return got;
    }
    int error = SSL_get_error(wire->ssl, got);
    (void)tg_wire_flush(wire, TG_WIRE_WHOLE, until);
    if (error != SSL_ERROR_WANT_READ) {
      return 0;  // close_notify, or no TLS any more
    }
    if (!fill(wire, until)) {
      return wire->ended ? 0 : -1;
    }
  }
}

bool tg_wire_ended(struct tg_wire *wire) {
  char bytes[CHUNK];
  while (!wire->ended) {
    ssize_t got = recv(wire->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      wire->ended = true;
      wire->reset = got < 0;
    } else if (got < 0) {
      return false;
    }
  }
  return true;
}

void tg_wire_close(struct tg_wire *wire) {
  SSL_free(wire->ssl);
  wire->ssl = NULL;
  if (wire->fd >= 0) {
    close(wire->fd);
    wire->fd = -1;
  }
}

void tg_wire_reset(struct tg_wire *wire) {
  // socket(7): closing with a linger time of 0 sends a reset.
  const struct linger now = {.l_onoff = 1, .l_linger = 0};
  (void)setsockopt(wire->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  tg_wire_close(wire);
}

bool tg_wire_get(struct tg_wire *wire, const char *path, double until) {
  char request[512];
  int len = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
  return tg_wire_write(wire, request, (size_t)len, until);
}

static void parse_head(const char *head, struct tg_answer *out) {
  out->status = (int)strtol(head + strcspn(head, " "), NULL, 10);
  out->length = UINT64_MAX;
  for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n")) {
    if (strncasecmp(line + 2, "content-length:", 15) == 0) {
      out->length = strtoull(line + 17, NULL, 10);
    }
  }
}

void tg_wire_answer(struct tg_wire *wire, struct tg_answer *out, double until) {
  char head[HEAD_SIZE + 1];
  char drop[CHUNK];
  size_t len = 0;
  const char *end = NULL;
  *out = (struct tg_answer){.status = 0};
  while (end == NULL && len < HEAD_SIZE) {
    ssize_t got = tg_wire_read(wire, head + len, HEAD_SIZE - len, until);
    if (got <= 0) {
      out->closed = got == 0;
      return;
    }
    len += (size_t)got;
    head[len] = '\0';
    end = strstr(head, "\r\n\r\n");
  }
  if (end == NULL) {
    return;
  }
  out->body = len - (size_t)(end + 4 - head);
  head[end - head] = '\0';
  parse_head(head, out);
  while (out->body < out->length) {
    ssize_t got = tg_wire_read(wire, drop, sizeof(drop), until);
    if (got <= 0) {
      out->closed = got == 0;
      break;
    }
    out->body += (uint64_t)got;
  }
  out->whole = out->length == UINT64_MAX ? out->closed : out->body == out->length;
}

bool tg_wire_fetch(uint16_t port, const char *path, double until) {
  struct tg_wire wire;
  struct tg_answer answer = {.status = 0};
  if (tg_wire_tls(&wire, port, until)) {
    if (tg_wire_get(&wire, path, until)) {
      tg_wire_answer(&wire, &answer, until);
    }
    tg_wire_close(&wire);
  }
  return answer.status == 200 && answer.whole;
}
