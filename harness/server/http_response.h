// The head of an HTTP/1.1 response, written in one piece so that a small response is one send.
#ifndef TLSGATE_HARNESS_SERVER_HTTP_RESPONSE_H
#define TLSGATE_HARNESS_SERVER_HTTP_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// "Sun, 06 Nov 1994 08:49:37 GMT" and its NUL (RFC 9110, 5.6.7: IMF-fixdate).
#define TG_HTTP_DATE_SIZE 30

// Room for any head that tg_http_response_head writes.
#define TG_HTTP_RESPONSE_HEAD_SIZE 512

// The interim response that asks for the body (RFC 9110, 15.2.1).
#define TG_HTTP_CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

struct tg_http_response {
  int status;
  const char *content_type;
  uint64_t content_length;
  const char *allow;       // the Allow field's value, at most 64 bytes; NULL: none
  const char *date;        // from tg_http_date
  bool close;              // the connection ends after this response
  bool http10_keep_alive;  // an HTTP/1.0 client asked for keep-alive and gets it
};

// tg_http_reason returns the reason phrase of a status that this server sends; other statuses are a caller's error.
const char *tg_http_reason(int status);

// tg_http_date writes `now` as a Date value. `now` is in years 1970 to 9999.
void tg_http_date(char out[TG_HTTP_DATE_SIZE], time_t now);

// tg_http_response_head writes the status line, the header fields and the empty line that ends them. Returns the
// number of bytes, without the NUL that follows them; they always fit.
size_t tg_http_response_head(char out[TG_HTTP_RESPONSE_HEAD_SIZE], const struct tg_http_response *response);

#endif
