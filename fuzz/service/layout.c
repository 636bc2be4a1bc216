#include "fuzz/service/layout.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"

#define DEPTH_MAX  8
#define BLOCK_SIZE 512u  // of st_blocks, stat(3type)

void tg_layout(char out[PATH_MAX], const char *root, const char *place, const char *target, const char *below) {
  tg_path(out, "%s/%s/%s%s%s", root, place, target, below != NULL ? "/" : "", below != NULL ? below : "");
}

bool tg_layout_make(const char *root, const char *target, struct tg_error *err) {
  static const struct {
    const char *place;
    const char *below;
  } kFolders[] = {
      {"corpus", NULL},     {"incoming", NULL},    {"candidates", "regressions"}, {"candidates", "explanations"},
      {"duplicates", NULL}, {"unreproduced", NULL}};
  for (size_t i = 0; i < sizeof(kFolders) / sizeof(kFolders[0]); i++) {
    char path[PATH_MAX];
    tg_layout(path, root, kFolders[i].place, target, kFolders[i].below);
    if (!tg_files_make_folder(path, err)) {
      return false;
    }
  }
  return true;
}

static void add(struct tg_layout_size *size, int at, const char *name, int depth) {
  int fd = depth <= DEPTH_MAX ? openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (dir == NULL) {
    if (fd >= 0) {
      close(fd);
    }
    return;
  }
  for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    struct stat status;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
        fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    size->bytes += (uint64_t)status.st_blocks * BLOCK_SIZE;
    if (S_ISDIR(status.st_mode)) {
      add(size, dirfd(dir), entry->d_name, depth + 1);
    } else {
      size->files++;
    }
  }
  closedir(dir);
}

struct tg_layout_size tg_layout_measure(const char *folder) {
  struct tg_layout_size size = {0};
  add(&size, AT_FDCWD, folder, 0);
  return size;
}
