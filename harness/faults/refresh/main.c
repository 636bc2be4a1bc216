// refresh ROOT [NAME...]: re-bases the patches of the fault catalogue in the source tree ROOT, all or those named.
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/faults/refresh/rebase.h"

// Returns whether the patch applies now.
static bool refresh(const char *root, const char *name) {
  char patch[PATH_MAX];
  struct tg_error err = {""};
  (void)snprintf(patch, sizeof(patch), "%s/harness/faults/patches/%s.patch", root, name);
  switch (tg_rebase_patch(root, patch, &err)) {
    case TG_REBASE_UNCHANGED:
      return true;
    case TG_REBASE_WRITTEN:
      printf("re-based %s\n", name);
      return true;
    case TG_REBASE_IMPOSSIBLE:
      break;
  }
  printf("CANNOT RE-BASE %s: %s; edit harness/faults/patches/%s.patch by hand\n", name, err.text, name);
  return false;
}

static int is_patch(const struct dirent *entry) {
  size_t len = strlen(entry->d_name);
  return len > 6 && strcmp(entry->d_name + len - 6, ".patch") == 0;
}

static bool among(const char *name, char **names, int num_names) {
  for (int i = 0; i < num_names; i++) {
    if (strcmp(names[i], name) == 0) {
      return true;
    }
  }
  return num_names == 0;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: refresh ROOT [NAME...]\n");
    return 2;
  }
  char folder[PATH_MAX];
  struct dirent **entries;
  (void)snprintf(folder, sizeof(folder), "%s/harness/faults/patches", argv[1]);
  int num = scandir(folder, &entries, is_patch, alphasort);
  if (num <= 0) {
    fprintf(stderr, "faults: there are no patches in %s\n", folder);
    return 1;
  }
  int done = 0;
  int good = 0;
  for (int i = 0; i < num; i++) {
    char *name = entries[i]->d_name;
    name[strlen(name) - 6] = '\0';
    if (among(name, argv + 2, argc - 2)) {
      done++;
      good += refresh(argv[1], name);
    }
    free(entries[i]);
  }
  free(entries);
  if (done < argc - 2) {
    fprintf(stderr, "faults: a name is none of the catalogue's; ./tlsgate faults list lists them\n");
    return 2;
  }
  printf("%d of %d patches apply\n", good, done);
  return good == done ? 0 : 1;
}
