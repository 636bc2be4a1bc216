#include "perf/host/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLL_MS 200

// fs.protected_regular forbids O_CREAT on another user's file in /tmp, so opening comes first.
static int open_shared(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0) {
      (void)fchmod(fd, 0666);
    }
  }
  return fd;
}

static bool inside(const char *path, const char *folder) {
  size_t len = strlen(folder);
  return strncmp(path, folder, len) == 0 && (folder[len - 1] == '/' || path[len] == '/' || path[len] == '\0');
}

static bool works_in(const char *pid, const char *workspace) {
  char link[64];
  char cwd[PATH_MAX];
  (void)snprintf(link, sizeof(link), "/proc/%s/cwd", pid);
  ssize_t len = readlink(link, cwd, sizeof(cwd) - 1);
  if (len < 0) {
    return false;
  }
  cwd[len] = '\0';
  return workspace != NULL && inside(cwd, workspace);
}

// holds_file looks through a process's descriptors: /proc/locks names the process that took a lock, which may have
// handed it on and ended.
static bool holds_file(const char *pid, const struct stat *file) {
  char path[64];
  (void)snprintf(path, sizeof(path), "/proc/%s/fd", pid);
  int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = dir_fd < 0 ? NULL : fdopendir(dir_fd);
  if (dir == NULL) {
    if (dir_fd >= 0) {
      close(dir_fd);
    }
    return false;
  }
  bool found = false;
  for (struct dirent *entry; !found && (entry = readdir(dir)) != NULL;) {
    struct stat st;
    found = entry->d_name[0] != '.' && fstatat(dir_fd, entry->d_name, &st, 0) == 0 && st.st_dev == file->st_dev &&
            st.st_ino == file->st_ino;
  }
  closedir(dir);
  return found;
}

// Returns the pid of a process that builds elsewhere, or 0. Only asked when the lock is known to be held.
static long foreign_builder(const struct stat *file, const char *workspace) {
  DIR *proc = opendir("/proc");
  if (proc == NULL) {
    return 0;
  }
  long found = 0;
  for (struct dirent *entry; found == 0 && (entry = readdir(proc)) != NULL;) {
    char *end = NULL;
    long pid = strtol(entry->d_name, &end, 10);
    if (pid > 0 && *end == '\0' && pid != getpid() && holds_file(entry->d_name, file) &&
        !works_in(entry->d_name, workspace)) {
      found = pid;
    }
  }
  closedir(proc);
  return found;
}

static bool wait_a_little(long *left_ms) {
  if (*left_ms < POLL_MS) {
    return false;
  }
  *left_ms -= POLL_MS;
  (void)usleep(POLL_MS * 1000);
  return true;
}

static bool await_builds(const char *workspace, long *left_ms, struct tg_error *err) {
  int fd = open_shared(TG_BUILD_LOCK);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) {
    tg_error_set(err, "cannot open %s: %s", TG_BUILD_LOCK, strerror(errno));
    if (fd >= 0) {
      close(fd);
    }
    return false;
  }
  bool told = false;
  bool ok = false;
  while (!ok) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
      ok = true;
      break;
    }
    long pid = foreign_builder(&st, workspace);
    if (pid == 0) {
      ok = true;
      break;
    }
    if (!told) {
      fprintf(stderr, "tlsgate: waiting for a build or a fuzzing run on this host to end (pid %ld)\n", pid);
      told = true;
    }
    if (!wait_a_little(left_ms)) {
      tg_error_set(err, "a build or a fuzzing run goes on (pid %ld): measure when it has ended", pid);
      break;
    }
  }
  close(fd);
  return ok;
}

int tg_measure_lock(const char *workspace, long timeout_ms, struct tg_error *err) {
  int fd = open_shared(TG_MEASURE_LOCK);
  if (fd < 0) {
    tg_error_set(err, "cannot open %s: %s", TG_MEASURE_LOCK, strerror(errno));
    return -1;
  }
  bool told = false;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (!told) {
      fprintf(stderr, "tlsgate: waiting for another measurement on this host to end\n");
      told = true;
    }
    if (!wait_a_little(&timeout_ms)) {
      tg_error_set(err, "another measurement holds %s: run again when it has ended", TG_MEASURE_LOCK);
      close(fd);
      return -1;
    }
  }
  if (!await_builds(workspace, &timeout_ms, err)) {
    close(fd);
    return -1;
  }
  return fd;
}
