// A JSON value written where the command line says.
#ifndef TLSGATE_HARNESS_CLIENT_JSON_FILE_H
#define TLSGATE_HARNESS_CLIENT_JSON_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/error.h"

// tg_json_write writes `json` and a newline to standard output if `path` is "-"; straight into `path` if that is there
// and no regular file (/dev/null); else to a file beside `path` which is then renamed, so that a reader never sees a
// part. Takes over the reference to `json`; NULL is reported as out of memory. Returns false with `err` filled in when
// it cannot be written.
bool tg_json_write(json_t *json, const char *path, struct tg_error *err);

#endif
