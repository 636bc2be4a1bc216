// The input of a raw-byte target in words.
#ifndef TLSGATE_FUZZ_SCHEDULE_EXPLAIN_BYTES_H
#define TLSGATE_FUZZ_SCHEDULE_EXPLAIN_BYTES_H

#include <stdbool.h>
#include <stdio.h>

#include "fuzz/schedule/prefix.h"

// tg_byte_input_explain writes the settings, how the client sends and ends, then the payload in hexadecimal. `records`:
// the payload is TLS records (handshake_bytes), and their headers come first.
void tg_byte_input_explain(const struct tg_byte_input *input, bool records, FILE *to);

#endif
