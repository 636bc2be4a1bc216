#include "harness/server/test_client.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

SSL_CTX *test_tls_context(void) {
  SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
  if (tls != NULL) {
    SSL_CTX_set_verify(tls, SSL_VERIFY_NONE, NULL);
  }
  return tls;
}

int test_connect(uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct timeval patience = {.tv_sec = TEST_CLIENT_PATIENCE_S};
  struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
      setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
      connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
    if (fd >= 0) {
      close(fd);
    }
    return -1;
  }
  return fd;
}

bool test_open_session(struct test_conn *conn, uint16_t port, SSL_CTX *tls, SSL_SESSION *session) {
  conn->ssl = NULL;
  conn->buffered = 0;
  conn->fd = test_connect(port);
  if (conn->fd < 0) {
    return false;
  }
  if (tls == NULL) {
    return true;
  }
  conn->ssl = SSL_new(tls);
  bool ok = conn->ssl != NULL && SSL_set_fd(conn->ssl, conn->fd) && SSL_set_tlsext_host_name(conn->ssl, "localhost") &&
            (session == NULL || SSL_set_session(conn->ssl, session)) && SSL_connect(conn->ssl) == 1;
  if (!ok) {
    test_close(conn);
  }
  return ok;
}

bool test_open(struct test_conn *conn, uint16_t port, SSL_CTX *tls) {
  return test_open_session(conn, port, tls, NULL);
}

bool test_write(struct test_conn *conn, const void *data, size_t len) {
  const char *from = data;
  while (len > 0) {
    int part = len < (1 << 20) ? (int)len : 1 << 20;
    ssize_t wrote = conn->ssl != NULL ? SSL_write(conn->ssl, from, part) : send(conn->fd, from, len, MSG_NOSIGNAL);
    if (wrote <= 0) {
      return false;
    }
    from += wrote;
    len -= (size_t)wrote;
  }
  return true;
}

bool test_write_text(struct test_conn *conn, const char *text) {
  return test_write(conn, text, strlen(text));
}

static ssize_t receive(struct test_conn *conn, char *out, size_t len) {
  return conn->ssl != NULL ? SSL_read(conn->ssl, out, (int)len) : recv(conn->fd, out, len, 0);
}

static bool fill_buffer(struct test_conn *conn) {
  if (conn->buffered == sizeof(conn->buffer)) {
    return false;
  }
  ssize_t got = receive(conn, conn->buffer + conn->buffered, sizeof(conn->buffer) - conn->buffered);
  conn->buffered += got > 0 ? (size_t)got : 0;
  return got > 0;
}

static void use_buffer(struct test_conn *conn, size_t len) {
  conn->buffered -= len;
  memmove(conn->buffer, conn->buffer + len, conn->buffered);
}

static bool read_head(struct test_conn *conn, struct test_response *out) {
  const char *end;
  while ((end = memmem(conn->buffer, conn->buffered, "\r\n\r\n", 4)) == NULL) {
    if (!fill_buffer(conn)) {
      return false;
    }
  }
  size_t len = (size_t)(end - conn->buffer) + 4;
  if (len >= sizeof(out->head)) {
    return false;
  }
  memcpy(out->head, conn->buffer, len);
  out->head[len] = '\0';
  use_buffer(conn, len);
  char minor;
  return sscanf(out->head, "HTTP/1.%c %3d ", &minor, &out->status) == 2 && minor == '1';
}

static bool read_body(struct test_conn *conn, struct test_response *out, size_t len) {
  out->body = malloc(len + 1);
  if (out->body == NULL) {
    return false;
  }
  size_t have = conn->buffered < len ? conn->buffered : len;
  memcpy(out->body, conn->buffer, have);
  use_buffer(conn, have);
  while (have < len) {
    ssize_t got = receive(conn, out->body + have, len - have);
    if (got <= 0) {
      return false;
    }
    have += (size_t)got;
  }
  out->body[len] = '\0';
  out->body_len = len;
  return true;
}

bool test_read_response(struct test_conn *conn, struct test_response *out, bool head_only) {
  *out = (struct test_response){0};
  if (!read_head(conn, out)) {
    return false;
  }
  out->close = strstr(out->head, "\r\nConnection: close\r\n") != NULL;
  if (out->status < 200) {
    return true;
  }
  const char *length = strstr(out->head, "\r\nContent-Length: ");
  if (length == NULL || strstr(out->head, "\r\nDate: ") == NULL || strstr(out->head, "\r\nContent-Type: ") == NULL) {
    return false;
  }
  size_t len = strtoull(length + strlen("\r\nContent-Length: "), NULL, 10);
  return read_body(conn, out, head_only ? 0 : len);
}

bool test_ends(struct test_conn *conn) {
  char byte;
  if (conn->buffered > 0) {
    return false;
  }
  int got = (int)receive(conn, &byte, 1);
  if (conn->ssl == NULL) {
    return got == 0;
  }
  // Not a bare FIN: SSL_ERROR_ZERO_RETURN is close_notify.
  return got <= 0 && SSL_get_error(conn->ssl, got) == SSL_ERROR_ZERO_RETURN && recv(conn->fd, &byte, 1, 0) == 0;
}

void test_close(struct test_conn *conn) {
  SSL_free(conn->ssl);
  close(conn->fd);
  conn->ssl = NULL;
  conn->fd = -1;
}

void test_reset(struct test_conn *conn) {
  // socket(7): closing with a linger of 0 sends a RST.
  struct linger linger = {.l_onoff = 1, .l_linger = 0};
  setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
  test_close(conn);
}

bool test_ask(struct test_conn *conn, const char *request, int status) {
  struct test_response response;
  bool ok = test_write_text(conn, request) && test_read_response(conn, &response, strncmp(request, "HEAD ", 5) == 0);
  if (ok && response.status != status) {
    fprintf(stderr, "status %d, not %d, for %.60s\n", response.status, status, request);
    ok = false;
  }
  if (ok) {
    free(response.body);
  }
  return ok;
}

double test_get(uint16_t port, SSL_CTX *tls) {
  double begun = test_now_ms();
  struct test_conn conn;
  struct test_response response;
  if (!test_open(&conn, port, tls)) {
    return -1;
  }
  bool ok = test_write_text(&conn, TEST_GET("/")) && test_read_response(&conn, &response, false);
  if (ok) {
    ok = response.status == 200 && strcmp(response.body, "{\"status\":\"ok\"}") == 0;
    free(response.body);
  }
  test_close(&conn);
  return ok ? test_now_ms() - begun : -1;
}

json_t *test_stats(uint16_t port, SSL_CTX *tls) {
  struct test_conn conn;
  struct test_response response;
  if (!test_open(&conn, port, tls)) {
    return NULL;
  }
  json_t *stats = NULL;
  if (test_write_text(&conn, TEST_GET("/stats")) && test_read_response(&conn, &response, false)) {
    stats = response.status == 200 ? json_loads(response.body, JSON_REJECT_DUPLICATES, NULL) : NULL;
    free(response.body);
  }
  test_close(&conn);
  return stats;
}

double test_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

void test_sleep_ms(unsigned ms) {
  struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
  nanosleep(&wait, NULL);
}
