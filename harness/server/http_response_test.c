#include "harness/server/http_response.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void dates_are_imf_fixdates(void **state) {
  (void)state;
  static const struct {
    time_t at;
    const char *text;
  } table[] = {
      {784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},  // the example of RFC 9110, 5.6.7
      {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
      {951825599, "Tue, 29 Feb 2000 11:59:59 GMT"},
      {253402300799, "Fri, 31 Dec 9999 23:59:59 GMT"},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    char date[TG_HTTP_DATE_SIZE];
    tg_http_date(date, table[i].at);
    assert_string_equal(date, table[i].text);
  }
}

static void assert_head(const struct tg_http_response *response, const char *expected) {
  char head[TG_HTTP_RESPONSE_HEAD_SIZE];
  size_t len = tg_http_response_head(head, response);
  assert_int_equal(len, strlen(expected));
  assert_string_equal(head, expected);
}

static void a_head_is_complete(void **state) {
  (void)state;
  assert_head(&(struct tg_http_response){.status = 200, .content_type = "a/b", .content_length = 15, .date = "D"},
              "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: a/b\r\nContent-Length: 15\r\n\r\n");
}

static void a_head_says_what_becomes_of_the_connection(void **state) {
  (void)state;
  struct tg_http_response response = {.status = 404, .content_type = "a/b", .date = "D", .close = true};
  assert_head(
      &response,
      "HTTP/1.1 404 Not Found\r\nDate: D\r\nContent-Type: a/b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  response.http10_keep_alive = true;
  assert_head(
      &response,
      "HTTP/1.1 404 Not Found\r\nDate: D\r\nContent-Type: a/b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  response.close = false;
  assert_head(
      &response,
      "HTTP/1.1 404 Not Found\r\nDate: D\r\nContent-Type: a/b\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n");
}

static void a_head_lists_the_methods_allowed(void **state) {
  (void)state;
  assert_head(&(struct tg_http_response){.status = 405, .content_type = "a/b", .date = "D", .allow = "GET, HEAD"},
              "HTTP/1.1 405 Method Not Allowed\r\nDate: D\r\nContent-Type: a/b\r\nContent-Length: 0\r\n"
              "Allow: GET, HEAD\r\n\r\n");
}

static void the_longest_head_fits(void **state) {
  (void)state;
  char head[TG_HTTP_RESPONSE_HEAD_SIZE];
  struct tg_http_response response = {
      .status = 431,
      .content_type = "application/octet-stream",
      .content_length = UINT64_MAX,
      .allow = "0123456789012345678901234567890123456789012345678901234567890123",
      .date = "Sun, 06 Nov 1994 08:49:37 GMT",
      .http10_keep_alive = true,
  };
  assert_true(tg_http_response_head(head, &response) < sizeof(head));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dates_are_imf_fixdates),
      cmocka_unit_test(a_head_is_complete),
      cmocka_unit_test(a_head_says_what_becomes_of_the_connection),
      cmocka_unit_test(a_head_lists_the_methods_allowed),
      cmocka_unit_test(the_longest_head_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
