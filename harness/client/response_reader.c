#include "harness/client/response_reader.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void tg_response_reader_start(struct tg_response_reader *reader, int64_t expected_length) {
  reader->head_len = 0;
  reader->head_done = false;
  reader->check_length = expected_length >= 0;
  reader->expected_length = expected_length >= 0 ? (uint64_t)expected_length : 0;
  reader->content_length = 0;
  reader->body_len = 0;
  reader->close = false;
  reader->refused = false;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// RFC 9110, 5.6.2.
static bool is_token_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

// Returns false; the text is all that is said: what the server wrote is not.
static bool bad(struct tg_error *err, const char *what) {
  tg_error_set(err, "%s", what);
  return false;
}

static bool read_status_line(struct tg_response_reader *reader, const char *line, size_t len, struct tg_error *err) {
  static const char version[] = "HTTP/1.1 ";
  const size_t at = sizeof(version) - 1;
  if (len < at + 4 || memcmp(line, version, at) != 0 || !is_digit(line[at]) || !is_digit(line[at + 1]) ||
      !is_digit(line[at + 2]) || line[at + 3] != ' ') {
    return bad(err, "not an HTTP/1.1 status line");
  }
  reader->refused = memcmp(line + at, "503", 3) == 0;
  if (memcmp(line + at, "200", 3) != 0 && !reader->refused) {
    tg_error_set(err, "the status is %.3s where 200 is expected", line + at);
    return false;
  }
  return true;
}

static bool check_length(const struct tg_response_reader *reader, uint64_t length, struct tg_error *err) {
  if (reader->refused && length > sizeof(reader->refusal)) {
    tg_error_set(err, "the status is 503, with a body of %" PRIu64 " bytes: no load shedding", length);
    return false;
  }
  if (!reader->refused && reader->check_length && length != reader->expected_length) {
    tg_error_set(err, "Content-Length is %" PRIu64 " where %" PRIu64 " is expected", length, reader->expected_length);
    return false;
  }
  return true;
}

static bool read_content_length(struct tg_response_reader *reader, const char *value, size_t len, bool *seen,
                                struct tg_error *err) {
  if (*seen) {
    return bad(err, "a second Content-Length");
  }
  *seen = true;
  uint64_t length = 0;
  for (size_t i = 0; i < len; i++) {
    // 18 digits cannot overflow.
    if (!is_digit(value[i]) || i >= 18) {
      return bad(err, "Content-Length is not a number of at most 18 digits");
    }
    length = length * 10 + (uint64_t)(value[i] - '0');
  }
  if (len == 0) {
    return bad(err, "Content-Length is empty");
  }
  reader->content_length = length;
  return check_length(reader, length, err);
}

// Whether a comma-separated list holds `token` in any case.
static bool list_holds(const char *list, size_t len, const char *token) {
  size_t start = 0;
  while (start <= len) {
    size_t end = start;
    while (end < len && list[end] != ',') {
      end++;
    }
    size_t from = start;
    size_t to = end;
    while (from < to && (list[from] == ' ' || list[from] == '\t')) {
      from++;
    }
    while (to > from && (list[to - 1] == ' ' || list[to - 1] == '\t')) {
      to--;
    }
    if (to - from == strlen(token) && strncasecmp(list + from, token, to - from) == 0) {
      return true;
    }
    start = end + 1;
  }
  return false;
}

static bool read_field(struct tg_response_reader *reader, const char *line, size_t len, bool *length_seen,
                       struct tg_error *err) {
  size_t name_len = 0;
  while (name_len < len && is_token_char(line[name_len])) {
    name_len++;
  }
  if (name_len == 0 || name_len == len || line[name_len] != ':') {
    return bad(err, "not a header field");
  }
  const char *value = line + name_len + 1;
  size_t value_len = len - name_len - 1;
  while (value_len > 0 && (*value == ' ' || *value == '\t')) {
    value++;
    value_len--;
  }
  while (value_len > 0 && (value[value_len - 1] == ' ' || value[value_len - 1] == '\t')) {
    value_len--;
  }
  for (size_t i = 0; i < value_len; i++) {
    const unsigned char byte = (unsigned char)value[i];
    if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
      return bad(err, "a control character in a header field");
    }
  }
  if (name_len == 14 && strncasecmp(line, "content-length", name_len) == 0) {
    return read_content_length(reader, value, value_len, length_seen, err);
  }
  if (name_len == 17 && strncasecmp(line, "transfer-encoding", name_len) == 0) {
    return bad(err, "the body is not framed by Content-Length");
  }
  if (name_len == 10 && strncasecmp(line, "connection", name_len) == 0) {
    reader->close = reader->close || list_holds(value, value_len, "close");
  }
  return true;
}

