#include "harness/server/http_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_BODY 1000
#define HOST     "Host: x\r\n"

// What a whole input leads to: its requests in order, and how it ends.
struct outcome {
  int requests;
  int heads;  // HEAD_COMPLETE events
  bool failed;
  int status;                    // of the failure
  bool begun;                    // a request is incomplete at the end
  struct tg_http_request first;  // the first complete request
  struct tg_http_request last;   // as the parser left it
};

static struct outcome run(const uint8_t *data, size_t len, size_t piece) {
  struct outcome outcome = {0};
  struct tg_http_parser parser;
  tg_http_parser_init(&parser, MAX_BODY);
  size_t at = 0;
  while (at < len && !outcome.failed) {
    size_t end = at + piece < len ? at + piece : len;
    while (at < end && !outcome.failed) {
      size_t used = SIZE_MAX;
      enum tg_http_event event = tg_http_parse(&parser, data + at, end - at, &used);
      assert_true(used <= end - at);
      at += used;
      switch (event) {
        case TG_HTTP_MORE:
          assert_int_equal(at, end);
          break;
        case TG_HTTP_HEAD_COMPLETE:
          outcome.heads++;
          break;
        case TG_HTTP_DONE:
          if (outcome.requests++ == 0) {
            outcome.first = parser.request;
          }
          outcome.last = parser.request;
          tg_http_parser_reset(&parser);
          break;
        case TG_HTTP_FAILED:
          outcome.failed = true;
          outcome.status = parser.status;
          outcome.last = parser.request;
          break;
      }
    }
  }
  outcome.begun = tg_http_parser_begun(&parser);
  return outcome;
}

// However the bytes are cut, the outcome is the same.
static struct outcome outcome_of(const char *text, size_t len) {
  // An exact copy, so that reading beyond the end is seen.
  uint8_t *data = malloc(len);
  assert_non_null(data);
  memcpy(data, text, len);
  struct outcome whole = run(data, len, len);
  for (size_t piece = 1; piece <= 7; piece += 2) {
    struct outcome cut = run(data, len, piece);
    assert_memory_equal(&whole, &cut, sizeof(whole));
  }
  free(data);
  return whole;
}

struct good {
  const char *text;
  const char *path;
  uint64_t body_len;
  enum tg_http_method method;
  bool keep_alive;
};

