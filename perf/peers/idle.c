#include "perf/peers/idle.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "perf/probe/resources.h"
#include "perf/probe/wire.h"
#include "perf/process/child.h"

// Connections before the first look: what a server makes on first use is not theirs.
#define WARM_UP 20
#define STEP_S  5.0
// After the last response a server may still have things to put away.
#define SETTLE_US 300000
#define WINDOW_US 1000000
#define SPARE_FDS 100

double tg_peers_cpu_s(pid_t pid) {
  static struct tg_resources tree;
  double sum = 0;
  if (!tg_resources_read(pid, &tree)) {
    return -1;
  }
  for (size_t i = 0; i < tree.num_pids; i++) {
    clockid_t clock;
    struct timespec used;
    // A descendant that has just ended has nothing to say.
    if (clock_getcpuclockid(tree.pids[i], &clock) == 0 && clock_gettime(clock, &used) == 0) {
      sum += (double)used.tv_sec + (double)used.tv_nsec / 1e9;
    }
  }
  return sum;
}

static void raise_limit(size_t connections) {
  struct rlimit limit;
  rlim_t wanted = connections + SPARE_FDS;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
}

static bool open_one(struct tg_wire *wire, uint16_t port, const char *path, struct tg_error *err) {
  struct tg_answer answer = {.status = 0};
  double until = tg_now_s() + STEP_S;
  bool ok = tg_wire_tls(wire, port, until);
  if (ok && tg_wire_get(wire, path, until)) {
    tg_wire_answer(wire, &answer, until);
  }
  if (ok && (answer.status != 200 || !answer.whole)) {
    tg_wire_close(wire);
    ok = false;
  }
  if (!ok) {
    tg_error_set(err, "is not served within %.0f s, with status %d", STEP_S, answer.status);
  }
  return ok;
}

static size_t count_ended(struct tg_wire *wires, size_t num) {
  size_t ended = 0;
  for (size_t i = 0; i < num; i++) {
    ended += tg_wire_ended(&wires[i]);
  }
  return ended;
}

// Looks at the server with all connections open.
static bool look(pid_t pid, struct tg_wire *wires, size_t num, double before_mib, struct tg_peers_idle *out,
                 struct tg_error *err) {
  struct tg_resources now;
  (void)usleep(SETTLE_US);
  bool ok = tg_resources_read(pid, &now);
  double cpu = tg_peers_cpu_s(pid);
  double from = tg_now_s();
  (void)usleep(WINDOW_US);
  double used = tg_peers_cpu_s(pid) - cpu;
  if (!ok || cpu < 0 || used < 0) {
    tg_error_set(err, "the server is gone");
    return false;
  }
  out->kib = (now.rss_mib - before_mib) * 1024 / (double)num;
  out->cpu_percent = 100 * used / (tg_now_s() - from);
  size_t ended = count_ended(wires, num);
  if (ended > 0) {
    tg_error_set(err, "%zu of %zu idle connections were ended by the server before it was looked at", ended, num);
  }
  return ended == 0;
}

bool tg_peers_idle(pid_t pid, uint16_t port, const char *path, size_t connections, struct tg_peers_idle *out,
                   struct tg_error *err) {
  struct tg_resources before;
  struct tg_error why = {""};
  bool ok = true;
  size_t num = 0;
  struct tg_wire *wires = calloc(connections, sizeof(*wires));
  if (wires == NULL) {
    tg_error_set(err, "no memory for %zu connections", connections);
    return false;
  }
  raise_limit(connections);
  for (int i = 0; ok && i < WARM_UP; i++) {
    ok = tg_wire_fetch(port, path, tg_now_s() + STEP_S);
  }
  (void)usleep(SETTLE_US);
  ok = ok && tg_resources_read(pid, &before);
  if (!ok) {
    tg_error_set(err, "the server does not serve %s", path);
  }
  while (ok && num < connections) {
    ok = open_one(&wires[num], port, path, &why);
    if (ok) {
      num++;
    } else {
      tg_error_set(err, "idle connection %zu %.200s", num + 1, why.text);
    }
  }
  ok = ok && look(pid, wires, num, before.rss_mib, out, err);
  for (size_t i = 0; i < num; i++) {
    tg_wire_close(&wires[i]);
  }
  free(wires);
  return ok;
}
