#include "perf/tools/tool_error.h"

#include <stdarg.h>
#include <stdio.h>

void tg_tool_error_set(struct tg_tool_error *err, const char *format, ...) {
  va_list args;
  va_start(args, format);
  (void)vsnprintf(err->text, sizeof(err->text), format, args);
  va_end(args);
  for (char *at = err->text; *at != '\0'; at++) {
    const unsigned char byte = (unsigned char)*at;
    if (byte < ' ' || byte == 0x7f) {
      *at = '?';
    }
  }
}
