// Re-bases one patch on the sources as they are.
#ifndef TLSGATE_HARNESS_FAULTS_REFRESH_REBASE_H
#define TLSGATE_HARNESS_FAULTS_REFRESH_REBASE_H

#include "harness/base/error.h"

enum tg_rebase {
  TG_REBASE_UNCHANGED,   // it applies as it is, to the line
  TG_REBASE_WRITTEN,     // lines, context or the file had moved: the patch has been written anew
  TG_REBASE_IMPOSSIBLE,  // `err` says why; the patch is as it was
};

// tg_rebase_patch re-bases the file `patch` on the tree `root`, in which harness/accept and harness/server are looked
// at. Context lines may have changed, lines may have moved within their function, and functions to another file; but a
// hunk never goes into another function. The new patch is written beside and renamed.
enum tg_rebase tg_rebase_patch(const char *root, const char *patch, struct tg_error *err);

#endif
