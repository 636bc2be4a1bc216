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

static bool working_folder(const char *pid, char cwd[PATH_MAX]) {
  char link[64];
  (void)snprintf(link, sizeof(link), "/proc/%s/cwd", pid);
  ssize_t len = readlink(link, cwd, PATH_MAX - 1);
  cwd[len > 0 ? len : 0] = '\0';
  return len > 0;
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

// Calls `found` for the processes other than this one that have the file open, until it returns true. Returns the pid
// it returned true for, or 0.
static long find_holder(const char *path, bool (*found)(const char *cwd, const void *context), const void *context) {
  struct stat file;
  DIR *proc = opendir("/proc");
  long holder = 0;
  if (proc == NULL || stat(path, &file) != 0) {
    if (proc != NULL) {
      closedir(proc);
    }
    return 0;
  }
  for (struct dirent *entry; holder == 0 && (entry = readdir(proc)) != NULL;) {
    char *end = NULL;
    char cwd[PATH_MAX];
    long pid = strtol(entry->d_name, &end, 10);
    if (pid > 0 && *end == '\0' && pid != getpid() && holds_file(entry->d_name, &file) &&
        working_folder(entry->d_name, cwd) && found(cwd, context)) {
      holder = pid;
    }
  }
  closedir(proc);
  return holder;
}

static bool any(const char *cwd, const void *context) {
  (void)cwd;
  (void)context;
  return true;
}

static bool waits_for_build_in(const char *waiting_in, const void *build_in) {
  return inside(build_in, waiting_in);
}

static bool builds_elsewhere(const char *build_in, const void *workspace) {
  if (workspace != NULL && inside(build_in, workspace)) {
    return false;
  }
  return find_holder(TG_WAITING_LOCK, waits_for_build_in, build_in) == 0;
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
  if (fd < 0) {
    tg_error_set(err, "cannot open %s: %s", TG_BUILD_LOCK, strerror(errno));
    return false;
  }
  bool told = false;
  bool ok = false;
  while (!ok) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
      ok = true;
      break;
    }
    long pid = find_holder(TG_BUILD_LOCK, builds_elsewhere, workspace);
    // A holder that cannot be looked at, another user's say, is not ours.
    if (pid == 0 && find_holder(TG_BUILD_LOCK, any, NULL) != 0) {
      ok = true;
      break;
    }
    if (!told) {
      fprintf(stderr,
              "tlsgate: waiting for a build or a fuzzing run on this host to end (pid %ld; 0: another user's)\n", pid);
      told = true;
    }
    if (!wait_a_little(left_ms)) {
      tg_error_set(err, "a build or a fuzzing run goes on (pid %ld; 0: another user's): measure when it has ended",
                   pid);
      break;
    }
  }
  close(fd);
  return ok;
}

static int await_measure(long *left_ms, struct tg_error *err) {
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
    if (!wait_a_little(left_ms)) {
      tg_error_set(err, "another measurement holds %s: run again when it has ended", TG_MEASURE_LOCK);
      close(fd);
      return -1;
    }
  }
  return fd;
}

int tg_measure_lock(const char *workspace, long timeout_ms, struct tg_error *err) {
  int home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  int waiting = home >= 0 && workspace != NULL && chdir(workspace) == 0 ? open_shared(TG_WAITING_LOCK) : -1;
  int fd = await_measure(&timeout_ms, err);
  if (waiting >= 0) {
    close(waiting);
  }
  if (fd >= 0 && !await_builds(workspace, &timeout_ms, err)) {
    close(fd);
    fd = -1;
  }
  if (home >= 0) {
    if (fchdir(home) != 0 && fd >= 0) {
      tg_error_set(err, "cannot go back to the working folder: %s", strerror(errno));
      close(fd);
      fd = -1;
    }
    close(home);
  }
  return fd;
}
