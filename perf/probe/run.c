#include "perf/probe/run.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "perf/probe/canary.h"
#include "perf/probe/resources.h"
#include "perf/process/child.h"

// Requests before the first look, so that what a server makes on first use is there.
#define WARM_UP 20
// Over which the CPU at rest is taken: 50 ticks of the clock of proc(5).
#define REST_WINDOW_S 0.5
// For one client before and after.
#define SERVED_S TG_CANARY_SERVED_S
// Descriptors of this process beside those of the probe with silent connections.
#define SPARE_FDS 100

// Two looks, and the CPU between them. Returns false when the server is gone.
static bool look(pid_t pid, struct tg_rest *out, struct tg_resources *last) {
  struct tg_resources first;
  if (!tg_resources_read(pid, &first)) {
    return false;
  }
  double from = tg_now_s();
  (void)usleep((useconds_t)(REST_WINDOW_S * 1e6));
  if (!tg_resources_read(pid, last)) {
    return false;
  }
  double used = last->cpu_s - first.cpu_s;
  *out = (struct tg_rest){.threads = last->threads,
                          .fds = last->fds,
                          .rss_mib = last->rss_mib,
                          .cpu = used > 0 ? used / (tg_now_s() - from) : 0};
  return true;
}

static bool served(const struct tg_launch *launch) {
  return tg_wire_fetch(launch->server.tls_port, launch->description->small.path, tg_now_s() + SERVED_S);
}

static bool warm_up(const struct tg_launch *launch) {
  bool ok = false;
  for (int i = 0; i < WARM_UP; i++) {
    const struct tg_server_description *description = launch->description;
    const char *path = i % 4 == 3 ? description->big.path : description->small.path;
    ok = tg_wire_fetch(launch->server.tls_port, path, tg_now_s() + SERVED_S);
  }
  return ok;
}

// Waits until the server is back where it was and serves, or its time is up.
static void settle(const struct tg_probe_config *config, struct tg_launch *launch, const struct tg_resources *before,
                   struct tg_observed *out) {
  struct tg_resources now;
  double begun = tg_now_s();
  bool back = false;
  do {
    out->served_after = served(launch);
    out->alive = look(launch->server.pid, &out->after, &now) && tg_server_alive(&launch->server, NULL) &&
                 tg_resources_lost(before, &now) == 0;
    back = out->served_after && tg_probe_at_rest(&out->before, &out->after);
    out->settled_s = tg_now_s() - begun;
  } while (out->alive && !back && out->settled_s < config->settle_s);
}

static void observe(const struct tg_probe_config *config, const struct tg_probe *probe, struct tg_launch *launch,
                    struct tg_observed *out) {
  static struct tg_canary canary;
  struct tg_resources before;
  const struct tg_probe_target target = {
      .description = config->description,
      .pid = launch->server.pid,
      .port = launch->server.tls_port,
      .limit_s = config->limit_s,
      .late_s = config->late_s,
      .watched_s = config->watched_s,
      .connections = config->connections,
  };
  memset(out, 0, sizeof(*out));
  out->ready = warm_up(launch) && look(launch->server.pid, &out->before, &before) &&
               tg_canary_begin(&canary, target.port, config->description->small.path, probe->exhausts);
  if (!out->ready) {
    return;
  }
  probe->run(&target, &out->seen);
  tg_canary_end(&canary);
  out->others = canary.served + canary.failed;
  out->others_lost = canary.failed;
  out->longest_s = canary.longest_s;
  out->own_late_s = canary.own_late_s;
  settle(config, launch, &before, out);
}

// As many descriptors as this process may have.
static void raise_limit(size_t connections) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < connections + SPARE_FDS) {
    rlim_t wanted = connections + SPARE_FDS;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
}

struct holder {
  struct tg_launch launch;
  bool running;
  bool few;
};

static void stop(struct holder *holder) {
  if (holder->running) {
    // How it ends after all this is not what a probe asks: that was its state at rest.
    (void)tg_launch_stop(&holder->launch, NULL);
    holder->running = false;
  }
}

// Has a live server with the descriptors that the probe wants.
static bool provide(const struct tg_probe_config *config, bool few, struct holder *holder, struct tg_error *err) {
  if (holder->running && (holder->few != few || !tg_server_alive(&holder->launch.server, NULL))) {
    stop(holder);
  }
  if (holder->running) {
    return true;
  }
  struct tg_launch_config launch = config->launch;
  launch.descriptors = few ? config->description->few_descriptors : 0;
  holder->running = tg_launch_start(&holder->launch, config->description, &launch, err);
  holder->few = few;
  return holder->running;
}

bool tg_probe_run_all(const struct tg_probe_config *config, struct tg_probe_run *out, struct tg_error *err) {
  size_t num = 0;
  const struct tg_probe *probes = tg_probes(&num);
  struct holder holder = {.running = false};
  double begun = tg_now_s();
  bool ok = true;
  memset(out, 0, sizeof(*out));
  raise_limit(config->connections);
  for (size_t i = 0; ok && i < num; i++) {
    if (!config->wanted[i]) {
      continue;
    }
    struct tg_probe_result *result = &out->results[out->num];
    result->probe = &probes[i];
    struct tg_error why;
    if (!provide(config, probes[i].exhausts, &holder, &why)) {
      // What other probes have found is not lost for that; without any, it is the run's own end.
      ok = out->num > 0;
      tg_error_set(err, "%s", why.text);
      (void)snprintf(result->why, sizeof(result->why), "could not be started for it: %.300s", why.text);
      result->outcome = TG_PROBE_UNDECIDED;
      out->num += ok;
      continue;
    }
    (void)snprintf(out->command, sizeof(out->command), "%s", holder.launch.server.command);
    if (!config->quiet) {
      fprintf(stderr, "probe: %s: %s\n", probes[i].name, probes[i].what);
    }
    observe(config, &probes[i], &holder.launch, &result->observed);
    result->outcome = tg_probe_judge(&result->observed, result->why, sizeof(result->why));
    out->num++;
    // One that has failed is not where the next can begin.
    if (result->outcome == TG_PROBE_FAILED) {
      stop(&holder);
    }
  }
  stop(&holder);
  out->took_s = tg_now_s() - begun;
  return ok;
}

enum tg_probe_outcome tg_probe_run_outcome(const struct tg_probe_run *run) {
  enum tg_probe_outcome worst = TG_PROBE_PASS;
  for (size_t i = 0; i < run->num; i++) {
    if (run->results[i].outcome == TG_PROBE_FAILED) {
      return TG_PROBE_FAILED;
    }
    worst = run->results[i].outcome == TG_PROBE_UNDECIDED ? TG_PROBE_UNDECIDED : worst;
  }
  return worst;
}
