// Values of command-line options, read strictly.
#ifndef TLSGATE_HARNESS_CLIENT_OPTION_VALUES_H
#define TLSGATE_HARNESS_CLIENT_OPTION_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"

// tg_option_number reads a plain decimal number of at most 18 digits. Returns false with `err` naming the option, the
// value and the range if it is anything else or not from `least` to `most`.
bool tg_option_number(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *out,
                      struct tg_error *err);

// tg_option_u32 is tg_option_number for a `most` of at most UINT32_MAX.
bool tg_option_u32(const char *option, const char *text, uint32_t least, uint32_t most, uint32_t *out,
                   struct tg_error *err);

// tg_option_tls reads a protocol version: "1.2", "1.3", and "any" (0 in `out`) if `allow_any`; the value is
// TLS1_2_VERSION or TLS1_3_VERSION.
bool tg_option_tls(const char *text, bool allow_any, uint16_t *out, struct tg_error *err);

#endif
