#include "harness/client/option_values.h"

#include <inttypes.h>
#include <openssl/ssl.h>
#include <string.h>

bool tg_option_number(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *out,
                      struct tg_error *err) {
  uint64_t value = 0;
  bool ok = *text != '\0' && strlen(text) <= 18;
  for (const char *at = text; ok && *at != '\0'; at++) {
    ok = *at >= '0' && *at <= '9';
    value = value * 10 + (uint64_t)(*at - '0');
  }
  if (!ok || value < least || value > most) {
    tg_error_set(err, "--%s %.100s: give a number from %" PRIu64 " to %" PRIu64, option, text, least, most);
    return false;
  }
  *out = value;
  return true;
}

bool tg_option_u32(const char *option, const char *text, uint32_t least, uint32_t most, uint32_t *out,
                   struct tg_error *err) {
  uint64_t value = 0;
  const bool ok = tg_option_number(option, text, least, most, &value, err);
  *out = (uint32_t)value;
  return ok;
}

bool tg_option_tls(const char *text, bool allow_any, uint16_t *out, struct tg_error *err) {
  if (strcmp(text, "1.2") == 0) {
    *out = TLS1_2_VERSION;
  } else if (strcmp(text, "1.3") == 0) {
    *out = TLS1_3_VERSION;
  } else if (strcmp(text, "any") == 0 && allow_any) {
    *out = 0;
  } else {
    tg_error_set(err, "--tls %.100s: give %s", text, allow_any ? "1.2, 1.3 or any" : "1.2 or 1.3");
    return false;
  }
  return true;
}
