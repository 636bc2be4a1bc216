#include "fuzz/service/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"
#include "perf/process/child.h"

#define POLL_MS 50

static pid_t owner(int fd) {
  char text[32] = "";
  ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
  return len > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

int tg_instance_lock(const char *root, struct tg_error *err) {
  char path[PATH_MAX];
  tg_path(path, "%s/lock", root);
  // Not O_CLOEXEC: see the header.
  int fd = open(path, O_RDWR | O_CREAT, 0644);  // NOLINT(android-cloexec-open)
  if (fd < 0) {
    tg_error_set(err, "cannot open %s: %s", path, strerror(errno));
    return -1;
  }
  double begun = tg_now_s();
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    pid_t pid = owner(fd);
    bool lives = pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
    if (lives || tg_now_s() - begun > TG_INSTANCE_WAIT_S) {
      tg_error_set(err, "%s: another fuzzd works here, process %ld; end it, or take another --dir", root, (long)pid);
      close(fd);
      return -1;
    }
    poll(NULL, 0, POLL_MS);
  }
  if (ftruncate(fd, 0) != 0 || dprintf(fd, "%ld\n", (long)getpid()) < 0) {
    tg_error_set(err, "cannot write %s: %s", path, strerror(errno));
    close(fd);
    return -1;
  }
  return fd;
}
