// What cannot be served is refused: no schedule can ask for it, so each process that has a world asks once.
#ifndef TLSGATE_FUZZ_WORLD_REFUSALS_H
#define TLSGATE_FUZZ_WORLD_REFUSALS_H

#include "harness/kernel/kernel.h"

// tg_world_refuse asks the accept path for servers with impossible settings. A finding (finding.h), and abort, when one
// is made, is refused without a word, or leaves a descriptor or memory behind (P1). To be called outside the kernel,
// when the libraries have allocated what they keep.
void tg_world_refuse(struct tg_kernel *kernel);

#endif