// `reader->head` holds everything up to and including the empty line.
static bool read_head(struct tg_response_reader *reader, struct tg_error *err) {
  bool length_seen = false;
  size_t start = 0;
  for (size_t number = 0;; number++) {
    const char *line = reader->head + start;
    const char *newline = memchr(line, '\n', reader->head_len - start);
    const size_t len = newline != NULL ? (size_t)(newline - line) : 0;
    if (newline == NULL || len == 0 || line[len - 1] != '\r') {
      return bad(err, "a line of the head does not end in CRLF");
    }
    if (len == 1) {
      break;
    }
    if (number == 0 ? !read_status_line(reader, line, len - 1, err)
                    : !read_field(reader, line, len - 1, &length_seen, err)) {
      return false;
    }
    start += len + 1;
  }
  if (start == 0) {
    return bad(err, "not an HTTP/1.1 status line");
  }
  if (!length_seen) {
    tg_error_set(err, "no Content-Length");
    return false;
  }
  return true;
}

static bool is_shedding(const struct tg_response_reader *reader) {
  json_t *body = json_loadb(reader->refusal, reader->body_len, JSON_REJECT_DUPLICATES, NULL);
  const char *code = json_string_value(json_object_get(body, "code"));
  const bool shedding = code != NULL && strcmp(code, "capacity-unavailable") == 0;
  json_decref(body);
  return shedding;
}

enum tg_response_state tg_response_reader_feed(struct tg_response_reader *reader, const char *bytes, size_t len,
                                               struct tg_error *err) {
  while (!reader->head_done && len > 0) {
    if (reader->head_len == TG_RESPONSE_HEAD_MAX) {
      tg_error_set(err, "a head of more than %d bytes", TG_RESPONSE_HEAD_MAX);
      return TG_RESPONSE_BAD;
    }
    reader->head[reader->head_len++] = *bytes++;
    len--;
    const char *end = reader->head + reader->head_len;
    if (reader->head_len >= 4 && memcmp(end - 4, "\r\n\r\n", 4) == 0) {
      if (!read_head(reader, err)) {
        return TG_RESPONSE_BAD;
      }
      reader->head_done = true;
    }
  }
  if (!reader->head_done) {
    return TG_RESPONSE_MORE;
  }
  const uint64_t left = reader->content_length - reader->body_len;
  if (len > left) {
    tg_error_set(err, "%" PRIu64 " bytes beyond the body of %" PRIu64, (uint64_t)len - left, reader->content_length);
    return TG_RESPONSE_BAD;
  }
  if (reader->refused) {
    memcpy(reader->refusal + reader->body_len, bytes, len);
  }
  reader->body_len += len;
  if (reader->body_len < reader->content_length) {
    return TG_RESPONSE_MORE;
  }
  if (!reader->refused) {
    return TG_RESPONSE_DONE;
  }
  if (!is_shedding(reader)) {
    tg_error_set(err, "the status is 503, without the code capacity-unavailable: no load shedding");
    return TG_RESPONSE_BAD;
  }
  return TG_RESPONSE_SHED;
}

void tg_response_reader_progress(const struct tg_response_reader *reader, char *out, size_t out_len) {
  if (reader->head_done) {
    (void)snprintf(out, out_len, "after %" PRIu64 " of %" PRIu64 " body bytes", reader->body_len,
                   reader->content_length);
  } else if (reader->head_len > 0) {
    (void)snprintf(out, out_len, "inside the head, after %zu bytes", reader->head_len);
  } else {
    (void)snprintf(out, out_len, "before the first byte");
  }
}
