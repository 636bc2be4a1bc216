#include "fuzz/service/right_of_way.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// fs.protected_regular forbids O_CREAT on another user's file in /tmp, so opening comes first.
static int open_shared(const char *path, struct tg_error *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0) {
      (void)fchmod(fd, 0666);
    }
  }
  if (fd < 0) {
    tg_error_set(err, "cannot open the lock %s: %s", path, strerror(errno));
  }
  return fd;
}

bool tg_right_of_way_open(struct tg_right_of_way *way, const char *measure_path, const char *build_path,
                          struct tg_error *err) {
  *way = (struct tg_right_of_way){.measure_fd = open_shared(measure_path, err), .build_fd = -1};
  if (way->measure_fd < 0) {
    return false;
  }
  way->build_fd = open_shared(build_path, err);
  if (way->build_fd < 0) {
    tg_right_of_way_close(way);
    return false;
  }
  return true;
}

void tg_right_of_way_close(struct tg_right_of_way *way) {
  if (way->measure_fd >= 0) {
    close(way->measure_fd);
  }
  if (way->build_fd >= 0) {
    close(way->build_fd);
  }
  *way = (struct tg_right_of_way){.measure_fd = -1, .build_fd = -1};
}

// Whether nobody holds MEASURE exclusively. It is held for no longer than the question takes.
static bool nobody_measures(const struct tg_right_of_way *way, bool *took_build) {
  if (flock(way->measure_fd, LOCK_SH | LOCK_NB) != 0) {
    return false;
  }
  if (took_build != NULL) {
    *took_build = flock(way->build_fd, LOCK_SH | LOCK_NB) == 0;
  }
  (void)flock(way->measure_fd, LOCK_UN);
  return true;
}

bool tg_right_of_way_yield(struct tg_right_of_way *way) {
  return !nobody_measures(way, NULL);
}

bool tg_right_of_way_enter(struct tg_right_of_way *way) {
  if (!way->ours) {
    bool took = false;
    way->ours = nobody_measures(way, &took) && took;
  }
  return way->ours;
}

void tg_right_of_way_leave(struct tg_right_of_way *way) {
  if (way->ours) {
    (void)flock(way->build_fd, LOCK_UN);
    way->ours = false;
  }
}
