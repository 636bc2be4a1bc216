#include "harness/server/http_request.h"

#include <assert.h>
#include <string.h>

#include "harness/server/http_chars.h"
#include "harness/server/http_fields.h"
#include "harness/server/http_target.h"

enum state {
  STATE_START,
  STATE_START_LF,
  STATE_METHOD,
  STATE_TARGET,
  STATE_VERSION,
  STATE_REQUEST_LINE_LF,
  STATE_FIELD_START,
  STATE_FIELD_NAME,
  STATE_FIELD_VALUE_START,
  STATE_FIELD_VALUE,
  STATE_FIELD_LF,
  STATE_SECTION_LF,
  STATE_BODY,
  STATE_CHUNK_SIZE_START,
  STATE_CHUNK_SIZE,
  STATE_CHUNK_SIZE_SPACE,
  STATE_CHUNK_EXTENSION,
  STATE_CHUNK_SIZE_LF,
  STATE_CHUNK_DATA,
  STATE_CHUNK_DATA_CR,
  STATE_CHUNK_DATA_LF,
  STATE_ENDED,
};

static bool is_space(uint8_t c) {
  return c == ' ' || c == '\t';
}

static void fail(struct tg_http_parser *parser, int status) {
  parser->status = status;
  parser->state = STATE_ENDED;
}

void tg_http_parser_init(struct tg_http_parser *parser, uint64_t max_body) {
  // So that one more digit of a size never overflows before it is compared.
  assert(max_body <= UINT64_MAX / 32);
  parser->max_body = max_body;
  tg_http_parser_reset(parser);
}

void tg_http_parser_reset(struct tg_http_parser *parser) {
  uint64_t max_body = parser->max_body;
  // The kept value is written before it is read, and is most of the parser.
  memset(parser, 0, offsetof(struct tg_http_parser, value));
  parser->max_body = max_body;
}

bool tg_http_parser_begun(const struct tg_http_parser *parser) {
  return parser->begun;
}

static void end_method(struct tg_http_parser *parser) {
  static const struct {
    const char *name;
    enum tg_http_method method;
  } known[] = {{"GET", TG_HTTP_GET}, {"HEAD", TG_HTTP_HEAD}, {"POST", TG_HTTP_POST}};
  parser->request.method = TG_HTTP_OTHER;
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
    if (strcmp(parser->token, known[i].name) == 0) {
      parser->request.method = known[i].method;
    }
  }
  parser->token_len = 0;
  parser->state = STATE_TARGET;
}

static void method_char(struct tg_http_parser *parser, uint8_t c) {
  if (c == ' ' && parser->token_len > 0) {
    end_method(parser);
  } else if (!tg_http_is_token_char(c)) {
    fail(parser, 400);
  } else if (!tg_http_keep_token_char(parser, c)) {
    fail(parser, 501);  // RFC 9112, 3: longer than any method that is implemented
  } else {
    parser->state = STATE_METHOD;
  }
}

static void target_char(struct tg_http_parser *parser, uint8_t c) {
  int status = c == ' ' ? tg_http_target_end(parser) : tg_http_target_char(parser, c);
  if (status != 0) {
    fail(parser, status);
  } else if (c == ' ') {
    parser->token_len = 0;
    parser->state = STATE_VERSION;
  }
}

static void end_version(struct tg_http_parser *parser) {
  const char *version = parser->token;
  size_t prefix = strlen("HTTP/");
  if (parser->token_len != prefix + 3 || strncmp(version, "HTTP/", prefix) != 0 ||
      !tg_http_is_digit((uint8_t)version[prefix]) || version[prefix + 1] != '.' ||
      !tg_http_is_digit((uint8_t)version[prefix + 2])) {
    fail(parser, 400);
  } else if (version[prefix] != '1') {
    fail(parser, 505);
  } else {
    parser->request.minor_version = version[prefix + 2] == '0' ? 0 : 1;
    parser->state = STATE_REQUEST_LINE_LF;
  }
}

static void version_char(struct tg_http_parser *parser, uint8_t c) {
  if (c == '\r') {
    end_version(parser);
  } else if (!tg_http_is_value_char(c) || !tg_http_keep_token_char(parser, c)) {
    fail(parser, 400);
  }
}

static void field_name_char(struct tg_http_parser *parser, uint8_t c) {
  if (c == ':') {
    parser->field = (uint8_t)tg_http_field_named(parser);
    parser->value_len = 0;
    parser->state = STATE_FIELD_VALUE_START;
  } else if (!tg_http_is_token_char(c)) {
    fail(parser, 400);
  } else if (!tg_http_keep_token_char(parser, c)) {
    // Longer than the names that matter: no name may be left that one of them begins with.
    parser->token[0] = '*';
  }
}

