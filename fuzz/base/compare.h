// Which inputs are run twice, to compare the outcomes (P7).
#ifndef TLSGATE_FUZZ_BASE_COMPARE_H
#define TLSGATE_FUZZ_BASE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// tg_fuzz_compares says whether an input is to be compared with itself under another schedule. Every one is, unless the
// environment variable TLSGATE_COMPARE is "some": then one in four, by a hash of its bytes. The launcher sets that when
// it fuzzes, where a second run costs as much as a new input; replays compare always.
bool tg_fuzz_compares(const uint8_t *data, size_t size);

#endif
