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

// How long a reservation is looked at before it is called a leftover: a writer locks its file right after making it.
enum { LOOKS = 5, LOOK_US = 20000 };

// Looks at a reservation once. Stores its first line. *gone: it is not there any more.
static bool is_locked(const char *staged, char first[128], bool *gone) {
  const int fd = open(staged, O_RDONLY | O_CLOEXEC);
  *gone = fd < 0 && errno == ENOENT;
  first[0] = '\0';
  if (fd < 0) {
    return false;
  }
  const ssize_t got = read(fd, first, 127);
  first[got > 0 ? got : 0] = '\0';
  first[strcspn(first, "\n")] = '\0';
  const bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0;
  (void)close(fd);
  return locked;
}

static void explain_reservation(const char *staged, struct tg_error *err) {
  char first[128];
  bool gone = false;
  bool locked = false;
  for (int i = 0; i < LOOKS && !locked && !gone; i++) {
    if (i > 0) {
      (void)usleep(LOOK_US);
    }
    locked = is_locked(staged, first, &gone);
  }
  const bool says_who = strncmp(first, RESERVED_BY, strlen(RESERVED_BY)) == 0;
  if (gone) {
    tg_error_set(err, "%s: another recorder was at work and has just ended; start again", staged);
  } else if (locked) {
    tg_error_set(err, "%s: another recorder is at work (%s); wait until it has ended, then start again", staged,
                 says_who ? first : "it is writing");
  } else {
    tg_error_set(
        err,
        "%s: left by a recorder that did not end (%s). No process of this machine has it locked; be sure that "
        "none works on another machine that shares the folder (`fuser -v` on the file, there), then remove the "
        "file and start again",
        staged, says_who ? first : "it was about to rename it");
  }
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
      explain_reservation(out->staged, err);
    } else {
      tg_error_set(err, "%s: cannot be made: %s", out->staged, strerror(errno));
    }
    return false;
  }
  // Both are for whoever finds the file. Neither is what keeps others out: that is its name. It waits for a reader
  // only.
  (void)flock(out->fd, LOCK_EX);
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