static void field_start_char(struct tg_http_parser *parser, uint8_t c) {
  if (c == '\r') {
    parser->state = STATE_SECTION_LF;
  } else if (!tg_http_is_token_char(c)) {
    fail(parser, 400);  // a folded line (RFC 9112, 5.2) among them
  } else {
    parser->token_len = 0;
    parser->state = STATE_FIELD_NAME;
    field_name_char(parser, c);
  }
}

static void field_value_char(struct tg_http_parser *parser, uint8_t c) {
  if (c == '\r') {
    parser->state = STATE_FIELD_LF;
  } else if (!tg_http_is_value_char(c)) {
    fail(parser, 400);
  } else if (parser->state == STATE_FIELD_VALUE_START && is_space(c)) {
    return;
  } else if (parser->field == TG_HTTP_FIELD_OTHER) {
    parser->state = STATE_FIELD_VALUE;
  } else if (parser->value_len == TG_HTTP_VALUE_MAX) {
    fail(parser, 431);
  } else {
    parser->value[parser->value_len++] = (char)c;
    parser->state = STATE_FIELD_VALUE;
  }
}

static void lf_after_field(struct tg_http_parser *parser, uint8_t c) {
  if (c != '\n') {
    fail(parser, 400);
    return;
  }
  parser->state = STATE_FIELD_START;
  int status = tg_http_field_value(parser);
  if (status != 0) {
    fail(parser, status);
  }
}

// The head is complete: what frames the body (RFC 9112, 6.3), and what becomes of the connection (9.3).
static enum tg_http_event end_head(struct tg_http_parser *parser) {
  struct tg_http_request *request = &parser->request;
  bool http10 = request->minor_version == 0;
  if (!parser->has_host && !http10) {
    fail(parser, 400);
    return TG_HTTP_FAILED;
  }
  if (parser->chunked && (parser->has_length || http10)) {
    fail(parser, 400);
    return TG_HTTP_FAILED;
  }
  if (parser->remaining > parser->max_body) {
    fail(parser, 413);
    return TG_HTTP_FAILED;
  }
  request->keep_alive = !parser->asks_close && (!http10 || parser->asks_keep_alive);
  // RFC 9110, 10.1.1: without a body to come, or in HTTP/1.0, there is nothing to wait for.
  request->expect_continue &= !http10 && (parser->chunked || parser->remaining > 0);
  if (parser->chunked) {
    parser->state = STATE_CHUNK_SIZE_START;
    return TG_HTTP_HEAD_COMPLETE;
  }
  if (parser->remaining > 0) {
    parser->state = STATE_BODY;
    return TG_HTTP_HEAD_COMPLETE;
  }
  parser->state = STATE_ENDED;
  return TG_HTTP_DONE;
}

static enum tg_http_event end_section(struct tg_http_parser *parser, uint8_t c) {
  if (c != '\n') {
    fail(parser, 400);
    return TG_HTTP_FAILED;
  }
  if (parser->in_trailer) {
    parser->state = STATE_ENDED;
    return TG_HTTP_DONE;
  }
  return end_head(parser);
}

static void start_char(struct tg_http_parser *parser, uint8_t c) {
  parser->begun = true;
  // RFC 9112, 2.2: an empty line before the request line is ignored; one is.
  if (c == '\r' && !parser->blank_line_skipped) {
    parser->blank_line_skipped = true;
    parser->state = STATE_START_LF;
  } else {
    method_char(parser, c);
  }
}

static void expect_char(struct tg_http_parser *parser, uint8_t c, uint8_t expected, enum state next) {
  if (c != expected) {
    fail(parser, 400);
  } else {
    parser->state = (uint8_t)next;
  }
}

static void chunk_size_digit(struct tg_http_parser *parser, uint8_t c) {
  parser->remaining = parser->remaining * 16 + (uint64_t)tg_http_hex_value(c);
  parser->state = STATE_CHUNK_SIZE;
  if (parser->remaining > parser->max_body - parser->request.body_len) {
    fail(parser, 413);
  }
}

// RFC 9112, 7.1: hexadecimal digits, then white space, then extensions, each after a semicolon, that are let pass.
static bool chunk_line_allows(const struct tg_http_parser *parser, uint8_t c) {
  switch (parser->state) {
    case STATE_CHUNK_SIZE_START:
      return tg_http_hex_value(c) >= 0;
    case STATE_CHUNK_SIZE:
      return tg_http_hex_value(c) >= 0 || c == '\r' || c == ';' || is_space(c);
    case STATE_CHUNK_SIZE_SPACE:
      return c == '\r' || c == ';' || is_space(c);
    default:
      return c == '\r' || tg_http_is_value_char(c);
  }
}

