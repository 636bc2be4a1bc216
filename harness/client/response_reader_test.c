#include "harness/client/response_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Feeds `text` in pieces of `piece` bytes. Stops at the first verdict other than MORE, save that all bytes are fed.
static enum tg_response_state feed(struct tg_response_reader *reader, const char *text, size_t len, size_t piece,
                                   int64_t expected, struct tg_error *err) {
  enum tg_response_state state = TG_RESPONSE_MORE;
  tg_response_reader_start(reader, expected);
  for (size_t at = 0; at < len && state != TG_RESPONSE_BAD; at += piece) {
    const size_t now = len - at < piece ? len - at : piece;
    state = tg_response_reader_feed(reader, text + at, now, err);
  }
  return state;
}

static struct tg_response_reader tg_reader;

static void good_responses_in_any_pieces(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t expected;
    bool close;
  } cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", -1, false},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 5, false},
      {"HTTP/1.1 200 \r\ncontent-length:0\r\n\r\n", 0, false},
      {"HTTP/1.1 200 OK\r\nX:\r\nCONTENT-LENGTH: \t 3 \t\r\nConnection: Close\r\n\r\nabc", 3, true},
      {"HTTP/1.1 200 OK\r\nConnection: keep-alive , close\r\nContent-Length: 1\r\n\r\na", -1, true},
      {"HTTP/1.1 200 OK\r\nConnection: closed, not-close,\r\nContent-Length: 1\r\n\r\na", -1, false},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const size_t len = strlen(cases[i].text);
    for (size_t piece = 1; piece <= len; piece++) {
      struct tg_error err = {""};
      if (feed(&tg_reader, cases[i].text, len, piece, cases[i].expected, &err) != TG_RESPONSE_DONE) {
        fail_msg("%s: %s", cases[i].text, err.text);
      }
      assert_int_equal(tg_reader.close, cases[i].close);
      // One byte more is one too many, whenever it comes.
      assert_int_equal(tg_response_reader_feed(&tg_reader, "x", 1, &err), TG_RESPONSE_BAD);
    }
    for (size_t cut = 0; cut < len; cut++) {
      struct tg_error err = {""};
      assert_int_equal(feed(&tg_reader, cases[i].text, cut, len, cases[i].expected, &err), TG_RESPONSE_MORE);
    }
  }
}

