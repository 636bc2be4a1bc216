// The functions that a patch changes: what a fault is anchored to when lines move.
#ifndef TLSGATE_HARNESS_FAULTS_REFRESH_ANCHORS_H
#define TLSGATE_HARNESS_FAULTS_REFRESH_ANCHORS_H

#include <stdbool.h>
#include <stddef.h>

#define TG_ANCHORS_MAX 32

// One hunk: the file it is of, and the function it is in; empty if it is in none.
struct tg_anchor {
  char path[128];
  char function[64];
};

struct tg_anchors {
  struct tg_anchor list[TG_ANCHORS_MAX];
  size_t num;
};

// tg_anchors_read finds the hunks of the unified diff `text`. Returns false if it has none, or too many.
bool tg_anchors_read(const char *text, struct tg_anchors *out);

// tg_anchors_same says whether both have the same functions in the same order, whatever the files.
bool tg_anchors_same(const struct tg_anchors *a, const struct tg_anchors *b);

// tg_anchors_defines says whether the C source `text` defines `function`.
bool tg_anchors_defines(const char *text, const char *function);

#endif