static void understands_requests(void **state) {
  (void)state;
  static const struct good table[] = {
      {"GET / HTTP/1.1\r\n" HOST "\r\n", "/", 0, TG_HTTP_GET, true},
      {"HEAD /big HTTP/1.1\r\n" HOST "\r\n", "/big", 0, TG_HTTP_HEAD, true},
      {"\r\nGET / HTTP/1.1\r\n" HOST "\r\n", "/", 0, TG_HTTP_GET, true},
      {"GET /a?b=/c?d HTTP/1.1\r\n" HOST "\r\n", "/a", 0, TG_HTTP_GET, true},
      {"GET http://x:80/a HTTP/1.1\r\n" HOST "\r\n", "/a", 0, TG_HTTP_GET, true},
      {"GET HTTPS://x HTTP/1.1\r\n" HOST "\r\n", "/", 0, TG_HTTP_GET, true},
      {"GET https://x?q HTTP/1.1\r\n" HOST "\r\n", "/", 0, TG_HTTP_GET, true},
      {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "*", 0, TG_HTTP_OTHER, true},
      {"get / HTTP/1.1\r\n" HOST "\r\n", "/", 0, TG_HTTP_OTHER, true},
      {"GETS / HTTP/1.1\r\n" HOST "\r\n", "/", 0, TG_HTTP_OTHER, true},
      {"GET / HTTP/1.2\r\n" HOST "\r\n", "/", 0, TG_HTTP_GET, true},
      {"GET / HTTP/1.0\r\n\r\n", "/", 0, TG_HTTP_GET, false},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "/", 0, TG_HTTP_GET, true},
      {"GET / HTTP/1.1\r\nHost:\r\n\r\n", "/", 0, TG_HTTP_GET, true},
      {"GET / HTTP/1.1\r\nhOST:\t [::1]:8443 \t\r\n\r\n", "/", 0, TG_HTTP_GET, true},
      {"GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", "/", 0, TG_HTTP_GET, false},
      {"GET / HTTP/1.1\r\n" HOST "Connection: te ,\tCLOSE , x\r\n\r\n", "/", 0, TG_HTTP_GET, false},
      {"GET / HTTP/1.1\r\n" HOST "Connection: keep-alive\r\nConnection: close\r\n\r\n", "/", 0, TG_HTTP_GET, false},
      {"GET / HTTP/1.1\r\n" HOST "Connection: closed\r\n\r\n", "/", 0, TG_HTTP_GET, true},
      {"GET / HTTP/1.1\r\n" HOST "Connection-Close-But-A-Long-Name: close\r\n\r\n", "/", 0, TG_HTTP_GET, true},
      {"GET / HTTP/1.1\r\n" HOST "X: \xc3\xa9\t!\r\n\r\n", "/", 0, TG_HTTP_GET, true},
      {"POST /upload HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", "/upload", 0, TG_HTTP_POST, true},
      {"POST /upload HTTP/1.1\r\n" HOST "Content-Length: 005\r\n\r\nhello", "/upload", 5, TG_HTTP_POST, true},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\n\0\r\n\r", "/", 4, TG_HTTP_POST, true},
      {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "/", 0, TG_HTTP_POST, true},
      {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5 \t;a = b ; c\r\nhello\r\n0\t\r\n\r\n", "/", 5,
       TG_HTTP_POST, true},
      {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n00A;x=\"y\"\r\n0123456789\r\n0 \r\n"
       "Content-Length: 7\r\nConnection: close\r\n\r\n",
       "/", 15, TG_HTTP_POST, true},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    const struct good *row = &table[i];
    // The one body with a NUL in it has a known end.
    size_t len = strlen(row->text);
    len = row->body_len == 4 ? len + 4 : len;
    print_message("%.40s\n", row->text);
    struct outcome got = outcome_of(row->text, len);
    assert_false(got.failed);
    assert_false(got.begun);
    assert_int_equal(got.requests, 1);
    assert_int_equal(got.first.method, row->method);
    assert_string_equal(got.first.path, row->path);
    assert_int_equal(got.first.keep_alive, row->keep_alive);
    assert_int_equal(got.first.body_len, row->body_len);
    assert_false(got.first.expect_continue);
  }
}

struct bad {
  const char *text;
  int status;
};

static void refuses_what_it_cannot_understand(void **state) {
  (void)state;
  static const struct bad table[] = {
      {"\r\n\r\n", 400},
      {"\n", 400},
      {" GET / HTTP/1.1\r\n", 400},
      {"GET\r\n", 400},
      {"GET  / HTTP/1.1\r\n", 400},
      {"GET / HTTP/1.1 \r\n", 400},
      {"GET /\r\n", 400},
      {"GET /#f HTTP/1.1\r\n", 400},
      {"GET /\x7f HTTP/1.1\r\n", 400},
      {"GET /\xc3\xa9 HTTP/1.1\r\n", 400},
      {"GET ftp://x/ HTTP/1.1\r\n", 400},
      {"GET index.html HTTP/1.1\r\n", 400},
      {"GET / HTTP/1\r\n", 400},
      {"GET / HTTP/1.10\r\n", 400},
      {"GET / http/1.1\r\n", 400},
      {"GET / HTTP/x.1\r\n", 400},
      {"GET / HTTP/1.1\n" HOST "\n", 400},
      {"GET / HTTP/1.1\rHost: x\r\n\r\n", 400},
      {"G\x01T / HTTP/1.1\r\n", 400},
      {"\x16\x03\x01\x02", 400},
      {"ANEXTREMELYLONGMETHODNAME / HTTP/1.1\r\n", 501},
      {"GET / HTTP/2.0\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"GET / HTTP/0.9\r\n", 505},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" HOST "X: a\nb: c\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" HOST "X: a\x7f\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" HOST ": a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" HOST "X\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" HOST "\r\r", 400},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: 5, 5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: +5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: -5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: 0x5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding:\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" HOST "Expect: tea\r\n\r\n", 417},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: 18446744073709551621\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999999999999999\r\n\r\n", 413},
#define CHUNKED "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
      {CHUNKED "3e9\r\n", 413},
      {CHUNKED "10000000000000005\r\n", 413},
      {CHUNKED "\r\n", 400},
      {CHUNKED ";x\r\n", 400},
      {CHUNKED "g\r\n", 400},
      {CHUNKED "-1\r\n", 400},
      {CHUNKED "5\nhello", 400},
      {CHUNKED "5\rhello", 400},
      {CHUNKED "5x\r\n", 400},
      {CHUNKED "5 xyz\r\n", 400},
      {CHUNKED "5 5\r\n", 400},
      {CHUNKED "5\tx;y\r\n", 400},
      {CHUNKED "5 \n", 400},
      {CHUNKED "5;\x01\r\n", 400},
      {CHUNKED "5\r\nhello5\r\n", 400},
      {CHUNKED "5\r\nhello\r5\r\n", 400},
      {CHUNKED "0\r\nX y\r\n\r\n", 400},
      {CHUNKED "0\r\n\rX", 400},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    print_message("%zu: %.60s\n", i, table[i].text);
    struct outcome got = outcome_of(table[i].text, strlen(table[i].text));
    assert_true(got.failed);
    assert_int_equal(got.requests, 0);
    assert_int_equal(got.status, table[i].status);
  }
}

