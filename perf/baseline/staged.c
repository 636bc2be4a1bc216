#include "perf/baseline/staged.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

// What a reservation holds until the new file is written.
#define RESERVED_BY "reserved by process "

static void explain_leftover(const char *staged, struct tg_error *err) {
  char first[128] = "";
  int fd = open(staged, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    tg_error_set(err, "%s: is there and cannot be opened: %s", staged, strerror(errno));
    return;
  }
  const ssize_t got = read(fd, first, sizeof(first) - 1);
  first[got > 0 ? got : 0] = '\0';
  first[strcspn(first, "\n")] = '\0';
  const bool live = flock(fd, LOCK_SH | LOCK_NB) != 0;
  (void)close(fd);
  const bool says_who = strncmp(first, RESERVED_BY, strlen(RESERVED_BY)) == 0;
  if (live) {
    tg_error_set(err, "%s: another recorder is at work (%s); wait until it has ended, then start again", staged,
                 says_who ? first : "it is writing");
    return;
  }
  tg_error_set(err,
               "%s: left by a recorder that did not end (%s). No process of this machine has it locked; be sure that "
               "none works on another machine that shares the folder (there: `fuser -v %s` and `pgrep -af tlsgate`), "
               "then remove the file and start again",
               staged, says_who ? first : "it was about to rename it", staged);
}

bool tg_staged_reserve(struct tg_staged *out, const char *file, struct tg_error *err) {
  if (snprintf(out->file, sizeof(out->file), "%s", file) >= (int)sizeof(out->file) ||
      snprintf(out->staged, sizeof(out->staged), "%s.staged", file) >= (int)sizeof(out->staged)) {
    tg_error_set(err, "%s: the path is too long", file);
    return false;
  }
  out->fd = open(out->staged, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (out->fd < 0) {
    if (errno == EEXIST) {
      explain_leftover(out->staged, err);
    } else {
      tg_error_set(err, "%s: cannot be made: %s", out->staged, strerror(errno));
    }
    return false;
  }
  // Both are for whoever finds the file. Neither is what keeps others out: that is its name.
  (void)flock(out->fd, LOCK_EX | LOCK_NB);
  struct utsname system;
  (void)uname(&system);
  (void)dprintf(out->fd, RESERVED_BY "%ld on %s\n", (long)getpid(), system.nodename);
  return true;
}

void tg_staged_abandon(struct tg_staged *staged) {
  (void)unlink(staged->staged);
  (void)close(staged->fd);
}

static bool write_all(int fd, const char *text, size_t len) {
  while (len > 0) {
    const ssize_t put = write(fd, text, len);
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      return false;
    }
    text += put;
    len -= (size_t)put;
  }
  return true;
}

// So that the rename outlives a crash of the machine.
static void sync_folder(const char *file) {
  char folder[PATH_MAX];
  (void)snprintf(folder, sizeof(folder), "%s", file);
  char *slash = strrchr(folder, '/');
  if (slash != NULL) {
    slash[slash == folder] = '\0';
  }
  const int fd = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    (void)fsync(fd);
    (void)close(fd);
  }
}

bool tg_staged_publish(struct tg_staged *staged, const char *text, size_t len,
                       bool (*validate)(const char *path, void *context, struct tg_error *err), void *context,
                       struct tg_error *err) {
  if (lseek(staged->fd, 0, SEEK_SET) != 0 || ftruncate(staged->fd, 0) != 0 || !write_all(staged->fd, text, len) ||
      fsync(staged->fd) != 0) {
    tg_error_set(err, "%s: cannot be written: %s; %s is untouched", staged->staged, strerror(errno), staged->file);
    tg_staged_abandon(staged);
    return false;
  }
  if (!validate(staged->staged, context, err)) {
    tg_staged_abandon(staged);
    return false;
  }
  if (rename(staged->staged, staged->file) != 0) {
    tg_error_set(err, "%s: cannot be renamed to %s: %s", staged->staged, staged->file, strerror(errno));
    tg_staged_abandon(staged);
    return false;
  }
  sync_folder(staged->file);
  (void)close(staged->fd);
  return true;
}
