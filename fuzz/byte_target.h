// What the two targets that are driven by raw bytes have in common.
#ifndef TLSGATE_FUZZ_BYTE_TARGET_H
#define TLSGATE_FUZZ_BYTE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// tg_byte_target_run sends the bytes as the prefix says and once more in another cut, which must come to the same (P7).
// `raw`: to the TLS port as they are, not inside an established connection.
void tg_byte_target_run(const uint8_t *data, size_t size, bool raw);

#endif
