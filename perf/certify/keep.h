// What a part's verdict rests on, and whether it still does: inputs, programs, raw files. For the runner alone.
#ifndef TLSGATE_PERF_CERTIFY_KEEP_H
#define TLSGATE_PERF_CERTIFY_KEEP_H

#include <limits.h>

#include "perf/certify/runner.h"

// tg_keep_folder writes the absolute path of the raw files of a part's last attempt. Returns false with `err` filled in
// when there is none.
bool tg_keep_folder(const struct tg_certify *certify, const json_t *value, const char *part, char out[PATH_MAX],
                    struct tg_error *err);

// tg_keep_inputs returns a new object: each input of the part -> its object id in the commit, or null. NULL with `err`.
json_t *tg_keep_inputs(const struct tg_source *source, const struct tg_part *part, struct tg_error *err);

// tg_keep_binaries returns a new object: each program that the part runs -> its SHA-256. NULL with `err`.
json_t *tg_keep_binaries(const struct tg_part_run *run, struct tg_error *err);

// tg_keep_source_is_same says whether the tree is still clean and at the commit.
bool tg_keep_source_is_same(const struct tg_source *source, struct tg_error *err);

// tg_keep_judge draws a part's verdict from its raw files, or from those of the part that it judges. `folder` is its
// own. Returns false with `err` filled in when they are not what a whole run leaves.
bool tg_keep_judge(const struct tg_certify *certify, const json_t *value, const struct tg_part *part,
                   const char *folder, struct tg_part_verdict *out, struct tg_error *err);

// tg_keep_part says whether the last attempt of a part stands: it came to a verdict other than fail, and everything
// that it rests on is as recorded. If not, `why` says what is not.
bool tg_keep_part(const struct tg_certify *certify, const json_t *value, size_t index, struct tg_error *why);

// tg_keep_passed says whether the last attempt of a part passed.
bool tg_keep_passed(const json_t *value, size_t index);

#endif
