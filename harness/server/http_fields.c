#include "harness/server/http_fields.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "harness/server/http_chars.h"

// What a Host value is made of: uri-host and port (RFC 3986, 3.2.2).
static bool is_host_char(uint8_t c) {
  return tg_http_is_alpha(c) || tg_http_is_digit(c) || (c != '\0' && strchr("-._~%!$&'()*+,;=:[]", c) != NULL);
}

enum tg_http_field tg_http_field_named(const struct tg_http_parser *parser) {
  static const struct {
    const char *name;
    enum tg_http_field field;
  } known[] = {
      {"Host", TG_HTTP_FIELD_HOST},
      {"Connection", TG_HTTP_FIELD_CONNECTION},
      {"Content-Length", TG_HTTP_FIELD_CONTENT_LENGTH},
      {"Transfer-Encoding", TG_HTTP_FIELD_TRANSFER_ENCODING},
      {"Expect", TG_HTTP_FIELD_EXPECT},
  };
  // Trailer fields frame nothing (RFC 9110, 6.5.1).
  for (size_t i = 0; !parser->in_trailer && i < sizeof(known) / sizeof(known[0]); i++) {
    if (strcasecmp(parser->token, known[i].name) == 0) {
      return known[i].field;
    }
  }
  return TG_HTTP_FIELD_OTHER;
}

static bool text_is(const char *text, size_t len, const char *expected) {
  return len == strlen(expected) && strncasecmp(text, expected, len) == 0;
}

static void connection_option(struct tg_http_parser *parser, const char *text, size_t len) {
  while (len > 0 && (*text == ' ' || *text == '\t')) {
    text++;
    len--;
  }
  while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t')) {
    len--;
  }
  parser->asks_close |= text_is(text, len, "close");
  parser->asks_keep_alive |= text_is(text, len, "keep-alive");
}

static int connection_value(struct tg_http_parser *parser) {
  size_t begin = 0;
  for (size_t i = 0; i <= parser->value_len; i++) {
    if (i == parser->value_len || parser->value[i] == ',') {
      connection_option(parser, parser->value + begin, i - begin);
      begin = i + 1;
    }
  }
  return 0;
}

static int content_length_value(struct tg_http_parser *parser) {
  uint64_t length = 0;
  for (size_t i = 0; i < parser->value_len; i++) {
    uint8_t c = (uint8_t)parser->value[i];
    if (!tg_http_is_digit(c)) {
      return 400;
    }
    // Beyond max_body it no longer matters by how much.
    length = length > parser->max_body ? length : length * 10 + (uint64_t)(c - '0');
  }
  if (parser->value_len == 0 || parser->has_length) {
    return 400;
  }
  parser->has_length = true;
  parser->remaining = length;
  return 0;
}

static int transfer_encoding_value(struct tg_http_parser *parser) {
  if (parser->chunked) {
    return 400;  // RFC 9112, 6.1: chunked is applied once
  }
  if (!text_is(parser->value, parser->value_len, "chunked")) {
    return 501;  // RFC 9112, 6.1: a coding that is not implemented
  }
  parser->chunked = true;
  return 0;
}

static int host_value(struct tg_http_parser *parser) {
  if (parser->has_host) {
    return 400;
  }
  parser->has_host = true;
  for (size_t i = 0; i < parser->value_len; i++) {
    if (!is_host_char((uint8_t)parser->value[i])) {
      return 400;
    }
  }
  return 0;
}

static int expect_value(struct tg_http_parser *parser) {
  if (!text_is(parser->value, parser->value_len, "100-continue")) {
    return 417;
  }
  parser->request.expect_continue = true;
  return 0;
}

int tg_http_field_value(struct tg_http_parser *parser) {
  while (parser->value_len > 0 &&
         (parser->value[parser->value_len - 1] == ' ' || parser->value[parser->value_len - 1] == '\t')) {
    parser->value_len--;
  }
  switch ((enum tg_http_field)parser->field) {
    case TG_HTTP_FIELD_OTHER:
      return 0;
    case TG_HTTP_FIELD_HOST:
      return host_value(parser);
    case TG_HTTP_FIELD_CONNECTION:
      return connection_value(parser);
    case TG_HTTP_FIELD_CONTENT_LENGTH:
      return content_length_value(parser);
    case TG_HTTP_FIELD_TRANSFER_ENCODING:
      return transfer_encoding_value(parser);
    case TG_HTTP_FIELD_EXPECT:
      return expect_value(parser);
  }
  assert(false);
  return 0;
}
