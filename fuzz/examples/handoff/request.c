#include "fuzz/examples/handoff/request.h"

#include <string.h>
#include <strings.h>

// Longest body that /filler/ gives, in bytes.
#define FILLER_MAX (UINT64_C(4) << 20)

static const char kHello[] = "handed over\n";

size_t request_end(const char *data, size_t len) {
  const char *end = memmem(data, len, "\r\n\r\n", 4);
  return end == NULL ? 0 : (size_t)(end - data) + 4;
}

const char *request_reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Bad Request";
  }
}

static struct answer plain(int status, const char *text) {
  return (struct answer){.status = status, .text = text, .body_len = strlen(text)};
}

struct answer request_refusal(int status) {
  struct answer answer = plain(status, "refused\n");
  answer.last = true;
  return answer;
}

// A decimal number of at most 18 digits that takes all of the text.
static bool number_of(const char *text, size_t len, uint64_t *out) {
  *out = 0;
  for (size_t i = 0; i < len; i++) {
    if (text[i] < '0' || text[i] > '9') {
      return false;
    }
    *out = *out * 10 + (uint64_t)(text[i] - '0');
  }
  return len > 0 && len <= 18;
}

struct fields {
  bool bad;
  bool close;
  bool has_length;
  uint64_t length;
};

static bool is_name(const char *line, size_t len, const char *name) {
  return len == strlen(name) && strncasecmp(line, name, len) == 0;
}

static void read_field(const char *line, size_t len, struct fields *out) {
  const char *colon = memchr(line, ':', len);
  if (colon == NULL || colon == line || memchr(line, '\0', len) != NULL) {
    out->bad = true;
    return;
  }
  const size_t name_len = (size_t)(colon - line);
  const char *value = colon + 1;
  size_t value_len = len - name_len - 1;
  while (value_len > 0 && (*value == ' ' || *value == '\t')) {
    value++;
    value_len--;
  }
  if (is_name(line, name_len, "Content-Length")) {
    // Two of them are two opinions on where the next request begins.
    out->bad = out->bad || out->has_length || !number_of(value, value_len, &out->length);
    out->has_length = true;
  } else if (is_name(line, name_len, "Connection")) {
    out->close = out->close || is_name(value, value_len, "close");
  } else if (is_name(line, name_len, "Transfer-Encoding")) {
    // Not understood, and so no one knows where the body ends.
    out->bad = true;
  }
}

static struct fields read_fields(const char *at, size_t len) {
  struct fields fields = {false};
  // The empty line is the end.
  while (!fields.bad && len > 2) {
    const char *end = memmem(at, len, "\r\n", 2);
    const size_t line_len = (size_t)(end - at);
    read_field(at, line_len, &fields);
    at += line_len + 2;
    len -= line_len + 2;
  }
  return fields;
}

static bool takes(const char **at, size_t *len, const char *text) {
  const size_t text_len = strlen(text);
  if (*len < text_len || memcmp(*at, text, text_len) != 0) {
    return false;
  }
  *at += text_len;
  *len -= text_len;
  return true;
}

static struct answer route(const char *path, size_t len, bool posts) {
  static const char kFiller[] = "/filler/";
  const size_t prefix = sizeof(kFiller) - 1;
  uint64_t wanted;
  if (posts) {
    return len == 5 && memcmp(path, "/sink", 5) == 0 ? plain(200, "taken\n") : plain(404, "nothing here\n");
  }
  if (len == 6 && memcmp(path, "/hello", 6) == 0) {
    return plain(200, kHello);
  }
  if (len > prefix && memcmp(path, kFiller, prefix) == 0 && number_of(path + prefix, len - prefix, &wanted) &&
      wanted <= FILLER_MAX) {
    return (struct answer){.status = 200, .body_len = wanted};
  }
  return plain(404, "nothing here\n");
}

struct answer request_answer(const char *head, size_t len, uint64_t max_body) {
  const char *at = head;
  size_t left = (size_t)((const char *)memmem(head, len, "\r\n", 2) - head);
  const char *fields_at = head + left + 2;
  const bool posts = takes(&at, &left, "POST ");
  const bool head_only = !posts && takes(&at, &left, "HEAD ");
  const char *space = posts || head_only || takes(&at, &left, "GET ") ? memchr(at, ' ', left) : NULL;
  if (space == NULL || space == at || memchr(at, '\0', left) != NULL) {
    return request_refusal(400);
  }
  const char *path = at;
  const size_t path_len = (size_t)(space - at);
  left -= path_len + 1;
  at = space + 1;
  const bool old = left == 8 && memcmp(at, "HTTP/1.0", 8) == 0;
  if (!old && (left != 8 || memcmp(at, "HTTP/1.1", 8) != 0)) {
    return request_refusal(400);
  }
  const struct fields fields = read_fields(fields_at, len - (size_t)(fields_at - head));
  if (fields.bad) {
    return request_refusal(400);
  }
  if (fields.length > max_body) {
    return request_refusal(413);
  }
  struct answer answer = route(path, path_len, posts);
  answer.head_only = head_only;
  answer.last = old || fields.close;
  answer.unread = fields.length;
  return answer;
}
