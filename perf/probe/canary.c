#include "perf/probe/canary.h"

#include <unistd.h>

#include "perf/probe/wire.h"
#include "perf/process/child.h"

// The one kept connection; one canary runs at a time.
static struct tg_wire kept_wire;

static bool ask_once(struct tg_canary *canary, double until) {
  struct tg_answer answer;
  if (!canary->kept) {
    return tg_wire_fetch(canary->port, canary->path, until);
  }
  if (!tg_wire_get(&kept_wire, canary->path, until)) {
    return false;
  }
  tg_wire_answer(&kept_wire, &answer, until);
  return answer.status == 200 && answer.whole;
}

static void ask(struct tg_canary *canary) {
  double begun = tg_now_s();
  bool ok = ask_once(canary, begun + TG_CANARY_SERVED_S);
  double took = tg_now_s() - begun;
  canary->longest_s = took > canary->longest_s ? took : canary->longest_s;
  if (ok) {
    canary->served++;
  } else {
    canary->failed++;
  }
}

static void *run(void *argument) {
  struct tg_canary *canary = argument;
  bool last = false;
  while (!last) {
    last = atomic_load(&canary->stop);
    ask(canary);
    double begun = tg_now_s();
    if (!last) {
      (void)usleep((useconds_t)(TG_CANARY_EVERY_S * 1e6));
      double late = tg_now_s() - begun - TG_CANARY_EVERY_S;
      canary->own_late_s = late > canary->own_late_s ? late : canary->own_late_s;
    }
  }
  return NULL;
}

bool tg_canary_begin(struct tg_canary *canary, uint16_t port, const char *path, bool kept) {
  canary->port = port;
  canary->path = path;
  canary->kept = kept;
  canary->served = 0;
  canary->failed = 0;
  canary->longest_s = 0;
  canary->own_late_s = 0;
  canary->running = false;
  atomic_store(&canary->stop, false);
  if (kept && !tg_wire_tls(&kept_wire, port, tg_now_s() + TG_CANARY_SERVED_S)) {
    return false;
  }
  canary->running = pthread_create(&canary->thread, NULL, run, canary) == 0;
  return canary->running;
}

void tg_canary_end(struct tg_canary *canary) {
  if (!canary->running) {
    return;
  }
  atomic_store(&canary->stop, true);
  (void)pthread_join(canary->thread, NULL);
  canary->running = false;
  if (canary->kept) {
    tg_wire_close(&kept_wire);
  }
}
