#include "perf/tools/lines.h"

#include <string.h>

bool tg_text_next_line(struct tg_text text, size_t *offset, struct tg_line *out) {
  if (*offset >= text.len) {
    return false;
  }
  const char *start = text.bytes + *offset;
  const char *newline = memchr(start, '\n', text.len - *offset);
  if (newline == NULL) {
    return false;
  }
  out->bytes = start;
  out->len = (size_t)(newline - start);
  out->number++;
  *offset += out->len + 1;
  return true;
}

size_t tg_line_find(struct tg_text text, const char *prefix, struct tg_line *out) {
  const size_t prefix_len = strlen(prefix);
  struct tg_line line = {NULL, 0, 0};
  size_t offset = 0;
  size_t found = 0;
  while (tg_text_next_line(text, &offset, &line)) {
    if (line.len >= prefix_len && memcmp(line.bytes, prefix, prefix_len) == 0) {
      if (found == 0) {
        *out = line;
      }
      found++;
    }
  }
  return found;
}

const char *tg_line_show(const struct tg_line *line, char out[TG_LINE_SHOWN_MAX]) {
  size_t len = 0;
  for (; len < line->len && len < TG_LINE_SHOWN_MAX - 1; len++) {
    const unsigned char byte = (unsigned char)line->bytes[len];
    out[len] = (char)(byte < ' ' || byte == 0x7f ? '?' : byte);
  }
  out[len] = '\0';
  return out;
}

struct tg_scan tg_scan_line(const struct tg_line *line) {
  return (struct tg_scan){line->bytes, line->bytes + line->len, true};
}

static size_t skip_spaces(struct tg_scan *scan) {
  size_t skipped = 0;
  while (scan->at < scan->end && *scan->at == ' ') {
    scan->at++;
    skipped++;
  }
  return skipped;
}

void tg_scan_text(struct tg_scan *scan, const char *text) {
  for (; scan->ok && *text != '\0'; text++) {
    if (*text == ' ') {
      scan->ok = skip_spaces(scan) > 0;
      text += strspn(text, " ") - 1;
    } else if (scan->at < scan->end && *scan->at == *text) {
      scan->at++;
    } else {
      scan->ok = false;
    }
  }
}

void tg_scan_count(struct tg_scan *scan, uint64_t *out) {
  uint64_t value = 0;
  const char *start = scan->at;
  while (scan->ok && scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
    const uint64_t digit = (uint64_t)(*scan->at - '0');
    if (value > (UINT64_MAX - digit) / 10) {
      scan->ok = false;
      return;
    }
    value = value * 10 + digit;
    scan->at++;
  }
  if (scan->at == start) {
    scan->ok = false;
  }
  if (scan->ok) {
    *out = value;
  }
}

static void advance(struct tg_scan *scan, size_t used) {
  scan->ok = used > 0;
  scan->at += used;
}

void tg_scan_decimal(struct tg_scan *scan, double *out) {
  if (scan->ok) {
    advance(scan, tg_decimal_parse(scan->at, (size_t)(scan->end - scan->at), out));
  }
}

void tg_scan_quantity(struct tg_scan *scan, enum tg_unit kind, double *out) {
  if (scan->ok) {
    advance(scan, tg_quantity_parse(kind, scan->at, (size_t)(scan->end - scan->at), out));
  }
}

bool tg_scan_end(struct tg_scan *scan) {
  (void)skip_spaces(scan);
  scan->ok = scan->ok && scan->at == scan->end;
  return scan->ok;
}