static void refuses_a_nul_anywhere_in_the_head(void **state) {
  (void)state;
  static const char text[] = "GET /a?b HTTP/1.1\r\n" HOST "X: y\r\n\r\n";
  for (size_t at = 0; at < sizeof(text) - 1; at++) {
    char changed[sizeof(text)];
    memcpy(changed, text, sizeof(text));
    changed[at] = '\0';
    struct outcome got = outcome_of(changed, sizeof(text) - 1);
    assert_true(got.failed);
    assert_int_equal(got.status, 400);
  }
}

static void every_proper_prefix_is_incomplete(void **state) {
  (void)state;
  static const char text[] = CHUNKED "5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n";
  assert_false(outcome_of(text, sizeof(text) - 1).begun);
  for (size_t len = 1; len < sizeof(text) - 1; len++) {
    struct outcome got = outcome_of(text, len);
    assert_false(got.failed);
    assert_true(got.begun);
    assert_int_equal(got.requests, 0);
  }
}

static void reports_the_head_once_when_a_body_follows(void **state) {
  (void)state;
  static const char with_length[] = "POST / HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nab";
  static const char without[] = "GET / HTTP/1.1\r\n" HOST "\r\n";
  assert_int_equal(outcome_of(with_length, sizeof(with_length) - 1).heads, 1);
  assert_int_equal(outcome_of(CHUNKED "0\r\n\r\n", sizeof(CHUNKED "0\r\n\r\n") - 1).heads, 1);
  assert_int_equal(outcome_of(without, sizeof(without) - 1).heads, 0);
}

