// What a task has left that was ended before it was done, by kill -9 or by the machine.
#ifndef TLSGATE_FUZZ_SERVICE_RECOVER_H
#define TLSGATE_FUZZ_SERVICE_RECOVER_H

#include <limits.h>
#include <stdbool.h>

#include "harness/base/error.h"

// tg_fuzzd_recover sees to DIR/tasks of one target: inputs with findings that AFL++ kept in its own folder go into
// DIR/incoming, the inputs that it added to its queue into the corpus (which the next prune makes small), and a corpus
// that a prune was about to replace is put back. Then the folders are removed. It can be ended and done again. Returns
// false with `err` filled in, and what could not be kept elsewhere stays.
bool tg_fuzzd_recover(const char *root, const char *target, struct tg_error *err);

// tg_fuzzd_work writes the folder of a task, "DIR/tasks/TARGET-TASK".
void tg_fuzzd_work(char out[PATH_MAX], const char *root, const char *target, const char *task);

extern const char *const tg_fuzzd_tasks[];
extern const int tg_fuzzd_num_tasks;

#endif
