// The source tree that a baseline is recorded in.
#ifndef TLSGATE_PERF_BASELINE_TREE_H
#define TLSGATE_PERF_BASELINE_TREE_H

#include <stdbool.h>

#include "harness/base/error.h"

// tg_tree_clean_commit writes the commit of the tree at `workspace` to `out`. Returns false with `err` filled in when
// git cannot tell, or when the tree is not exactly that commit: then it names the first file that differs.
bool tg_tree_clean_commit(char out[72], const char *workspace, struct tg_error *err);

#endif
