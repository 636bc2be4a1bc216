// Tests' own: a blocking HTTPS or HTTP client. Its functions return false on failure, so that threads can use them.
#ifndef TLSGATE_HARNESS_SERVER_TEST_CLIENT_H
#define TLSGATE_HARNESS_SERVER_TEST_CLIENT_H

#include <jansson.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Longer than anything waited for, so that a lost response fails a test and does not hang it.
#define TEST_CLIENT_PATIENCE_S 20

struct test_conn {
  int fd;
  SSL *ssl;  // NULL: plaintext
  size_t buffered;
  char buffer[8192];
};

struct test_response {
  int status;
  bool close;  // "Connection: close"
  char head[2048];
  char *body;  // NUL-terminated too
  size_t body_len;
};

// test_tls_context makes a client context that accepts any certificate. The caller frees it.
SSL_CTX *test_tls_context(void);

// test_connect returns a blocking socket connected to 127.0.0.1, or -1.
int test_connect(uint16_t port);

// test_open connects, with TLS if `tls` is not NULL, resuming `session` if it is not NULL.
bool test_open(struct test_conn *conn, uint16_t port, SSL_CTX *tls);
bool test_open_session(struct test_conn *conn, uint16_t port, SSL_CTX *tls, SSL_SESSION *session);

bool test_write(struct test_conn *conn, const void *data, size_t len);
bool test_write_text(struct test_conn *conn, const char *text);

// test_read_response reads one response; after `head_only` no body is expected. An interim response is one of its own.
// The caller frees the body.
bool test_read_response(struct test_conn *conn, struct test_response *out, bool head_only);

// test_ends says whether the peer ends the connection cleanly (close_notify, FIN) without another byte.
bool test_ends(struct test_conn *conn);

// test_close closes the socket without ceremony; test_reset so that the peer gets a RST.
void test_close(struct test_conn *conn);
void test_reset(struct test_conn *conn);

// test_ask makes one request on an open connection and expects a status. The body is dropped.
bool test_ask(struct test_conn *conn, const char *request, int status);

// test_get opens a connection, gets "/", checks status and body, and closes it. Returns the milliseconds it took, or
// a negative number on failure.
double test_get(uint16_t port, SSL_CTX *tls);

// test_stats gets /stats. Returns NULL on failure; the caller releases it.
json_t *test_stats(uint16_t port, SSL_CTX *tls);

double test_now_ms(void);
void test_sleep_ms(unsigned ms);

#define TEST_GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

#endif
