// One fuzzd for a folder.
#ifndef TLSGATE_FUZZ_SERVICE_INSTANCE_H
#define TLSGATE_FUZZ_SERVICE_INSTANCE_H

#include "harness/base/error.h"

// How long the processes of a fuzzd that was killed are waited for.
#define TG_INSTANCE_WAIT_S 15.0

// tg_instance_lock takes DIR/lock. The descriptor is inherited by all that fuzzd starts, so that the folder is free
// only when the last of it is gone. If nobody but those holds it, they are waited for. Returns the descriptor, or -1
// with `err` filled in: which process has the folder.
int tg_instance_lock(const char *root, struct tg_error *err);

#endif
