#include "harness/server/http_response.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *tg_http_reason(int status) {
  static const struct {
    int status;
    const char *reason;
  } known[] = {
      {200, "OK"},
      {400, "Bad Request"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {417, "Expectation Failed"},
      {431, "Request Header Fields Too Large"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  };
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
    if (known[i].status == status) {
      return known[i].reason;
    }
  }
  assert(false);
  return "";
}

void tg_http_date(char out[TG_HTTP_DATE_SIZE], time_t now) {
  // strftime would name days and months in the process's locale.
  static const char days[] = "SunMonTueWedThuFriSat";
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  struct tm tm;
  struct tm *converted = gmtime_r(&now, &tm);
  assert(converted != NULL && tm.tm_year >= 70 && tm.tm_year <= 9999 - 1900);
  // The compiler cannot see how short the year is.
  char text[64];
  int len = snprintf(text, sizeof(text), "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + tm.tm_wday * 3, tm.tm_mday,
                     months + tm.tm_mon * 3, tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
  assert(len == TG_HTTP_DATE_SIZE - 1);
  memcpy(out, text, TG_HTTP_DATE_SIZE);
}

size_t tg_http_response_head(char out[TG_HTTP_RESPONSE_HEAD_SIZE], const struct tg_http_response *response) {
  const char *connection = response->close               ? "Connection: close\r\n"
                           : response->http10_keep_alive ? "Connection: keep-alive\r\n"
                                                         : "";
  int len = snprintf(out, TG_HTTP_RESPONSE_HEAD_SIZE,
                     "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %" PRIu64 "\r\n%s%s%s%s\r\n",
                     response->status, tg_http_reason(response->status), response->date, response->content_type,
                     response->content_length, response->allow != NULL ? "Allow: " : "",
                     response->allow != NULL ? response->allow : "", response->allow != NULL ? "\r\n" : "", connection);
  assert(len > 0 && len < TG_HTTP_RESPONSE_HEAD_SIZE);
  return (size_t)len;
}
