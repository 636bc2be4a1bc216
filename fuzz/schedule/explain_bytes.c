#include "fuzz/schedule/explain_bytes.h"

#include "fuzz/schedule/duration.h"
#include "fuzz/schedule/explain_settings.h"
#include "fuzz/schedule/schedule.h"
#include "fuzz/schedule/wait.h"

#define HEADER        5u  // of a TLS record: type, version, length (RFC 8446, 5.1)
#define BYTES_PER_ROW 16u

static void explain_client(const struct tg_byte_input *input, bool plaintext, FILE *to) {
  static const char *const ends[] = {"stays", "half-closes", "closes its socket", "resets"};
  char duration[TG_DURATION_TEXT_MAX];
  (void)fprintf(to, "  client   %s, Nagle %s, sends %zu byte%s", plaintext ? "plain HTTP" : "TLS",
                input->nodelay ? "off" : "on", input->payload_len, input->payload_len == 1 ? "" : "s");
  if (input->cut > 0) {
    (void)fprintf(to, " in pieces of %u", input->cut);
    if (input->gap == TG_SCHEDULE_WAIT_REST) {
      (void)fputs(", each when all is at rest", to);
    } else if (input->gap > 0) {
      (void)fprintf(to, ", %s apart", tg_duration_format(tg_schedule_wait_ns(input->gap), " ", duration));
    }
  }
  (void)fprintf(to, "; then %s\n", ends[input->end]);
}

static const char *record_type(uint8_t type) {
  switch (type) {
    case 20:
      return "change_cipher_spec";
    case 21:
      return "alert";
    case 22:
      return "handshake";
    case 23:
      return "application_data";
    default:
      return "unknown type";
  }
}

static void explain_records(const uint8_t *bytes, size_t len, FILE *to) {
  size_t at = 0;
  while (len - at >= HEADER) {
    const size_t body = (size_t)(bytes[at + 3] << 8 | bytes[at + 4]);
    const size_t there = len - at - HEADER;
    (void)fprintf(to, "  record at %zu: %s (%u), version %u.%u, %zu bytes", at, record_type(bytes[at]), bytes[at],
                  bytes[at + 1], bytes[at + 2], body);
    if (body > there) {
      (void)fprintf(to, ", of which %zu come\n", there);
      return;
    }
    (void)fputc('\n', to);
    at += HEADER + body;
  }
  if (at < len) {
    (void)fprintf(to, "  at %zu: %zu byte%s of a header\n", at, len - at, len - at == 1 ? "" : "s");
  }
}

static void dump(const uint8_t *bytes, size_t len, FILE *to) {
  for (size_t row = 0; row < len; row += BYTES_PER_ROW) {
    (void)fprintf(to, "%6zu ", row);
    for (size_t i = row; i < row + BYTES_PER_ROW; i++) {
      (void)(i < len ? fprintf(to, " %02x", bytes[i]) : fputs("   ", to));
    }
    (void)fputs("  ", to);
    for (size_t i = row; i < row + BYTES_PER_ROW && i < len; i++) {
      (void)fputc(bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : '.', to);
    }
    (void)fputc('\n', to);
  }
}

void tg_byte_input_explain(const struct tg_byte_input *input, bool records, FILE *to) {
  tg_explain_settings(&input->settings, to);
  explain_client(input, input->plaintext && !records, to);
  if (records) {
    explain_records(input->payload, input->payload_len, to);
  }
  dump(input->payload, input->payload_len, to);
}
