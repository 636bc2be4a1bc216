// What each request is answered with.
//
//     GET, HEAD  /         {"status":"ok"}, 15 bytes of JSON
//     GET, HEAD  /big      1 MiB
//     GET, HEAD  /bytes/N  N bytes, 0 to 1 GiB
//     POST       /upload   the body is read and counted: {"received":N}
//     GET, HEAD  /stats    the server's counters (harness/accept/counters.h), one JSON object
//
// A query is ignored. Another path is 404; another method 405, with Allow.
#ifndef TLSGATE_HARNESS_SERVER_ROUTES_H
#define TLSGATE_HARNESS_SERVER_ROUTES_H

#include <stdint.h>

#include "harness/server/http_request.h"

#define TG_ROUTE_BIG_LEN   (UINT64_C(1) << 20)
#define TG_ROUTE_BYTES_MAX (UINT64_C(1) << 30)

enum tg_route_body {
  TG_ROUTE_TEXT,      // `text`
  TG_ROUTE_FILL,      // `fill_len` bytes of filler: byte i of the body is "A..Za..z0..9+/"[i % 64]
  TG_ROUTE_RECEIVED,  // how many bytes of body the request had
  TG_ROUTE_STATS,     // the counters
};

struct tg_route {
  int status;
  enum tg_route_body body;
  const char *text;   // TG_ROUTE_TEXT: JSON, static
  const char *allow;  // 405: the Allow value, static; NULL otherwise
  uint64_t fill_len;  // TG_ROUTE_FILL
};

// tg_route_find returns the answer to a request whose head is complete.
struct tg_route tg_route_find(const struct tg_http_request *request);

// tg_route_refusal returns the answer of a status of 400 or more: {"code":"..."}, of 503 "capacity-unavailable".
struct tg_route tg_route_refusal(int status);

#endif
