#include "harness/kernel/conformance/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

bool tg_namespace_permit(char *error, size_t error_len) {
  if (unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
    return true;
  }
  snprintf(error, error_len,
           "cannot make a network namespace (unshare: %s): run as root, or with CAP_SYS_ADMIN (in a container: "
           "--cap-add SYS_ADMIN), or allow user namespaces (sysctl user.max_user_namespaces > 0)",
           strerror(errno));
  return false;
}

static bool loopback_up(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return false;
  }
  struct ifreq request = {.ifr_name = "lo"};
  bool up = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
  request.ifr_flags |= IFF_UP;
  up = up && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  close(fd);
  return up;
}

static bool set_text(const char *name, const char *text, char *error, size_t error_len) {
  char path[96];
  snprintf(path, sizeof(path), "/proc/sys/net/ipv4/%s", name);
  ssize_t len = (ssize_t)strlen(text);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool written = fd >= 0 && write(fd, text, (size_t)len) == len;
  if (!written) {
    snprintf(error, error_len,
             "cannot write %s in a network namespace of our own: %s (ENOENT: the kernel is too old, Linux 6.7 has all "
             "that is needed; EROFS: /proc/sys is mounted read-only, as in a container without --privileged)",
             path, strerror(errno));
  }
  if (fd >= 0) {
    close(fd);
  }
  return written;
}

bool tg_namespace_set(const char *name, uint32_t value, char *error, size_t error_len) {
  char text[16];
  snprintf(text, sizeof(text), "%u\n", value);
  return set_text(name, text, error, error_len);
}

bool tg_namespace_enter(char *error, size_t error_len) {
  if (unshare(CLONE_NEWNET) != 0) {
    snprintf(error, error_len, "cannot make another network namespace (unshare: %s): sysctl user.max_net_namespaces",
             strerror(errno));
    return false;
  }
  if (!loopback_up()) {
    snprintf(error, error_len, "cannot bring up loopback in a new network namespace: %s", strerror(errno));
    return false;
  }
  // What a host may have changed and a new namespace would take over; tcp_space.c counts on these. And a connection
  // must not learn from those before it.
  return set_text("tcp_rmem", "4096 131072 33554432\n", error, error_len) &&
         set_text("tcp_wmem", "4096 16384 4194304\n", error, error_len) &&
         set_text("tcp_early_retrans", "3\n", error, error_len) &&
         set_text("tcp_no_metrics_save", "1\n", error, error_len);
}

int64_t tg_namespace_get(const char *name) {
  char path[96];
  snprintf(path, sizeof(path), "/proc/sys/net/ipv4/%s", name);
  FILE *file = fopen(path, "re");
  long long value = -1;
  if (file != NULL && fscanf(file, "%lld", &value) != 1) {
    value = -1;
  }
  if (file != NULL) {
    fclose(file);
  }
  return value;
}

// One line has the names, the next the values, in the same order.
static int64_t value_of(const char *names, const char *values, const char *wanted) {
  char name[64];
  long long value;
  int used;
  while (sscanf(names, "%63s%n", name, &used) == 1) {
    names += used;
    if (strchr(name, ':') != NULL) {
      values += strcspn(values, " ");
      continue;
    }
    if (sscanf(values, "%lld%n", &value, &used) != 1) {
      return -1;
    }
    values += used;
    if (strcmp(name, wanted) == 0) {
      return value;
    }
  }
  return -1;
}

int64_t tg_namespace_delayed_acks(void) {
  FILE *file = fopen("/proc/thread-self/net/netstat", "re");
  if (file == NULL) {
    return -1;
  }
  static _Thread_local char names[8192];
  static _Thread_local char values[8192];
  int64_t found = -1;
  while (found < 0 && fgets(names, sizeof(names), file) != NULL && fgets(values, sizeof(values), file) != NULL) {
    if (strncmp(names, "TcpExt:", 7) == 0) {
      found = value_of(names, values, "DelayedACKs");
    }
  }
  fclose(file);
  return found;
}
