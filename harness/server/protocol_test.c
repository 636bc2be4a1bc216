// HTTP/1.1 as clients see it, over TLS and plaintext alike.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/server/test_client.h"
#include "harness/server/test_server.h"

#define HOST "Host: localhost\r\n"

struct fixture {
  struct test_server server;
  SSL_CTX *tls;
};

static int start(void **state) {
  static struct fixture fixture;
  test_server_start(&fixture.server, "--http-port 0 --max-body 2000000 --shards 2");
  fixture.tls = test_tls_context();
  *state = &fixture;
  return 0;
}

static int stop(void **state) {
  struct fixture *fixture = *state;
  SSL_CTX_free(fixture->tls);
  test_server_end(&fixture->server);
  return 0;
}

// Runs `check` on a fresh connection of each kind.
static void on_both(void **state, void (*check)(struct test_conn *conn)) {
  struct fixture *fixture = *state;
  struct test_conn conn;
  assert_true(test_open(&conn, fixture->server.tls_port, fixture->tls));
  check(&conn);
  test_close(&conn);
  assert_true(test_open(&conn, fixture->server.http_port, NULL));
  check(&conn);
  test_close(&conn);
}

static struct test_response ask(struct test_conn *conn, const char *request) {
  struct test_response response;
  assert_true(test_write_text(conn, request));
  assert_true(test_read_response(conn, &response, strncmp(request, "HEAD ", 5) == 0));
  return response;
}

static void assert_filler(const struct test_response *response, size_t len) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  assert_int_equal(response->status, 200);
  assert_int_equal(response->body_len, len);
  for (size_t i = 0; i < len; i++) {
    if (response->body[i] != alphabet[i % 64]) {
      fail_msg("byte %zu of the body is wrong", i);
    }
  }
}

static void check_bodies(struct test_conn *conn) {
  struct test_response response = ask(conn, TEST_GET("/"));
  assert_int_equal(response.status, 200);
  assert_string_equal(response.body, "{\"status\":\"ok\"}");
  assert_non_null(strstr(response.head, "\r\nContent-Type: application/json\r\n"));
  assert_false(response.close);
  free(response.body);
  static const size_t lens[] = {0, 1, 15000, 16383, 16384, 16385, 65536, 1000000};
  for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
    char request[128];
    snprintf(request, sizeof(request), "GET /bytes/%zu?x=y HTTP/1.1\r\n" HOST "\r\n", lens[i]);
    response = ask(conn, request);
    assert_filler(&response, lens[i]);
    free(response.body);
  }
  response = ask(conn, TEST_GET("/big"));
  assert_filler(&response, 1 << 20);
  free(response.body);
}

static void bodies_arrive_whole_on_one_connection(void **state) {
  on_both(state, check_bodies);
}

static void check_head(struct test_conn *conn) {
  struct test_response response = ask(conn, "HEAD /big HTTP/1.1\r\n" HOST "\r\n");
  assert_non_null(strstr(response.head, "\r\nContent-Length: 1048576\r\n"));
  free(response.body);
  response = ask(conn, "HEAD /nothing HTTP/1.1\r\n" HOST "\r\n");
  assert_int_equal(response.status, 404);
  free(response.body);
  assert_true(test_ask(conn, TEST_GET("/"), 200));
}

static void head_has_no_body(void **state) {
  on_both(state, check_head);
}

static void check_uploads(struct test_conn *conn) {
  enum { LEN = 1 << 20 };
  char *body = calloc(1, LEN);
  assert_non_null(body);
  assert_true(test_write_text(conn, "POST /upload HTTP/1.1\r\n" HOST "Content-Length: 1048576\r\n\r\n"));
  assert_true(test_write(conn, body, LEN));
  struct test_response response;
  assert_true(test_read_response(conn, &response, false));
  assert_string_equal(response.body, "{\"received\":1048576}");
  free(response.body);

  assert_true(test_write_text(conn, "POST /upload HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"));
  for (int i = 0; i < 16; i++) {
    assert_true(test_write_text(conn, "10000\r\n"));
    assert_true(test_write(conn, body, 0x10000));
    assert_true(test_write_text(conn, "\r\n"));
  }
  assert_true(test_write_text(conn, "0\r\nTrailer: x\r\n\r\n"));
  assert_true(test_read_response(conn, &response, false));
  assert_string_equal(response.body, "{\"received\":1048576}");
  free(response.body);
  free(body);
  response = ask(conn, "POST /upload HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n");
  assert_string_equal(response.body, "{\"received\":0}");
  free(response.body);
}

static void uploads_are_counted(void **state) {
  on_both(state, check_uploads);
}

