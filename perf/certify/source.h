// The revision that is certified: what git says of the source tree, and files as they were committed.
#ifndef TLSGATE_PERF_CERTIFY_SOURCE_H
#define TLSGATE_PERF_CERTIFY_SOURCE_H

#include <limits.h>
#include <stdbool.h>

#include "harness/base/error.h"

// Length of a commit or object id with SHA-256 repositories in mind.
#define TG_OBJECT_ID_MAX 64

struct tg_source {
  char workspace[PATH_MAX];           // the source tree
  char commit[TG_OBJECT_ID_MAX + 1];  // what is certified
};

// tg_source_open fills in the commit that the tree is at. Returns false with `err` filled in when git cannot tell.
bool tg_source_open(struct tg_source *out, const char *workspace, struct tg_error *err);

// tg_source_is_clean says whether the tree is exactly the commit and nothing else lies in it (what .gitignore names
// aside). If not, `err` names a file that differs and the remedy.
bool tg_source_is_clean(const struct tg_source *source, struct tg_error *err);

// tg_source_is_here says whether the commit can be read in the workspace's repository.
bool tg_source_is_here(const struct tg_source *source, struct tg_error *err);

enum tg_source_found { TG_SOURCE_FOUND, TG_SOURCE_MISSING, TG_SOURCE_ERROR };

// tg_source_file reads a file of the commit; *text is NUL-terminated and the caller's to free(). MISSING: the commit
// has no such file, *text is NULL. ERROR: `err` is filled in.
enum tg_source_found tg_source_file(const struct tg_source *source, const char *path, char **text,
                                    struct tg_error *err);

// tg_source_object writes the id of a file or folder of the commit, which is a hash of its content, to `out`; "." is
// the whole tree. MISSING: `out` is empty.
enum tg_source_found tg_source_object(const struct tg_source *source, const char *path, char out[TG_OBJECT_ID_MAX + 1],
                                      struct tg_error *err);

// tg_source_list writes the names of what a folder of the commit holds, one a line and sorted, to *text, the caller's
// to free(); with `folders`, only the folders. Results as those of tg_source_file.
enum tg_source_found tg_source_list(const struct tg_source *source, const char *path, bool folders, char **text,
                                    struct tg_error *err);

#endif