static void bad_responses_in_any_pieces(void **state) {
  (void)state;
#define TG_CASE(text, message) \
  { text, sizeof(text) - 1, message }
  static const struct {
    const char *text;
    size_t len;
    const char *message;
  } cases[] = {
      TG_CASE("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "not an HTTP/1.1 status line"),
      TG_CASE("HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", "not an HTTP/1.1 status line"),
      TG_CASE("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "not an HTTP/1.1 status line"),
      TG_CASE("\r\n\r\n", "not an HTTP/1.1 status line"),
      TG_CASE("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "the status is 500 where 200 is expected"),
      TG_CASE("HTTP/1.1 206 Part\r\nContent-Length: 0\r\n\r\n", "the status is 206 where 200 is expected"),
      TG_CASE("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "without the code capacity-unavailable"),
      TG_CASE("HTTP/1.1 503 Busy\r\nContent-Length: 16\r\n\r\n{\"code\":\"other\"}", "without the code"),
      TG_CASE("HTTP/1.1 503 Busy\r\nContent-Length: 22\r\n\r\n\"capacity-unavailable\"", "without the code"),
      TG_CASE("HTTP/1.1 503 Busy\r\nContent-Length: 257\r\n\r\n", "a body of 257 bytes: no load shedding"),
      TG_CASE("HTTP/1.1 429 Busy\r\nContent-Length: 31\r\n\r\n{\"code\":\"capacity-unavailable\"}",
              "the status is 429 where 200"),
      TG_CASE("HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n", "does not end in CRLF"),
      TG_CASE("HTTP/1.1 200 OK\r\nX: y\n\r\n\r\n", "does not end in CRLF"),
      TG_CASE("HTTP/1.1 200 OK\r\nX: y\r\n\r\n", "no Content-Length"),
      TG_CASE("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", "a second Content-Length"),
      TG_CASE("HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\na", "not a number"),
      TG_CASE("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "not a number"),
      TG_CASE("HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\n", "not a number"),
      TG_CASE("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "Content-Length is empty"),
      TG_CASE("HTTP/1.1 200 OK\r\nContent-Length: 1234567890123456789\r\n\r\n", "at most 18 digits"),
      TG_CASE("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "not framed by Content-Length"),
      TG_CASE("HTTP/1.1 200 OK\r\nX : y\r\nContent-Length: 0\r\n\r\n", "not a header field"),
      TG_CASE("HTTP/1.1 200 OK\r\n: y\r\nContent-Length: 0\r\n\r\n", "not a header field"),
      TG_CASE("HTTP/1.1 200 OK\r\nX: y\r\n folded\r\nContent-Length: 0\r\n\r\n", "not a header field"),
      TG_CASE("HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n", "a control character"),
      TG_CASE("HTTP/1.1 200 OK\r\nX\0: ab\r\nContent-Length: 0\r\n\r\n", "not a header field"),
      TG_CASE("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "1 bytes beyond the body of 1"),
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    for (size_t piece = 1; piece <= cases[i].len; piece++) {
      struct tg_error err = {""};
      assert_int_equal(feed(&tg_reader, cases[i].text, cases[i].len, piece, -1, &err), TG_RESPONSE_BAD);
      if (strstr(err.text, cases[i].message) == NULL) {
        fail_msg("%s: %s", cases[i].text, err.text);
      }
    }
  }
}

static void load_shedding_is_told_apart(void **state) {
  (void)state;
  static const char text[] =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 31\r\nConnection: close\r\n\r\n"
      "{\"code\":\"capacity-unavailable\"}";
  const size_t len = strlen(text);
  for (size_t piece = 1; piece <= len; piece++) {
    struct tg_error err = {""};
    // Whatever length a good response would have.
    if (feed(&tg_reader, text, len, piece, 5, &err) != TG_RESPONSE_SHED) {
      fail_msg("%s", err.text);
    }
    assert_int_equal(tg_response_reader_feed(&tg_reader, "x", 1, &err), TG_RESPONSE_BAD);
  }
  for (size_t cut = 0; cut < len; cut++) {
    struct tg_error err = {""};
    assert_int_equal(feed(&tg_reader, text, cut, len, 5, &err), TG_RESPONSE_MORE);
  }
}

// What a server writes may be secret, and may be anything.
static void errors_do_not_repeat_what_the_server_wrote(void **state) {
  (void)state;
  static const char *const texts[] = {
      "HTTP/1.1 500 sesame\r\nContent-Length: 0\r\n\r\n",
      "sesame\r\n\r\n",
      "HTTP/1.1 200 OK\r\nsesame\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: sesame\x01\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: sesame\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: sesame\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: sesame\n\r\n\r\n",
      "HTTP/1.1 503 sesame\r\nContent-Length: 6\r\n\r\nsesame",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nsesame",
  };
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    struct tg_error err = {""};
    assert_int_equal(feed(&tg_reader, texts[i], strlen(texts[i]), strlen(texts[i]), -1, &err), TG_RESPONSE_BAD);
    assert_true(err.text[0] != '\0');
    assert_null(strstr(err.text, "sesame"));
  }
}

static void the_expected_length_is_checked_at_the_head(void **state) {
  (void)state;
  static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  struct tg_error err;
  assert_int_equal(feed(&tg_reader, head, strlen(head), 100, 4, &err), TG_RESPONSE_BAD);
  assert_string_equal(err.text, "Content-Length is 5 where 4 is expected");
  assert_int_equal(feed(&tg_reader, head, strlen(head), 100, 0, &err), TG_RESPONSE_BAD);
}

static void a_head_has_a_limit(void **state) {
  (void)state;
  struct tg_error err;
  tg_response_reader_start(&tg_reader, -1);
  static const char start[] = "HTTP/1.1 200 OK\r\nX: ";
  assert_int_equal(tg_response_reader_feed(&tg_reader, start, strlen(start), &err), TG_RESPONSE_MORE);
  for (size_t i = strlen(start); i < TG_RESPONSE_HEAD_MAX; i++) {
    assert_int_equal(tg_response_reader_feed(&tg_reader, "x", 1, &err), TG_RESPONSE_MORE);
  }
  assert_int_equal(tg_response_reader_feed(&tg_reader, "x", 1, &err), TG_RESPONSE_BAD);
  assert_string_equal(err.text, "a head of more than 16384 bytes");
}

static void progress_says_how_far_it_came(void **state) {
  (void)state;
  static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  struct tg_error err;
  char progress[100];
  (void)feed(&tg_reader, text, 0, 1, -1, &err);
  tg_response_reader_progress(&tg_reader, progress, sizeof(progress));
  assert_string_equal(progress, "before the first byte");
  (void)feed(&tg_reader, text, 20, 20, -1, &err);
  tg_response_reader_progress(&tg_reader, progress, sizeof(progress));
  assert_string_equal(progress, "inside the head, after 20 bytes");
  (void)feed(&tg_reader, text, strlen(text) - 2, 100, -1, &err);
  tg_response_reader_progress(&tg_reader, progress, sizeof(progress));
  assert_string_equal(progress, "after 3 of 5 body bytes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_responses_in_any_pieces),
      cmocka_unit_test(bad_responses_in_any_pieces),
      cmocka_unit_test(load_shedding_is_told_apart),
      cmocka_unit_test(errors_do_not_repeat_what_the_server_wrote),
      cmocka_unit_test(the_expected_length_is_checked_at_the_head),
      cmocka_unit_test(a_head_has_a_limit),
      cmocka_unit_test(progress_says_how_far_it_came),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
