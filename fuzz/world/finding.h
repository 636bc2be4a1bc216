// A finding: a property that does not hold, told so that a person understands it from the output alone.
#ifndef TLSGATE_FUZZ_WORLD_FINDING_H
#define TLSGATE_FUZZ_WORLD_FINDING_H

#include <stdbool.h>

#include "harness/kernel/kernel.h"

// TG_NO_CLIENT: the finding is about no one connection.
#define TG_NO_CLIENT (-1)

// tg_finding prints
//
//     property P5 broken at +0.083214 s, client 0, phase OPEN: 120 bytes of a request waited 40.1 ms for an ACK
//     trace, the last lines:
//     ...
//
// on stderr and aborts. `property` is P1 to P11. `phase` may be NULL.
__attribute__((noreturn, format(printf, 5, 6))) void tg_finding(struct tg_kernel *kernel, const char *property,
                                                                int client, const char *phase, const char *format, ...);

// tg_finding_set_retell: where the trace is silent there are no last lines to print, so tg_finding calls `with_trace`,
// once, which does the run again with them. NULL: nobody can, the trace is printed as it is.
void tg_finding_set_retell(void (*with_trace)(void));

#endif
