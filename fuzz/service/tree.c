#include "fuzz/service/tree.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/process/child.h"

#define POLL_MS 10

static size_t list(pid_t root, pid_t pids[TG_TREE_MAX]) {
  size_t num = 0;
  pids[num++] = root;
  for (size_t i = 0; i < num; i++) {
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pids[i], (int)pids[i]);
    FILE *children = fopen(path, "re");
    int pid;
    // NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers
    while (children != NULL && num < TG_TREE_MAX && fscanf(children, "%d", &pid) == 1) {
      pids[num++] = pid;
    }
    if (children != NULL) {
      fclose(children);
    }
  }
  return num;
}

void tg_tree_signal(pid_t root, int signal) {
  pid_t pids[TG_TREE_MAX];
  size_t num = list(root, pids);
  for (size_t i = 0; i < num; i++) {
    (void)kill(pids[i], signal);
  }
}

// "123 (name) T ...", proc(5): T is stopped, t traced, Z and X are dead.
static bool is_still(pid_t pid) {
  char path[64];
  char line[512] = "";
  (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
  FILE *stat = fopen(path, "re");
  bool read = stat != NULL && fgets(line, sizeof(line), stat) != NULL;
  if (stat != NULL) {
    fclose(stat);
  }
  const char *name_end = read ? strrchr(line, ')') : NULL;
  return name_end == NULL || (name_end[1] == ' ' && strchr("TtZX", name_end[2]) != NULL);
}

bool tg_tree_stop(pid_t root) {
  double begun = tg_now_s();
  do {
    pid_t pids[TG_TREE_MAX];
    size_t num = list(root, pids);
    bool still = true;
    for (size_t i = 0; i < num; i++) {
      if (!is_still(pids[i])) {
        still = false;
        (void)kill(pids[i], SIGSTOP);
      }
    }
    if (still) {
      return true;
    }
    poll(NULL, 0, POLL_MS);
  } while (tg_now_s() - begun < TG_TREE_STOP_S);
  return false;
}

uint64_t tg_tree_rss_kb(pid_t root) {
  pid_t pids[TG_TREE_MAX];
  size_t num = list(root, pids);
  uint64_t pages = 0;
  for (size_t i = 0; i < num; i++) {
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)pids[i]);
    FILE *statm = fopen(path, "re");
    unsigned long resident = 0;
    // NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers
    if (statm != NULL && fscanf(statm, "%*u %lu", &resident) == 1) {
      pages += resident;
    }
    if (statm != NULL) {
      fclose(statm);
    }
  }
  return pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}
