// The TLS context of the world's server: made anew for a run, or kept between runs.
#ifndef TLSGATE_FUZZ_WORLD_SERVER_TLS_H
#define TLSGATE_FUZZ_WORLD_SERVER_TLS_H

#include <stdbool.h>

#include "fuzz/schedule/schedule.h"
#include "harness/accept/tls_context.h"

// tg_server_tls_create returns a context as the settings say, or NULL when something fails.
struct tg_tls_context *tg_server_tls_create(const struct tg_schedule_settings *settings);

// A context that one run after another uses. Threads of a server share one; so do runs, as long as nothing of one is
// left to the next: certificates do not change, ticket keys and what an RSA key remembers are made anew.
struct tg_kept_tls;

// tg_kept_tls_get returns the one for the settings, borrowed. `*made` says that it is new: libraries have yet to
// allocate what they keep in it. To be called outside the kernel. Aborts when out of memory.
struct tg_kept_tls *tg_kept_tls_get(const struct tg_schedule_settings *settings, bool *made);

// tg_kept_tls_begin returns the context as it is when tg_server_tls_create has made it: it takes as much randomness,
// and looks at the clock as often. To be called where that would be.
struct tg_tls_context *tg_kept_tls_begin(struct tg_kept_tls *kept);

// tg_kept_tls_end drops what the run has left in it. To be called outside the kernel, before leaks are looked for.
void tg_kept_tls_end(struct tg_kept_tls *kept);

#endif
