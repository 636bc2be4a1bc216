// What cannot be served is refused: servers with impossible settings, one of which a schedule may ask for.
#ifndef TLSGATE_FUZZ_WORLD_REFUSED_H
#define TLSGATE_FUZZ_WORLD_REFUSED_H

#include "fuzz/schedule/schedule.h"
#include "harness/kernel/kernel.h"

// tg_world_refuse asks the accept path for the server that `refused` stands for; for none with TG_REFUSAL_NOTHING. A
// finding (finding.h), and abort, when it is made, is refused without a word, or leaves a descriptor or memory behind
// (P1). To be called outside the kernel, when the libraries have allocated what they keep and no call is to fail;
// descriptors are plenty afterwards.
void tg_world_refuse(struct tg_kernel *kernel, enum tg_schedule_refusal refused);

#endif
