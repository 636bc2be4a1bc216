// An exchange: a schedule as text, with a line in its comments that says which corpora it is for:
//
//     # corpora: accept_schedule handshake_bytes
//
// Exchanges named failure_malloc_* and failure_start_malloc_* make the n-th allocation from a step on fail (`inject
// malloc:ENOMEM`, n being skip + 8 * times). Which one that is, is the matter of the BoringSSL that is built: with
// another it may be a neighbour, or none. Such an exchange is recorded and judged all the same, since the world excuses
// whatever the failure costs; what may be lost is a line that only one of them reaches. `bazel run //fuzz:stats --
// --only coverage` names it then, and the number is to be chosen anew: it is how often tg_inject
// (harness/kernel/inject.c) is called for TG_CALL_MALLOC between tg_kernel_inject and the function that allocates,
// which a debugger counts.
#ifndef TLSGATE_FUZZ_RECORD_EXCHANGE_H
#define TLSGATE_FUZZ_RECORD_EXCHANGE_H

#include <stdbool.h>

#include "fuzz/schedule/schedule.h"
#include "harness/base/error.h"

// Targets with recorded seeds. For the first three a seed is the schedule; for the others it is what a client sent.
#define TG_RECORD_TARGETS(X)                \
  X(ACCEPT_SCHEDULE, "accept_schedule")     \
  X(TEARDOWN_SCHEDULE, "teardown_schedule") \
  X(EXHAUSTION, "exhaustion")               \
  X(HANDSHAKE_BYTES, "handshake_bytes")     \
  X(REQUEST_BYTES, "request_bytes")

enum tg_record_target {
#define TG_RECORD_ENUM(name, text) TG_RECORD_##name,
  TG_RECORD_TARGETS(TG_RECORD_ENUM)
#undef TG_RECORD_ENUM
      TG_RECORD_TARGETS_COUNT
};

// tg_record_target_name returns the target's name, which is that of its folder in corpora.
const char *tg_record_target_name(enum tg_record_target target);

#define TG_EXCHANGE_NAME_MAX 64

struct tg_exchange {
  char name[TG_EXCHANGE_NAME_MAX];  // of the file, without .txt
  unsigned corpora;                 // a bit for each target
  struct tg_schedule schedule;
};

// tg_exchange_read reads the file `path`, whose name must end in .txt. Returns false with `err` filled in, which names
// the file, the line where there is one, and the remedy.
bool tg_exchange_read(const char *path, struct tg_exchange *out, struct tg_error *err);

#endif
