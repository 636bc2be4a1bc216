// Taking connections from a listener, and leaving it alone while there are no descriptors or memory to take them with.
#ifndef TLSGATE_HARNESS_ACCEPT_ACCEPTOR_H
#define TLSGATE_HARNESS_ACCEPT_ACCEPTOR_H

#include <stdbool.h>

#include "harness/accept/shard_state.h"

// tg_acceptor_watch sets TCP_NODELAY on the listener, for the sockets accepted from it, and makes epoll report it.
// Returns false if the kernel refuses.
bool tg_acceptor_watch(struct tg_shard *shard, struct tg_acceptor *acceptor);

// tg_acceptor_take accepts what waits, up to a bound (the rest is reported again), and runs each connection once.
void tg_acceptor_take(struct tg_shard *shard, struct tg_acceptor *acceptor);

// tg_acceptor_resume watches a paused listener again if a connection was closed in this turn or its time has come.
void tg_acceptor_resume(struct tg_shard *shard, struct tg_acceptor *acceptor);

// tg_acceptor_close closes the listener, if there is one.
void tg_acceptor_close(struct tg_acceptor *acceptor);

#endif
