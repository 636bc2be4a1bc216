// Which planted fault is in force. For the files of faulty_server alone.
#ifndef TLSGATE_PERF_TESTING_ACTIVE_H
#define TLSGATE_PERF_TESTING_ACTIVE_H

#include <stdbool.h>

// tg_fault_is says whether TLSGATE_FAULT named this one.
bool tg_fault_is(const char *name);

#endif
