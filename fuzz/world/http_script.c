#include "fuzz/world/http_script.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/schedule/schedule.h"

// Bodies of more than this take a fuzzer's time and show nothing new.
#define MAX_BODY_ASKED (UINT64_C(1) << 20)

#define HOST "Host: localhost\r\n"

static uint64_t unit_of(uint32_t post_unit) {
  return post_unit > 0 ? post_unit : 64;
}

uint64_t tg_http_script_max_body(const struct tg_http_routes *routes, uint32_t post_unit) {
  return routes->body_max > 0 ? routes->body_max : 4096 * unit_of(post_unit);
}

static void owe(struct tg_http_script *script, const struct tg_http_owed *owed) {
  if (script->ended || script->incomplete) {
    return;
  }
  assert(script->count < TG_HTTP_OWED_MAX);
  script->owed[(script->first + script->count) % TG_HTTP_OWED_MAX] = *owed;
  script->count++;
  script->ended = owed->last;
}

static struct tg_http_owed text(int status, const char *body, bool last) {
  struct tg_http_owed owed = {.status = status, .last = last, .body_len = strlen(body)};
  assert(owed.body_len < sizeof(owed.text));
  memcpy(owed.text, body, owed.body_len + 1);
  return owed;
}

// The answer of the small route.
static struct tg_http_owed small(const struct tg_http_script *script, bool last) {
  if (script->routes->small_body != NULL) {
    return text(200, script->routes->small_body, last);
  }
  return (struct tg_http_owed){.status = 200, .last = last, .any_body = true};
}

static struct tg_http_owed error(const struct tg_http_script *script, int status, const char *code, bool last) {
  struct tg_http_owed owed = {.status = status, .last = last, .any_body = true};
  if (script->routes->error_bodies) {
    owed.any_body = false;
    owed.body_len = (uint64_t)snprintf(owed.text, sizeof(owed.text), "{\"code\":\"%s\"}", code);
    assert(owed.body_len < sizeof(owed.text));
  }
  return owed;
}

static struct tg_http_owed uploaded(const struct tg_http_script *script, uint64_t len, bool interim) {
  if (len > script->max_body) {
    return error(script, 413, "body-too-large", true);
  }
  struct tg_http_owed owed = {.status = 200, .interim = interim, .any_body = !script->routes->upload_reports};
  if (!owed.any_body) {
    owed.body_len = (uint64_t)sprintf(owed.text, "{\"received\":%" PRIu64 "}", len);
  }
  return owed;
}

static size_t put(uint8_t *out, const char *request) {
  return (size_t)(stpcpy((char *)out, request) - (char *)out);
}

static size_t get(struct tg_http_script *script, uint8_t *out, const char *version, const char *fields, bool last) {
  struct tg_http_owed owed = small(script, last);
  owe(script, &owed);
  return (size_t)sprintf((char *)out, "GET %s HTTP/%s\r\n" HOST "%s\r\n", script->routes->small, version, fields);
}

static size_t bytes(struct tg_http_script *script, uint64_t len, uint8_t *out) {
  len = len < MAX_BODY_ASKED ? len : MAX_BODY_ASKED;
  const bool filler = script->routes->bytes_are_filler;
  struct tg_http_owed owed = {.status = 200, .filler = filler, .any_text = !filler, .body_len = len};
  owe(script, &owed);
  return (size_t)sprintf((char *)out, "GET %s%" PRIu64 " HTTP/1.1\r\n" HOST "\r\n", script->routes->bytes, len);
}

static size_t post(struct tg_http_script *script, uint64_t len, const char *fields, bool expects, uint8_t *out) {
  struct tg_http_owed owed = uploaded(script, len, expects);
  owe(script, &owed);
  size_t at = (size_t)sprintf((char *)out, "POST %s HTTP/1.1\r\n" HOST "Content-Length: %" PRIu64 "\r\n%s\r\n",
                              script->routes->upload, len, fields);
  memset(out + at, 'b', len);
  return at + len;
}

static size_t post_chunked(struct tg_http_script *script, uint64_t len, uint8_t *out) {
  static const size_t kChunk = 1000;
  struct tg_http_owed owed = uploaded(script, len, false);
  owe(script, &owed);
  size_t at = (size_t)sprintf((char *)out, "POST %s HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",
                              script->routes->upload);
  for (uint64_t left = len; left > 0;) {
    size_t part = left < kChunk ? (size_t)left : kChunk;
    at += (size_t)sprintf((char *)out + at, "%zx\r\n", part);
    memset(out + at, 'c', part);
    at += part;
    at += put(out + at, "\r\n");
    left -= part;
  }
  return at + put(out + at, "0\r\n\r\n");
}

