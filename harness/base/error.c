#include "harness/base/error.h"

#include <openssl/err.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void format_text(struct tg_error *err, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

static void format_text(struct tg_error *err, const char *format, va_list args) {
  vsnprintf(err->text, sizeof(err->text), format, args);
  // One line that is safe to print, whatever a file name or a library's message holds.
  for (char *at = err->text; *at != '\0'; at++) {
    if ((unsigned char)*at < ' ' || *at == 0x7f) {
      *at = ' ';
    }
  }
}

void tg_error_set(struct tg_error *err, const char *format, ...) {
  if (err == NULL) {
    return;
  }
  va_list args;
  va_start(args, format);
  format_text(err, format, args);
  va_end(args);
}

void tg_error_set_tls(struct tg_error *err, const char *format, ...) {
  uint32_t code = ERR_get_error();
  ERR_clear_error();
  if (err == NULL) {
    return;
  }
  va_list args;
  va_start(args, format);
  format_text(err, format, args);
  va_end(args);
  const char *reason = code == 0 ? NULL : ERR_reason_error_string(code);
  if (reason != NULL) {
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof(err->text) - used, ": %s", reason);
  }
}
