// The kernel's count of ACKs that waited for their timer.
#ifndef TLSGATE_PERF_DIAGNOSE_DELAYED_ACKS_H
#define TLSGATE_PERF_DIAGNOSE_DELAYED_ACKS_H

#include <stdbool.h>
#include <stddef.h>

// tg_delayed_acks_parse finds TcpExt's DelayedACKs in the text of /proc/net/netstat: the names stand in one line, the
// values in the next. Returns -1 when it is not there.
double tg_delayed_acks_parse(const char *text);

// tg_delayed_acks_read is that of this network namespace now (proc(5)); -1 when it cannot be read.
double tg_delayed_acks_read(void);

#endif