static void expects_continue_only_where_a_body_is_waited_for(void **state) {
  (void)state;
#define EXPECT "Expect: 100-Continue\r\n"
  static const struct {
    const char *text;
    bool expects;
  } table[] = {
      {"POST / HTTP/1.1\r\n" HOST EXPECT "Content-Length: 1\r\n\r\na", true},
      {"POST / HTTP/1.1\r\n" HOST EXPECT "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true},
      {"POST / HTTP/1.1\r\n" HOST EXPECT "Content-Length: 0\r\n\r\n", false},
      {"POST / HTTP/1.0\r\n" EXPECT "Content-Length: 1\r\n\r\na", false},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    struct outcome got = outcome_of(table[i].text, strlen(table[i].text));
    assert_int_equal(got.requests, 1);
    assert_int_equal(got.first.expect_continue, table[i].expects);
  }
}

static void pipelined_requests_follow_each_other(void **state) {
  (void)state;
  static const char text[] = "POST /1 HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nGET" CHUNKED
                             "1\r\na\r\n0\r\n\r\nHEAD /3 HTTP/1.1\r\n" HOST "\r\nGET /4";
  struct outcome got = outcome_of(text, sizeof(text) - 1);
  assert_false(got.failed);
  assert_int_equal(got.requests, 3);
  assert_string_equal(got.first.path, "/1");
  assert_string_equal(got.last.path, "/3");
  assert_int_equal(got.last.method, TG_HTTP_HEAD);
  assert_int_equal(got.last.body_len, 0);
  assert_true(got.begun);
}

// A request of `prefix`, `count` times `c`, and `suffix`.
static struct outcome with_run(const char *prefix, char c, size_t count, const char *suffix) {
  size_t prefix_len = strlen(prefix);
  size_t len = prefix_len + count + strlen(suffix);
  char *text = malloc(len + 1);
  assert_non_null(text);
  snprintf(text, len + 1, "%s", prefix);
  memset(text + prefix_len, c, count);
  snprintf(text + prefix_len + count, len + 1 - prefix_len - count, "%s", suffix);
  struct outcome got = outcome_of(text, len);
  free(text);
  return got;
}

static void assert_limit(const char *prefix, char c, size_t longest, const char *suffix, int status) {
  struct outcome fits = with_run(prefix, c, longest, suffix);
  assert_false(fits.failed);
  assert_int_equal(fits.requests, 1);
  struct outcome exceeds = with_run(prefix, c, longest + 1, suffix);
  assert_true(exceeds.failed);
  assert_int_equal(exceeds.status, status);
}

static void limits_hold_to_the_byte(void **state) {
  (void)state;
  static const char end[] = " HTTP/1.1\r\n" HOST "\r\n";
  assert_limit("GET /", 'a', TG_HTTP_TARGET_MAX - 1, end, 414);
  static const char head[] = "GET / HTTP/1.1\r\n" HOST "X: ";
  assert_limit(head, 'a', TG_HTTP_HEAD_MAX - strlen(head) - 4, "\r\n\r\n", 431);
  assert_limit("GET / HTTP/1.1\r\n" HOST, 'a', TG_HTTP_HEAD_MAX - strlen("GET / HTTP/1.1\r\n" HOST) - 5, ":\r\n\r\n",
               431);
  assert_limit("GET / HTTP/1.1\r\nHost: ", 'a', TG_HTTP_VALUE_MAX, "\r\n\r\n", 431);
  assert_limit(CHUNKED "0\r\nX: ", 'a', TG_HTTP_HEAD_MAX - 7, "\r\n\r\n", 431);
  assert_limit(CHUNKED "0;", 'a', TG_HTTP_CHUNK_LINE_MAX - 3, "\r\n\r\n", 400);
  assert_limit("", 'M', 23, " / HTTP/1.1\r\n" HOST "\r\n", 501);
}

static void a_long_path_is_marked_truncated(void **state) {
  (void)state;
  struct outcome fits = with_run("GET /", 'a', TG_HTTP_PATH_KEPT - 1, " HTTP/1.1\r\n" HOST "\r\n");
  assert_false(fits.first.path_truncated);
  assert_int_equal(strlen(fits.first.path), TG_HTTP_PATH_KEPT);
  struct outcome exceeds = with_run("GET /", 'a', TG_HTTP_PATH_KEPT, " HTTP/1.1\r\n" HOST "\r\n");
  assert_true(exceeds.first.path_truncated);
}

static void chunks_add_up_to_the_body_limit(void **state) {
  (void)state;
  assert_limit(CHUNKED "3e8\r\n", 'a', 1000, "\r\n0\r\n\r\n", 400);
  struct outcome exceeds = with_run(CHUNKED "3e8\r\n", 'a', 1000, "\r\n1\r\n");
  assert_true(exceeds.failed);
  assert_int_equal(exceeds.status, 413);
  assert_int_equal(exceeds.last.body_len, 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(understands_requests),
      cmocka_unit_test(refuses_what_it_cannot_understand),
      cmocka_unit_test(refuses_a_nul_anywhere_in_the_head),
      cmocka_unit_test(every_proper_prefix_is_incomplete),
      cmocka_unit_test(reports_the_head_once_when_a_body_follows),
      cmocka_unit_test(expects_continue_only_where_a_body_is_waited_for),
      cmocka_unit_test(pipelined_requests_follow_each_other),
      cmocka_unit_test(limits_hold_to_the_byte),
      cmocka_unit_test(a_long_path_is_marked_truncated),
      cmocka_unit_test(chunks_add_up_to_the_body_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