static size_t big_head(struct tg_http_script *script, uint64_t len, uint8_t *out) {
  size_t at = (size_t)sprintf((char *)out, "GET %s HTTP/1.1\r\n" HOST, script->routes->small);
  for (uint64_t left = len; left > 0; left -= 64) {
    at += put(out + at, "X-Filler: 0123456789012345678901234567890123456789012345678901\r\n");
  }
  at += put(out + at, "\r\n");
  struct tg_http_owed owed =
      at > script->routes->head_max ? error(script, 431, "header-fields-too-large", true) : small(script, false);
  owe(script, &owed);
  return at;
}

static size_t refused(struct tg_http_script *script, const char *request, size_t len, int status, const char *code,
                      bool last, uint8_t *out) {
  struct tg_http_owed owed = error(script, status, code, last);
  owe(script, &owed);
  memcpy(out, request, len);
  return len;
}

// The kind of request that a value stands for, or GET if the server does not understand that one.
static enum tg_schedule_request kind_of(const struct tg_http_script *script, uint16_t value) {
  const unsigned kind = value & 15;
  return (script->routes->requests >> kind & 1) != 0 ? (enum tg_schedule_request)kind : TG_REQUEST_GET;
}

size_t tg_http_script_add(struct tg_http_script *script, uint16_t value, uint8_t *out) {
  static const uint32_t kAtOnce = 16;
  static const char kNul[] = "GET / HTTP/1.1\r\n" HOST "X-Field: a\0b\r\n\r\n";
  static const char kBroken[] = "\x01 this is no request\r\n\r\n";
  static const char kBad[] = "bad-request";
  if (script->count > TG_HTTP_OWED_MAX - kAtOnce) {
    return 0;
  }
  uint64_t size = value >> 4;
  uint64_t body_len = size * unit_of(script->post_unit);
  switch (kind_of(script, value)) {
    case TG_REQUEST_GET:
      return get(script, out, "1.1", "", false);
    case TG_REQUEST_BYTES:
      return bytes(script, size * 1024, out);
    case TG_REQUEST_POST:
      return post(script, body_len, "", false, out);
    case TG_REQUEST_POST_CHUNKED:
      return post_chunked(script, body_len, out);
    case TG_REQUEST_HEAD: {
      struct tg_http_owed owed = small(script, false);
      owed.head = true;
      owe(script, &owed);
      return (size_t)sprintf((char *)out, "HEAD %s HTTP/1.1\r\n" HOST "\r\n", script->routes->small);
    }
    case TG_REQUEST_PIPELINE: {
      size_t at = 0;
      for (uint64_t i = 0; i <= size % kAtOnce; i++) {
        at += get(script, out + at, "1.1", "", false);
      }
      return at;
    }
    case TG_REQUEST_CLOSE:
      return get(script, out, "1.1", "Connection: close\r\n", true);
    case TG_REQUEST_HTTP10:
      return get(script, out, "1.0", "", true);
    case TG_REQUEST_EXPECT:
      return post(script, body_len, "Expect: 100-continue\r\n", true, out);
    case TG_REQUEST_STATS: {
      struct tg_http_owed owed = {.status = 200, .any_body = true};
      owe(script, &owed);
      return (size_t)sprintf((char *)out, "GET %s HTTP/1.1\r\n" HOST "\r\n", script->routes->stats);
    }
    case TG_REQUEST_NOT_FOUND: {
      static const char kRequest[] = "GET /nowhere HTTP/1.1\r\n" HOST "\r\n";
      return refused(script, kRequest, sizeof(kRequest) - 1, 404, "not-found", false, out);
    }
    case TG_REQUEST_BIG_HEAD:
      return big_head(script, size * 64, out);
    case TG_REQUEST_NUL:
      return refused(script, kNul, sizeof(kNul) - 1, 400, kBad, true, out);
    case TG_REQUEST_BROKEN:
      return refused(script, kBroken, sizeof(kBroken) - 1, 400, kBad, true, out);
    case TG_REQUEST_HEAD_ONLY:
      script->incomplete = true;
      return (size_t)sprintf((char *)out, "GET %s HTTP/1.1\r\n" HOST "X-Never: ", script->routes->small);
    case TG_REQUEST_BODY_TOO_BIG: {
      struct tg_http_owed owed = error(script, 413, "body-too-large", true);
      owe(script, &owed);
      return (size_t)sprintf((char *)out, "POST %s HTTP/1.1\r\n" HOST "Content-Length: 99999999\r\n\r\n",
                             script->routes->upload);
    }
    case TG_SCHEDULE_REQUESTS_COUNT:
      break;
  }
  assert(false);
  return 0;
}

const struct tg_http_owed *tg_http_script_next(const struct tg_http_script *script) {
  return script->count > 0 ? &script->owed[script->first] : NULL;
}

void tg_http_script_done(struct tg_http_script *script) {
  assert(script->count > 0);
  script->first = (script->first + 1) % TG_HTTP_OWED_MAX;
  script->count--;
}
