// What a target has done beside executions, told when the process ends.
#ifndef TLSGATE_FUZZ_BASE_COUNT_H
#define TLSGATE_FUZZ_BASE_COUNT_H

#include <stdint.h>

// Set in the environment, it has the count printed at exit.
#define TG_FUZZ_COUNT_ENV "TLSGATE_FUZZ_COUNT"

// How the line begins, on standard error, like libFuzzer's own: "stat::handshakes: 1234".
#define TG_FUZZ_COUNT_LINE "stat::handshakes: "

// tg_fuzz_count_handshakes adds `num` completed handshakes.
void tg_fuzz_count_handshakes(uint64_t num);

#endif
