// X.dict: tokens for both engines.
#ifndef TLSGATE_FUZZ_OSS_FUZZ_CHECK_DICTIONARY_H
#define TLSGATE_FUZZ_OSS_FUZZ_CHECK_DICTIONARY_H

#include <stdbool.h>

#include "harness/base/error.h"

// The longest token that AFL++ takes (MAX_DICT_FILE in its config.h), in bytes.
#define TG_DICTIONARY_TOKEN_MAX 128

// tg_dictionary_check reads a file of lines [name[@level]=]"token", blank lines and comments (#); a token has printable
// characters and the escapes \\, \" and \xAB. Returns false with `err` naming the line that is none of these, or when
// there is no token.
bool tg_dictionary_check(const char *path, struct tg_error *err);

#endif