static void chunk_line_char(struct tg_http_parser *parser, uint8_t c) {
  if (parser->state == STATE_CHUNK_SIZE_START) {
    parser->remaining = 0;
    parser->value_len = 0;
  }
  if (++parser->value_len > TG_HTTP_CHUNK_LINE_MAX || !chunk_line_allows(parser, c)) {
    fail(parser, 400);
  } else if (c == '\r') {
    parser->state = STATE_CHUNK_SIZE_LF;
  } else if (parser->state != STATE_CHUNK_EXTENSION && tg_http_hex_value(c) >= 0) {
    chunk_size_digit(parser, c);
  } else if (parser->state != STATE_CHUNK_EXTENSION && is_space(c)) {
    parser->state = STATE_CHUNK_SIZE_SPACE;
  } else {
    parser->state = STATE_CHUNK_EXTENSION;
  }
}

static void chunk_size_lf(struct tg_http_parser *parser, uint8_t c) {
  expect_char(parser, c, '\n', STATE_CHUNK_DATA);
  if (parser->state == STATE_CHUNK_DATA && parser->remaining == 0) {
    parser->in_trailer = true;
    parser->head_len = 0;
    parser->state = STATE_FIELD_START;
  }
}

// One byte of anything but body data.
static enum tg_http_event parse_char(struct tg_http_parser *parser, uint8_t c) {
  switch ((enum state)parser->state) {
    case STATE_START:
      start_char(parser, c);
      break;
    case STATE_START_LF:
      expect_char(parser, c, '\n', STATE_START);
      break;
    case STATE_METHOD:
      method_char(parser, c);
      break;
    case STATE_TARGET:
      target_char(parser, c);
      break;
    case STATE_VERSION:
      version_char(parser, c);
      break;
    case STATE_REQUEST_LINE_LF:
      expect_char(parser, c, '\n', STATE_FIELD_START);
      break;
    case STATE_FIELD_START:
      field_start_char(parser, c);
      break;
    case STATE_FIELD_NAME:
      field_name_char(parser, c);
      break;
    case STATE_FIELD_VALUE_START:
    case STATE_FIELD_VALUE:
      field_value_char(parser, c);
      break;
    case STATE_FIELD_LF:
      lf_after_field(parser, c);
      break;
    case STATE_SECTION_LF:
      return end_section(parser, c);
    case STATE_CHUNK_SIZE_START:
    case STATE_CHUNK_SIZE:
    case STATE_CHUNK_SIZE_SPACE:
    case STATE_CHUNK_EXTENSION:
      chunk_line_char(parser, c);
      break;
    case STATE_CHUNK_SIZE_LF:
      chunk_size_lf(parser, c);
      break;
    case STATE_CHUNK_DATA_CR:
      expect_char(parser, c, '\r', STATE_CHUNK_DATA_LF);
      break;
    case STATE_CHUNK_DATA_LF:
      expect_char(parser, c, '\n', STATE_CHUNK_SIZE_START);
      break;
    case STATE_BODY:
    case STATE_CHUNK_DATA:
    case STATE_ENDED:
      assert(false);
  }
  return parser->state == STATE_ENDED ? TG_HTTP_FAILED : TG_HTTP_MORE;
}

static bool in_section(const struct tg_http_parser *parser) {
  return parser->state <= STATE_SECTION_LF;
}

static size_t use_body(struct tg_http_parser *parser, size_t len) {
  size_t used = len < parser->remaining ? len : (size_t)parser->remaining;
  parser->remaining -= used;
  parser->request.body_len += used;
  return used;
}

enum tg_http_event tg_http_parse(struct tg_http_parser *parser, const uint8_t *data, size_t len, size_t *out_used) {
  assert(parser->state != STATE_ENDED);
  enum tg_http_event event = TG_HTTP_MORE;
  size_t at = 0;
  while (at < len && event == TG_HTTP_MORE) {
    if (parser->state == STATE_BODY || parser->state == STATE_CHUNK_DATA) {
      at += use_body(parser, len - at);
      if (parser->remaining == 0 && parser->state == STATE_BODY) {
        parser->state = STATE_ENDED;
        event = TG_HTTP_DONE;
      } else if (parser->remaining == 0) {
        parser->state = STATE_CHUNK_DATA_CR;
      }
      continue;
    }
    if (in_section(parser) && ++parser->head_len > TG_HTTP_HEAD_MAX) {
      fail(parser, 431);
      event = TG_HTTP_FAILED;
    } else {
      event = parse_char(parser, data[at++]);
    }
  }
  *out_used = at;
  return event;
}
