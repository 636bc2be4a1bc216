// The character classes of HTTP's grammar, in ASCII whatever the locale.
#ifndef TLSGATE_HARNESS_SERVER_HTTP_CHARS_H
#define TLSGATE_HARNESS_SERVER_HTTP_CHARS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool tg_http_is_digit(uint8_t c) {
  return c >= '0' && c <= '9';
}

static inline bool tg_http_is_alpha(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// RFC 9110, 5.6.2.
static inline bool tg_http_is_token_char(uint8_t c) {
  return tg_http_is_alpha(c) || tg_http_is_digit(c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

// RFC 9110, 5.5: VCHAR, SP, HTAB and obs-text.
static inline bool tg_http_is_value_char(uint8_t c) {
  return (c >= 0x20 && c != 0x7f) || c == '\t';
}

static inline int tg_http_hex_value(uint8_t c) {
  if (tg_http_is_digit(c)) {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

#endif
