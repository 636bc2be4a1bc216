// A process with all that it has started, and all that those have.
#ifndef TLSGATE_FUZZ_SERVICE_TREE_H
#define TLSGATE_FUZZ_SERVICE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// The most processes of a tree that are looked at.
#define TG_TREE_MAX 256

// tg_tree_signal sends a signal to every process of the tree, the root first.
void tg_tree_signal(pid_t root, int signal);

// tg_tree_stop stops every process of the tree (SIGSTOP) and waits until all are stopped: one that runs can start
// others, and one of low priority on a busy host takes its time to stop. Gives up after TG_TREE_STOP_S and returns
// false then.
#define TG_TREE_STOP_S 10.0
bool tg_tree_stop(pid_t root);

// tg_tree_rss_kb returns the resident memory of the tree in KiB, what processes share counted once for each.
uint64_t tg_tree_rss_kb(pid_t root);

#endif
