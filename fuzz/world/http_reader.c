#include "fuzz/world/http_reader.h"

#include <stdlib.h>
#include <string.h>

uint64_t tg_hash(uint64_t hash, const void *data, size_t len) {
  const uint8_t *bytes = data;
  for (size_t i = 0; i < len; i++) {
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

void tg_http_reader_init(struct tg_http_reader *reader) {
  memset(reader, 0, sizeof(*reader));
  reader->hash = TG_HASH_START;
}

bool tg_http_reader_within(const struct tg_http_reader *reader) {
  return reader->in_body || reader->head_len > 0;
}

void tg_http_reader_hash_raw(struct tg_http_reader *reader, const uint8_t *data, size_t len) {
  static const char kField[] = "\r\nDate: ";
  static const uint32_t kFieldLen = sizeof(kField) - 1;
  // RFC 9110, 5.6.7: an IMF-fixdate.
  static const uint32_t kValueLen = sizeof("Sun, 06 Nov 1994 08:49:37 GMT") - 1;
  for (size_t i = 0; i < len; i++) {
    if (reader->date_at >= kFieldLen && reader->date_at < kFieldLen + kValueLen) {
      reader->date_at++;
      continue;
    }
    if (reader->date_at >= kFieldLen || data[i] != (uint8_t)kField[reader->date_at]) {
      reader->date_at = 0;
    }
    reader->date_at += data[i] == (uint8_t)kField[reader->date_at];
    reader->hash = tg_hash(reader->hash, &data[i], 1);
  }
}

static bool wrong(struct tg_http_reader *reader, const char *what) {
  reader->wrong = what;
  return false;
}

static bool has_field(const char *head, const char *line) {
  return strcasestr(head, line) != NULL;
}

static bool end_response(struct tg_http_reader *reader, struct tg_http_script *script) {
  reader->in_body = false;
  reader->responses++;
  reader->shed += reader->status == 503;
  if (tg_http_script_next(script) != NULL) {
    tg_http_script_done(script);
  }
  if (reader->closes) {
    // What else was asked for is not answered.
    script->ended = true;
    script->count = 0;
  }
  return true;
}

static bool take_head(struct tg_http_reader *reader, struct tg_http_script *script, bool may_shed) {
  const char *head = reader->head;
  if (strncmp(head, "HTTP/1.1 ", 9) != 0) {
    return wrong(reader, "a response does not begin with HTTP/1.1");
  }
  reader->status = atoi(head + 9);
  const struct tg_http_owed *owed = tg_http_script_next(script);
  if (owed == NULL) {
    return wrong(reader, "a response that nobody asked for");
  }
  if (reader->status == 100) {
    return owed->interim ? true : wrong(reader, "100 (Continue) that nobody asked for");
  }
  bool shed = reader->status == 503 && may_shed;
  if (reader->status != owed->status && !shed) {
    return wrong(reader, "a response of another status than is owed");
  }
  const char *length = strcasestr(head, "\r\nContent-Length: ");
  if (length == NULL) {
    return wrong(reader, "a response without Content-Length");
  }
  reader->body_len = strtoull(length + strlen("\r\nContent-Length: "), NULL, 10);
  if (!shed && !owed->any_body && reader->body_len != owed->body_len) {
    return wrong(reader, "a response of another length than is owed");
  }
  reader->closes = has_field(head, "\r\nConnection: close\r\n");
  if (owed->last && !reader->closes) {
    return wrong(reader, "the last response does not say that the connection ends");
  }
  reader->hash = tg_hash(reader->hash, &reader->status, sizeof(reader->status));
  reader->hash = tg_hash(reader->hash, &reader->body_len, sizeof(reader->body_len));
  reader->body_at = 0;
  reader->in_body = !owed->head && reader->body_len > 0;
  return reader->in_body ? true : end_response(reader, script);
}

// Whether the bytes are what is owed from `at` on.
static bool as_owed(const struct tg_http_owed *owed, uint64_t at, const uint8_t *data, size_t len) {
  static const char kFiller[] = TG_HTTP_FILLER;
  if (!owed->filler) {
    return memcmp(data, owed->text + at, len) == 0;
  }
  while (len > 0) {
    size_t from = (size_t)(at % 64);
    size_t part = len < 64 - from ? len : 64 - from;
    if (memcmp(data, kFiller + from, part) != 0) {
      return false;
    }
    at += part;
    data += part;
    len -= part;
  }
  return true;
}

static bool take_body(struct tg_http_reader *reader, struct tg_http_script *script, const uint8_t *data, size_t len) {
  const struct tg_http_owed *owed = tg_http_script_next(script);
  bool shed = owed == NULL || reader->status != owed->status;
  if (shed || owed->any_body || owed->any_text) {
    reader->hash = tg_hash(reader->hash, data, len);
  } else if (!as_owed(owed, reader->body_at, data, len)) {
    return wrong(reader, "a byte of a body is not the one that is owed");
  }
  reader->body_at += len;
  return reader->body_at < reader->body_len ? true : end_response(reader, script);
}

bool tg_http_reader_feed(struct tg_http_reader *reader, struct tg_http_script *script, bool may_shed,
                         const uint8_t *data, size_t len) {
  while (len > 0) {
    if (reader->in_body) {
      uint64_t left = reader->body_len - reader->body_at;
      size_t part = left < len ? (size_t)left : len;
      if (!take_body(reader, script, data, part)) {
        return false;
      }
      data += part;
      len -= part;
      continue;
    }
    if (reader->head_len == TG_HTTP_READER_HEAD_MAX - 1) {
      return wrong(reader, "a response's head does not end");
    }
    reader->head[reader->head_len++] = (char)*data++;
    len--;
    if (reader->head_len >= 4 && memcmp(reader->head + reader->head_len - 4, "\r\n\r\n", 4) == 0) {
      reader->head[reader->head_len] = '\0';
      reader->head_len = 0;
      if (!take_head(reader, script, may_shed)) {
        return false;
      }
    }
  }
  return true;
}
