#include "harness/kernel/conformance/generate.h"

#include <string.h>

#include "harness/kernel/conformance/model_run.h"

#define TURNS_MIN      3u
#define TURNS_MAX      7u
#define STEPS_OF_TURN  20u  // at most
#define AWAITS_OF_TURN 3u

struct generator {
  uint64_t random;
  struct tg_schedule *schedule;
  uint64_t written[2];
  uint64_t read[2];
  size_t awaits;
};

static uint64_t next(struct generator *g) {  // splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom generators)
  uint64_t z = (g->random += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint32_t below(struct generator *g, uint32_t limit) {
  return (uint32_t)(next(g) % limit);
}

static bool percent(struct generator *g, uint32_t of_100) {
  return below(g, 100) < of_100;
}

static uint32_t pick(struct generator *g, const uint32_t *values, size_t num_values) {
  return values[below(g, (uint32_t)num_values)];
}
#define PICK(g, values) pick(g, values, sizeof(values) / sizeof(*(values)))

static void add(struct generator *g, enum tg_verb verb, enum tg_tcp_side side, uint32_t value) {
  g->schedule->steps[g->schedule->num_steps++] = (struct tg_step){verb, side, value};
  if (verb == TG_VERB_WRITE || verb == TG_VERB_MORE) {
    g->written[side] += value;
  }
  g->awaits += verb == TG_VERB_AWAIT;
}

static void pause(struct generator *g, uint32_t of_100) {
  // Nothing near 40 ms: a comparison with ato must not depend on where in a jiffy it is made.
  static const uint32_t short_ms[] = {1, 1, 2, 3};
  static const uint32_t long_ms[] = {60, 60, 100, 260};
  if (percent(g, of_100)) {
    add(g, TG_VERB_SLEEP, TG_TCP_SERVER, percent(g, 80) ? PICK(g, short_ms) : PICK(g, long_ms));
  }
}

static void quickack(struct generator *g, enum tg_tcp_side side, uint32_t of_100) {
  static const uint32_t values[] = {1, 1, 1, 3, 2, 2, 0, 0};
  if (percent(g, of_100)) {
    add(g, TG_VERB_QUICKACK, side, PICK(g, values));
  }
}

static uint32_t size(struct generator *g) {
  static const uint32_t multiples[] = {1, 1, 2, 3};
  uint32_t mss = g->schedule->mss;
  switch (below(g, 8)) {
    case 0:
      return 1 + below(g, 30);
    case 1:
      return 500 + below(g, 1500);
    case 2:
      return mss != 0 ? mss * PICK(g, multiples) : 2000 + below(g, 3000);
    case 3:
      return mss != 0 ? mss + 1 + below(g, mss) : 536 + below(g, 3);
    case 4:
      return mss != 0 && percent(g, 30) ? 12 * mss : 300;
    default:
      return 30 + below(g, 400);
  }
}

static void read_some(struct generator *g, enum tg_tcp_side side, uint32_t most) {
  uint64_t unread = g->written[!side] - g->read[side];
  add(g, TG_VERB_READ, side, most);
  g->read[side] += most != 0 && most < unread ? most : unread;
}

// What a message's reader does, whose first write had `first` bytes.
static void receive(struct generator *g, enum tg_tcp_side side, uint32_t first, bool several) {
  uint32_t way = below(g, 100);
  quickack(g, side, 12);
  if (several && way < 40) {  // sees the parts one by one
    add(g, TG_VERB_AWAIT, side, (uint32_t)(g->written[!side] - g->read[side] > first ? first : 0));
    quickack(g, side, 25);
    if (percent(g, 85)) {
      add(g, TG_VERB_READ, side, 0);
      g->read[side] = g->written[!side];  // if all has come; await sees to it that at least nothing is waited for twice
      quickack(g, side, 25);
    }
    add(g, TG_VERB_AWAIT, side, 0);
    read_some(g, side, 0);
  } else if (way < 55) {  // reads in two goes
    add(g, TG_VERB_AWAIT, side, 0);
    read_some(g, side, 1 + below(g, 40));
    quickack(g, side, 30);
    read_some(g, side, 0);
  } else if (way < 63) {  // does not read yet
    add(g, TG_VERB_AWAIT, side, 0);
  } else {
    add(g, TG_VERB_AWAIT, side, 0);
    quickack(g, side, 15);
    read_some(g, side, 0);
  }
  quickack(g, side, 20);
}

static void turn(struct generator *g, enum tg_tcp_side side) {
  bool cork = percent(g, 6);
  uint32_t num_writes = 1 + below(g, 100) / 45;  // 1, 2: 45 of 100 each, 3: the rest
  if (percent(g, 5)) {
    add(g, TG_VERB_NODELAY, side, below(g, 2));
  }
  pause(g, 35);
  if (cork) {
    add(g, TG_VERB_CORK, side, 1);
  }
  uint32_t first = 0;
  for (uint32_t i = 0; i < num_writes; i++) {
    uint32_t bytes = size(g);
    first = i == 0 ? bytes : first;
    // Bytes with MSG_MORE before others, so that they do not wait for the probe timer.
    add(g, i + 1 < num_writes && percent(g, 10) ? TG_VERB_MORE : TG_VERB_WRITE, side, bytes);
    quickack(g, side, 8);
    if (i + 1 < num_writes && percent(g, 25)) {
      pause(g, 100);
    }
  }
  if (cork) {
    add(g, TG_VERB_CORK, side, 0);
  }
  receive(g, !side, first, num_writes > 1);
}

bool tg_generate(uint64_t seed, uint64_t number, struct tg_schedule *out, struct tg_outcome *outcome) {
  static const uint32_t sizes[] = {88, 188, 524, 1448};
  struct generator g = {.random = seed * UINT64_C(0x2545f4914f6cdd1d) + number, .schedule = out};
  *out = (struct tg_schedule){.threshold = percent(&g, 8) ? 3 : 1, .listen = percent(&g, 5) ? 0 : -1};
  if (percent(&g, 30)) {
    out->mss = PICK(&g, sizes);
  }
  if (percent(&g, 25)) {
    add(&g, TG_VERB_NODELAY, TG_TCP_SERVER, 1);
  }
  enum tg_tcp_side side = percent(&g, 85) ? TG_TCP_CLIENT : TG_TCP_SERVER;
  uint32_t turns = TURNS_MIN + below(&g, TURNS_MAX - TURNS_MIN + 1);
  for (uint32_t i = 0;
       i < turns && out->num_steps + STEPS_OF_TURN < TG_STEPS_MAX && g.awaits + AWAITS_OF_TURN < TG_AWAITS_MAX; i++) {
    turn(&g, side);
    side = percent(&g, 85) ? !side : side;
  }
  bool counts_agree;
  return tg_model_predict(out, TG_TCP_RULES_ALL, outcome, &counts_agree) && counts_agree &&
         strchr(outcome->waits, TG_WAIT_ODD) == NULL;
}
