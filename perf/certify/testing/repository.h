// A small git repository in a folder of its own, for tests of what certifies a commit.
#ifndef TLSGATE_PERF_CERTIFY_TESTING_REPOSITORY_H
#define TLSGATE_PERF_CERTIFY_TESTING_REPOSITORY_H

#include <limits.h>

struct tg_test_repository {
  char folder[64];  // absolute; holds the repository and whatever else a test puts beside it
  char tree[96];    // the source tree
};

// tg_test_repository_make makes one with a commit that has the file `file`. A failure fails the test.
void tg_test_repository_make(struct tg_test_repository *out);

// tg_test_repository_add writes a file into the tree, folders included.
void tg_test_repository_add(const struct tg_test_repository *repository, const char *path, const char *text);

// tg_test_repository_commit commits what there is.
void tg_test_repository_commit(const struct tg_test_repository *repository);

// tg_test_repository_remove removes the folder.
void tg_test_repository_remove(const struct tg_test_repository *repository);

#endif
