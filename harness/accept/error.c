#include "harness/accept/error.h"

#include <openssl/err.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tg_error_set(struct tg_error *err, const char *format, ...) {
  if (err == NULL) {
    return;
  }
  va_list args;
  va_start(args, format);
  (void)vsnprintf(err->text, sizeof(err->text), format, args);
  va_end(args);
}

void tg_error_set_tls(struct tg_error *err, const char *format, ...) {
  uint32_t reason = ERR_get_error();
  ERR_clear_error();
  if (err == NULL) {
    return;
  }
  va_list args;
  va_start(args, format);
  (void)vsnprintf(err->text, sizeof(err->text), format, args);
  va_end(args);
  size_t len = strlen(err->text);
  const char *words = reason == 0 ? NULL : ERR_reason_error_string(reason);
  (void)snprintf(err->text + len, sizeof(err->text) - len, ": %s", words != NULL ? words : "no reason given");
}
