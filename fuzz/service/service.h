// fuzzd itself: gives work to jobs, keeps the state, writes the page.
#ifndef TLSGATE_FUZZ_SERVICE_SERVICE_H
#define TLSGATE_FUZZ_SERVICE_SERVICE_H

#include "fuzz/service/options.h"

// A folder with measure.lock and build.lock, to be used instead of the host's (perf/host/lock.h). For tests.
#define TG_FUZZD_LOCKS_ENV "TLSGATE_FUZZD_LOCKS"

// tg_fuzzd_run works until SIGTERM, SIGINT or SIGHUP, or until the hours are over. Returns the exit status: 0, 1 if it
// cannot go on, 2 if it cannot begin.
int tg_fuzzd_run(const struct tg_fuzzd_options *options);

#endif
