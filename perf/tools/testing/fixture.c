#include "perf/tools/testing/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct tg_text tg_fixture_copy(struct tg_text text, size_t len) {
  assert_true(len <= text.len);
  char *bytes = malloc(len > 0 ? len : 1);
  assert_non_null(bytes);
  if (len > 0) {
    memcpy(bytes, text.bytes, len);
  }
  return (struct tg_text){bytes, len};
}

struct tg_text tg_fixture_load(const char *name) {
  char path[256];
  (void)snprintf(path, sizeof(path), "perf/tools/testdata/%s", name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    fail_msg("cannot open %s", path);
  }
  static char buffer[64 * 1024];
  const size_t len = fread(buffer, 1, sizeof(buffer), file);
  (void)fclose(file);
  assert_true(len < sizeof(buffer));
  return tg_fixture_copy((struct tg_text){buffer, len}, len);
}

void tg_fixture_free(struct tg_text text) {
  free((void *)(uintptr_t)text.bytes);
}
