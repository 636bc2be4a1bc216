#include "harness/server/routes.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const char kIndex[] = "{\"status\":\"ok\"}";
_Static_assert(sizeof(kIndex) - 1 == 15, "the index body is 15 bytes");

struct tg_route tg_route_refusal(int status) {
  static const struct {
    int status;
    const char *text;
  } known[] = {
      {400, "{\"code\":\"bad-request\"}"},
      {404, "{\"code\":\"not-found\"}"},
      {405, "{\"code\":\"method-not-allowed\"}"},
      {413, "{\"code\":\"body-too-large\"}"},
      {414, "{\"code\":\"target-too-long\"}"},
      {417, "{\"code\":\"expectation-failed\"}"},
      {431, "{\"code\":\"header-fields-too-large\"}"},
      {501, "{\"code\":\"not-implemented\"}"},
      {503, "{\"code\":\"capacity-unavailable\"}"},
      {505, "{\"code\":\"http-version-not-supported\"}"},
  };
  struct tg_route route = {.status = status, .body = TG_ROUTE_TEXT};
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
    if (known[i].status == status) {
      route.text = known[i].text;
    }
  }
  assert(route.text != NULL);
  return route;
}

// A decimal number without sign or leading zero, or UINT64_MAX.
static uint64_t bytes_wanted(const char *digits) {
  if (*digits == '\0' || (digits[0] == '0' && digits[1] != '\0')) {
    return UINT64_MAX;
  }
  uint64_t value = 0;
  for (; *digits != '\0'; digits++) {
    if (*digits < '0' || *digits > '9' || value > TG_ROUTE_BYTES_MAX) {
      return UINT64_MAX;
    }
    value = value * 10 + (uint64_t)(*digits - '0');
  }
  return value <= TG_ROUTE_BYTES_MAX ? value : UINT64_MAX;
}

// What the path names, whatever the method.
static struct tg_route resource(const char *path) {
  static const char bytes[] = "/bytes/";
  struct tg_route route = {.status = 200};
  if (strcmp(path, "/") == 0) {
    route.body = TG_ROUTE_TEXT;
    route.text = kIndex;
  } else if (strcmp(path, "/big") == 0) {
    route.body = TG_ROUTE_FILL;
    route.fill_len = TG_ROUTE_BIG_LEN;
  } else if (strcmp(path, "/upload") == 0) {
    route.body = TG_ROUTE_RECEIVED;
  } else if (strcmp(path, "/stats") == 0) {
    route.body = TG_ROUTE_STATS;
  } else if (strncmp(path, bytes, sizeof(bytes) - 1) == 0 && bytes_wanted(path + sizeof(bytes) - 1) != UINT64_MAX) {
    route.body = TG_ROUTE_FILL;
    route.fill_len = bytes_wanted(path + sizeof(bytes) - 1);
  } else {
    return tg_route_refusal(404);
  }
  return route;
}

struct tg_route tg_route_find(const struct tg_http_request *request) {
  if (request->path_truncated) {
    return tg_route_refusal(404);
  }
  struct tg_route route = resource(request->path);
  if (route.status != 200) {
    return route;
  }
  bool takes_body = route.body == TG_ROUTE_RECEIVED;
  bool allowed =
      takes_body ? request->method == TG_HTTP_POST : request->method == TG_HTTP_GET || request->method == TG_HTTP_HEAD;
  if (!allowed) {
    route = tg_route_refusal(405);
    route.allow = takes_body ? "POST" : "GET, HEAD";
  }
  return route;
}
