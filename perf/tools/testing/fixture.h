// Captured tool outputs for the parsers' tests.
#ifndef TLSGATE_PERF_TOOLS_TESTING_FIXTURE_H
#define TLSGATE_PERF_TOOLS_TESTING_FIXTURE_H

#include <stddef.h>

#include "perf/tools/lines.h"

// tg_fixture_load reads perf/tools/testdata/`name` whole, or fails the cmocka test. The bytes are in an allocation of
// their exact length, so that ASan sees a read beyond them. Freed with tg_fixture_free.
struct tg_text tg_fixture_load(const char *name);

// tg_fixture_copy is the first `len` bytes of `text` in an allocation of exactly that length.
struct tg_text tg_fixture_copy(struct tg_text text, size_t len);

void tg_fixture_free(struct tg_text text);

#endif
