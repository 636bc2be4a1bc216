#include "fuzz/service/tree.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

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
  size_t before = 0;
  size_t num = list(root, pids);
  do {
    for (size_t i = 0; i < num; i++) {
      (void)kill(pids[i], signal);
    }
    before = num;
    num = signal == SIGSTOP ? list(root, pids) : num;
  } while (num > before);
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
