#include "perf/probe/resources.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES_MAX 8192

struct process {
  pid_t pid;
  pid_t parent;
  char state;
  long threads;
  double cpu_s;
  double rss_mib;
};

// proc(5): /proc/PID/stat; the name in it may hold anything, so fields count from the last parenthesis.
static bool read_stat(pid_t pid, struct process *out) {
  char path[32];
  char text[1024];
  (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  FILE *file = fopen(path, "re");
  size_t len = file == NULL ? 0 : fread(text, 1, sizeof(text) - 1, file);
  if (file != NULL) {
    (void)fclose(file);
  }
  text[len] = '\0';
  const char *end = strrchr(text, ')');
  int parent = 0;
  unsigned long user = 0;
  unsigned long system = 0;
  long pages = 0;
  if (end == NULL ||
      sscanf(end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %ld %*d %*u %*u %ld",
             &out->state, &parent, &user, &system, &out->threads, &pages) != 6) {
    return false;
  }
  out->pid = pid;
  out->parent = parent;
  out->cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
  out->rss_mib = (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576.0;
  return true;
}

static long count_fds(pid_t pid) {
  char path[32];
  long num = 0;
  (void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
  DIR *folder = opendir(path);
  if (folder == NULL) {
    return 0;
  }
  for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    num += entry->d_name[0] != '.';
  }
  (void)closedir(folder);
  return num;
}

// The kernel's Documentation/scheduler/sched-stats.rst: nanoseconds on a CPU, and waiting for one, of a thread.
static double wanted_by(pid_t pid, const char *thread) {
  char path[320];
  unsigned long long ran = 0;
  unsigned long long waited = 0;
  (void)snprintf(path, sizeof(path), "/proc/%d/task/%.255s/schedstat", pid, thread);
  FILE *file = fopen(path, "re");
  bool read = file != NULL && fscanf(file, "%llu %llu", &ran, &waited) == 2;
  if (file != NULL) {
    (void)fclose(file);
  }
  return read ? (double)(ran + waited) / 1e9 : 0;
}

static double wanted_by_all(pid_t pid) {
  char path[32];
  double sum = 0;
  (void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
  DIR *folder = opendir(path);
  if (folder == NULL) {
    return 0;
  }
  for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    sum += entry->d_name[0] != '.' ? wanted_by(pid, entry->d_name) : 0;
  }
  (void)closedir(folder);
  return sum;
}

static size_t read_all(struct process *out) {
  size_t num = 0;
  DIR *folder = opendir("/proc");
  if (folder == NULL) {
    return 0;
  }
  for (const struct dirent *entry = readdir(folder); entry != NULL && num < PROCESSES_MAX; entry = readdir(folder)) {
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    num += pid > 0 && read_stat(pid, &out[num]);
  }
  (void)closedir(folder);
  return num;
}

static void add(struct tg_resources *out, const struct process *process) {
  out->pids[out->num_pids++] = process->pid;
  out->threads += process->threads;
  out->fds += count_fds(process->pid);
  out->rss_mib += process->rss_mib;
  out->cpu_s += process->cpu_s;
  out->wanted_s += wanted_by_all(process->pid);
}

static bool runs(const struct process *process) {
  return process->state != 'Z' && process->state != 'X';
}

bool tg_resources_read(pid_t pid, struct tg_resources *out) {
  struct process own;
  memset(out, 0, sizeof(*out));
  if (!read_stat(pid, &own) || !runs(&own)) {
    return false;
  }
  struct process *all = calloc(PROCESSES_MAX, sizeof(*all));
  size_t num = all == NULL ? 0 : read_all(all);
  add(out, &own);
  // Breadth first: each process found is looked for as a parent in turn.
  for (size_t next = 0; next < out->num_pids; next++) {
    for (size_t i = 0; i < num && out->num_pids < TG_RESOURCES_PIDS_MAX; i++) {
      if (all[i].parent == out->pids[next] && runs(&all[i])) {
        add(out, &all[i]);
      }
    }
  }
  free(all);
  return true;
}

pid_t tg_resources_lost(const struct tg_resources *before, const struct tg_resources *after) {
  for (size_t i = 0; i < before->num_pids; i++) {
    bool found = false;
    for (size_t j = 0; j < after->num_pids; j++) {
      found = found || before->pids[i] == after->pids[j];
    }
    if (!found) {
      return before->pids[i];
    }
  }
  return 0;
}
