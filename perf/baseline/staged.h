// Replacing a file that must never be half a file, and never be the work of two writers.
//
// A writer first reserves FILE.staged, which only one can (O_EXCL), then reads FILE, writes FILE.staged, reads it back,
// and renames it over FILE. So whoever works from what FILE said knows that nobody changed it meanwhile. A writer that
// was killed leaves FILE.staged behind, and all others refuse until a person has removed it. It is locked (flock(2))
// while its writer lives, and holds the writer's process id until it holds the new file, so that the refusal can say
// what to look for.
#ifndef TLSGATE_PERF_BASELINE_STAGED_H
#define TLSGATE_PERF_BASELINE_STAGED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

struct tg_staged {
  int fd;
  char file[PATH_MAX];
  char staged[PATH_MAX];
};

// tg_staged_reserve reserves `file`. Returns false with `err` filled in if it cannot be had; a leftover is named, with
// how to be sure that the other writer has stopped. On true, tg_staged_publish or tg_staged_abandon must follow.
bool tg_staged_reserve(struct tg_staged *out, const char *file, struct tg_error *err);

// tg_staged_publish writes `len` bytes, has `validate` read the file back, and renames it. `validate` gets the path and
// `context`, and says whether that is the file that was meant. Returns false with `err` filled in, the old file
// untouched and nothing left beside it.
bool tg_staged_publish(struct tg_staged *staged, const char *text, size_t len,
                       bool (*validate)(const char *path, void *context, struct tg_error *err), void *context,
                       struct tg_error *err);

// tg_staged_abandon gives the reservation back; the file is untouched.
void tg_staged_abandon(struct tg_staged *staged);

#endif