static void check_errors_that_keep(struct test_conn *conn) {
  assert_true(test_ask(conn, TEST_GET("/nothing"), 404));
  assert_true(test_ask(conn, TEST_GET("/bytes/x"), 404));
  assert_true(test_ask(conn, "POST /nothing HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", 404));
  struct test_response response = ask(conn, "DELETE / HTTP/1.1\r\n" HOST "\r\n");
  assert_int_equal(response.status, 405);
  assert_non_null(strstr(response.head, "\r\nAllow: GET, HEAD\r\n"));
  free(response.body);
  assert_true(test_ask(conn, TEST_GET("/upload"), 405));
  assert_true(test_ask(conn, TEST_GET("/"), 200));
}

static void errors_of_well_formed_requests_keep_the_connection(void **state) {
  on_both(state, check_errors_that_keep);
}

static void malformed_requests_end_the_connection(void **state) {
  struct fixture *fixture = *state;
  static char long_target[9000] = "GET /";
  static char long_head[20000] = "GET / HTTP/1.1\r\n" HOST "X: ";
  memset(long_target + 5, 'a', sizeof(long_target) - 6);
  memset(long_head + strlen(long_head), 'a', sizeof(long_head) - 1 - strlen(long_head));
  static const struct {
    const char *request;
    int status;
  } table[] = {
      {"\x01\x02\x03\x04 garbage \xff\xfe\r\n\r\n", 400},
      {TEST_GET("/") "nonsense\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/3.0\r\n" HOST "\r\n", 505},
      {long_target, 414},
      {long_head, 431},
      {"POST /upload HTTP/1.1\r\n" HOST "Content-Length: 2000001\r\n\r\n", 413},
      {"POST /upload HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1e8481\r\n", 413},
      {"POST /upload HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"POST /upload HTTP/1.1\r\n" HOST "Expect: tea\r\n\r\n", 417},
  };
  for (size_t i = 0; i < 2 * sizeof(table) / sizeof(table[0]); i++) {
    bool plain = i % 2 == 1;
    struct test_conn conn;
    struct test_response response;
    assert_true(
        test_open(&conn, plain ? fixture->server.http_port : fixture->server.tls_port, plain ? NULL : fixture->tls));
    assert_true(test_write_text(&conn, table[i / 2].request));
    assert_true(test_read_response(&conn, &response, false));
    if (strncmp(table[i / 2].request, TEST_GET("/"), strlen(TEST_GET("/"))) == 0) {
      assert_int_equal(response.status, 200);
      free(response.body);
      assert_true(test_read_response(&conn, &response, false));
    }
    assert_int_equal(response.status, table[i / 2].status);
    assert_true(response.close);
    assert_non_null(strstr(response.body, "{\"code\":\""));
    free(response.body);
    assert_true(test_ends(&conn));
    test_close(&conn);
  }
}

static void check_nul(struct test_conn *conn) {
  static const char request[] = "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n";
  struct test_response response;
  assert_true(test_write(conn, request, sizeof(request) - 1));
  assert_true(test_read_response(conn, &response, false));
  assert_int_equal(response.status, 400);
  free(response.body);
  assert_true(test_ends(conn));
}

static void a_nul_in_a_request_is_refused(void **state) {
  on_both(state, check_nul);
}

static void check_pipelining(struct test_conn *conn) {
  enum { REQUESTS = 200 };
  static const char one[] = TEST_GET("/bytes/70000")
      TEST_GET("/") "HEAD / HTTP/1.1\r\n" HOST "\r\nPOST /upload HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi";
  // All of it is written before anything is read: the responses are larger than any buffer on the way.
  for (int i = 0; i < REQUESTS / 4; i++) {
    assert_true(test_write_text(conn, one));
  }
  for (int i = 0; i < REQUESTS / 4; i++) {
    struct test_response response;
    assert_true(test_read_response(conn, &response, false));
    assert_filler(&response, 70000);
    free(response.body);
    assert_true(test_read_response(conn, &response, false));
    assert_string_equal(response.body, "{\"status\":\"ok\"}");
    free(response.body);
    assert_true(test_read_response(conn, &response, true));
    free(response.body);
    assert_true(test_read_response(conn, &response, false));
    assert_string_equal(response.body, "{\"received\":2}");
    free(response.body);
  }
  assert_true(test_ask(conn, TEST_GET("/"), 200));
}

static void pipelined_requests_are_answered_in_order(void **state) {
  on_both(state, check_pipelining);
}

static void check_splits(struct test_conn *conn) {
  static const char request[] = "POST /upload HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello";
  for (size_t at = 1; at < sizeof(request) - 1; at += 7) {
    struct test_response response;
    assert_true(test_write(conn, request, at));
    test_sleep_ms(1);
    assert_true(test_write(conn, request + at, sizeof(request) - 1 - at));
    assert_true(test_read_response(conn, &response, false));
    assert_string_equal(response.body, "{\"received\":5}");
    free(response.body);
  }
}

static void split_requests_are_put_together(void **state) {
  on_both(state, check_splits);
}

static void check_close(struct test_conn *conn) {
  struct test_response response =
      ask(conn, "GET /big HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n" TEST_GET("/never-read"));
  assert_true(response.close);
  assert_filler(&response, 1 << 20);
  free(response.body);
  assert_true(test_ends(conn));
}

static void connection_close_is_honoured(void **state) {
  on_both(state, check_close);
}

static void check_http10(struct test_conn *conn) {
  struct test_response response = ask(conn, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  assert_non_null(strstr(response.head, "\r\nConnection: keep-alive\r\n"));
  free(response.body);
  response = ask(conn, "GET / HTTP/1.0\r\n\r\n");
  assert_true(response.close);
  free(response.body);
  assert_true(test_ends(conn));
}

static void http10_closes_unless_asked(void **state) {
  on_both(state, check_http10);
}

static void check_expect(struct test_conn *conn) {
  struct test_response response =
      ask(conn, "POST /upload HTTP/1.1\r\n" HOST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  assert_int_equal(response.status, 100);
  response = ask(conn, "hi");
  assert_string_equal(response.body, "{\"received\":2}");
  free(response.body);
  response = ask(conn, "POST / HTTP/1.1\r\n" HOST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  assert_int_equal(response.status, 405);
  assert_true(response.close);
  free(response.body);
  assert_true(test_ends(conn));
}

static void a_waited_for_body_is_asked_for_or_refused(void **state) {
  on_both(state, check_expect);
}

static void check_half_close(struct test_conn *conn) {
  struct test_response response;
  assert_true(test_write_text(conn, TEST_GET("/big")));
  if (conn->ssl != NULL) {
    SSL_shutdown(conn->ssl);
  }
  assert_int_equal(shutdown(conn->fd, SHUT_WR), 0);
  if (conn->ssl == NULL) {
    assert_true(test_read_response(conn, &response, false));
    assert_filler(&response, 1 << 20);
    free(response.body);
    assert_true(test_ends(conn));
  }
}

static void a_request_before_a_half_close_is_answered(void **state) {
  on_both(state, check_half_close);
}

__attribute__((format(printf, 1, 2))) static void assert_command(const char *format, ...) {
  char command[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(command, sizeof(command), format, args);
  va_end(args);
  int status = system(command);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail_msg("status %d of: %s", status, command);
  }
}

static void other_clients_are_served(void **state) {
  struct fixture *fixture = *state;
  unsigned port = fixture->server.tls_port;
  assert_command(
      "test \"$(curl -sS -k --noproxy '*' https://localhost:%u/ https://localhost:%u/)\" = "
      "'{\"status\":\"ok\"}{\"status\":\"ok\"}'",
      port, port);
  assert_command("test \"$(curl -sS -k --noproxy '*' https://localhost:%u/big | wc -c)\" = 1048576", port);
  assert_command(
      "test \"$(head -c 1500000 /dev/zero | curl -sS -k --noproxy '*' -H 'Transfer-Encoding: chunked' "
      "--data-binary @- https://localhost:%u/upload)\" = '{\"received\":1500000}'",
      port);
  assert_command(
      "printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' | "
      "openssl s_client -quiet -connect 127.0.0.1:%u 2>/dev/null | grep -q '{\"status\":\"ok\"}'",
      port);
}

static void stats_are_counters_that_add_up(void **state) {
  struct fixture *fixture = *state;
  json_t *before = test_stats(fixture->server.tls_port, fixture->tls);
  assert_non_null(before);
  test_counters_add_up(before);
  assert_true(test_get(fixture->server.tls_port, fixture->tls) >= 0);
  assert_true(test_get(fixture->server.http_port, NULL) >= 0);
  json_t *after = test_stats(fixture->server.http_port, NULL);
  assert_non_null(after);
  test_counters_add_up(after);
  assert_int_equal(test_counter(after, "accepted") - test_counter(before, "accepted"), 1);
  assert_int_equal(test_counter(after, "plain_accepted") - test_counter(before, "plain_accepted"), 2);
  json_decref(before);
  json_decref(after);
}

int main(int argc, char *argv[]) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_arrive_whole_on_one_connection),
      cmocka_unit_test(head_has_no_body),
      cmocka_unit_test(uploads_are_counted),
      cmocka_unit_test(errors_of_well_formed_requests_keep_the_connection),
      cmocka_unit_test(malformed_requests_end_the_connection),
      cmocka_unit_test(a_nul_in_a_request_is_refused),
      cmocka_unit_test(pipelined_requests_are_answered_in_order),
      cmocka_unit_test(split_requests_are_put_together),
      cmocka_unit_test(connection_close_is_honoured),
      cmocka_unit_test(http10_closes_unless_asked),
      cmocka_unit_test(a_waited_for_body_is_asked_for_or_refused),
      cmocka_unit_test(a_request_before_a_half_close_is_answered),
      cmocka_unit_test(other_clients_are_served),
      cmocka_unit_test(stats_are_counters_that_add_up),
  };
  test_server_take_argument(argc, argv);
  return cmocka_run_group_tests(tests, start, stop);
}
