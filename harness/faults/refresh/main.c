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

static bool is_among(const char *name, struct dirent **entries, int num) {
  for (int i = 0; i < num; i++) {
    if (strcmp(entries[i]->d_name, name) == 0) {
      return true;
    }
  }
  return false;
}

static void free_all(struct dirent **entries, int num) {
  for (int i = 0; i < num; i++) {
    free(entries[i]);
  }
  free(entries);
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
  for (int i = 0; i < num; i++) {
    entries[i]->d_name[strlen(entries[i]->d_name) - strlen(".patch")] = '\0';
  }
  for (int wanted = 2; wanted < argc; wanted++) {
    if (!is_among(argv[wanted], entries, num)) {
      fprintf(stderr, "faults: refresh: there is no fault %s; ./tlsgate faults list lists them\n", argv[wanted]);
      free_all(entries, num);
      return 2;
    }
  }
  int done = 0;
  int good = 0;
  for (int i = 0; i < num; i++) {
    const char *name = entries[i]->d_name;
    if (among(name, argv + 2, argc - 2)) {
      done++;
      good += refresh(argv[1], name);
    }
  }
  free_all(entries, num);
  printf("%d of %d patches apply\n", good, done);
  return good == done ? 0 : 1;
}
