#include "fuzz/schedule/draw.h"

#include "fuzz/schedule/fold.h"
#include "fuzz/schedule/wait.h"

#define MS               UINT64_C(1000000)
#define KIND_BITS        4  // of a request or a record
#define KIND_MASK        0x0fu
#define FAILURE_BITS     5
#define FAILURE_MASK     0x1fu
#define SKIP_BITS        3
#define SKIP_MASK        0x7u
#define TIMES_SHIFT      (FAILURE_BITS + SKIP_BITS)
#define TIMES_MAX        0xffu
#define SIZE_BITS        12
#define SIZES_MAX        (1u << SIZE_BITS)
#define VALUES           0x10000u
#define COUNT_OF(values) (sizeof(values) / sizeof((values)[0]))

// Sizes in bytes at which something changes: a record's header and the byte after it, segment sizes, a record's limit
// with and without what encryption adds, buffers.
static const uint16_t edge_bytes[] = {0,   1,   2,   3,   4,    5,    6,    16,   64,    87,    88,
                                      100, 256, 512, 536, 1023, 1024, 1448, 4096, 16384, 16401, 65535};

// Counts for requests and records, whose units differ.
static const uint16_t edge_counts[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 128, 255, 256, 1024, 4095};

static uint16_t below(struct tg_rng *rng, uint32_t bound) {
  return (uint16_t)tg_rng_below(rng, bound);
}

static uint16_t draw_bytes(struct tg_rng *rng) {
  return tg_rng_one_in(rng, 3) ? below(rng, VALUES) : edge_bytes[tg_rng_below(rng, COUNT_OF(edge_bytes))];
}

static uint16_t draw_count(struct tg_rng *rng) {
  return tg_rng_one_in(rng, 4) ? below(rng, SIZES_MAX) : edge_counts[tg_rng_below(rng, COUNT_OF(edge_counts))];
}

uint8_t tg_draw_wait(struct tg_rng *rng) {
  uint8_t from, to;
  switch (tg_rng_below(rng, 8)) {
    case 0:
    case 1:
      return TG_SCHEDULE_WAIT_NONE;
    case 2:
    case 3:
      return TG_SCHEDULE_WAIT_REST;
    case 4:
    case 5:
      from = tg_schedule_wait_nearest(36 * MS);
      to = tg_schedule_wait_nearest(44 * MS);
      return (uint8_t)(from + tg_rng_below(rng, to - from + 1u));
    case 6:  // about a turn of the link
      return (uint8_t)(TG_SCHEDULE_WAIT_MIN + tg_rng_below(rng, tg_schedule_wait_nearest(10 * MS)));
    default:
      return (uint8_t)tg_rng_below(rng, TG_SCHEDULE_WAIT_REST + 1);
  }
}

uint8_t tg_draw_client(struct tg_rng *rng, const struct tg_schedule *schedule) {
  if (schedule->num_steps > 0 && !tg_rng_one_in(rng, 4)) {
    const struct tg_schedule_step *step = &schedule->steps[tg_rng_below(rng, (uint32_t)schedule->num_steps)];
    if (tg_schedule_names_client(step->action)) {
      return step->client;
    }
  }
  return (uint8_t)tg_rng_below(rng, tg_rng_one_in(rng, 4) ? TG_SCHEDULE_CLIENTS_MAX : 2);
}

// The actions with the most to say come more often.
uint8_t tg_draw_action(struct tg_rng *rng) {
  static const uint8_t rich[] = {TG_SCHEDULE_CONNECT, TG_SCHEDULE_REQUEST, TG_SCHEDULE_INJECT};
  return tg_rng_one_in(rng, 4) ? rich[tg_rng_below(rng, COUNT_OF(rich))]
                               : (uint8_t)tg_rng_below(rng, TG_SCHEDULE_ACTIONS_COUNT);
}

// None to three bits, or any.
static uint16_t draw_connect(struct tg_rng *rng) {
  if (tg_rng_one_in(rng, 8)) {
    return below(rng, 1u << TG_CONNECT_BITS);
  }
  uint16_t bits = 0;
  for (uint32_t n = tg_rng_below(rng, 4); n > 0; n--) {
    bits |= (uint16_t)(1u << tg_rng_below(rng, TG_CONNECT_BITS));
  }
  return bits;
}

static uint16_t inject(uint32_t failure, uint32_t skip, uint32_t times) {
  return (uint16_t)(failure | skip << FAILURE_BITS | times << TIMES_SHIFT);
}

static uint32_t draw_times(struct tg_rng *rng) {
  return tg_rng_one_in(rng, 4) ? tg_rng_below(rng, TIMES_MAX + 1) : tg_rng_below(rng, 4);
}

uint16_t tg_draw_value(struct tg_rng *rng, uint8_t action) {
  uint16_t value;
  switch (action) {
    case TG_SCHEDULE_CONNECT:
      value = draw_connect(rng);
      break;
    case TG_SCHEDULE_REQUEST:
    case TG_SCHEDULE_RECORD:
      value = (uint16_t)(below(rng, KIND_MASK + 1) | draw_count(rng) << KIND_BITS);
      break;
    case TG_SCHEDULE_CUT:
    case TG_SCHEDULE_PUSH:
    case TG_SCHEDULE_READ:
    case TG_SCHEDULE_RAW:
      value = draw_bytes(rng);
      break;
    case TG_SCHEDULE_GAP:
    case TG_SCHEDULE_WIND_DOWN:
      value = tg_draw_wait(rng);
      break;
    case TG_SCHEDULE_MAX_FDS:
      value = tg_rng_one_in(rng, 3) ? 0 : below(rng, 16);
      break;
    case TG_SCHEDULE_INJECT:
      value = inject(tg_rng_below(rng, TG_SCHEDULE_FAILURES_COUNT),
                     tg_rng_one_in(rng, 2) ? 0 : tg_rng_below(rng, SKIP_MASK + 1), draw_times(rng));
      break;
    default:
      value = below(rng, VALUES);
  }
  return tg_schedule_fold_value(action, value);
}

static uint16_t draw_nibbles_near(struct tg_rng *rng, uint8_t action, uint16_t value) {
  uint16_t kind = value & KIND_MASK;
  uint16_t size = value >> KIND_BITS;
  switch (tg_rng_below(rng, 3)) {
    case 0:
      kind = below(rng, action == TG_SCHEDULE_RECORD ? TG_SCHEDULE_RECORDS_COUNT : TG_SCHEDULE_REQUESTS_COUNT);
      break;
    case 1:
      size = draw_count(rng);
      break;
    default:
      size = (uint16_t)(size + below(rng, 5) - 2) & (SIZES_MAX - 1);
  }
  return (uint16_t)(kind | size << KIND_BITS);
}

static uint16_t draw_inject_near(struct tg_rng *rng, uint16_t value) {
  uint32_t failure = value & FAILURE_MASK;
  uint32_t skip = value >> FAILURE_BITS & SKIP_MASK;
  uint32_t times = value >> TIMES_SHIFT;
  switch (tg_rng_below(rng, 3)) {
    case 0:
      failure = tg_rng_below(rng, TG_SCHEDULE_FAILURES_COUNT);
      break;
    case 1:
      skip = tg_rng_below(rng, SKIP_MASK + 1);
      break;
    default:
      times = draw_times(rng);
  }
  return inject(failure, skip, times);
}

uint16_t tg_draw_value_near(struct tg_rng *rng, uint8_t action, uint16_t value) {
  if (tg_rng_one_in(rng, 4)) {
    return tg_draw_value(rng, action);
  }
  switch (action) {
    case TG_SCHEDULE_CONNECT:
      value ^= (uint16_t)(1u << tg_rng_below(rng, TG_CONNECT_BITS));
      break;
    case TG_SCHEDULE_REQUEST:
    case TG_SCHEDULE_RECORD:
      value = draw_nibbles_near(rng, action, value);
      break;
    case TG_SCHEDULE_INJECT:
      value = draw_inject_near(rng, value);
      break;
    default:
      value = (uint16_t)(value + below(rng, 9) - 4);
  }
  return tg_schedule_fold_value(action, value);
}

struct tg_schedule_step tg_draw_step(struct tg_rng *rng, const struct tg_schedule *schedule) {
  struct tg_schedule_step step = {
      .action = tg_draw_action(rng), .client = tg_draw_client(rng, schedule), .wait = tg_draw_wait(rng)};
  step.value = tg_draw_value(rng, step.action);
  tg_schedule_fold_step(&step);
  return step;
}

size_t tg_draw_visit(struct tg_rng *rng, const struct tg_schedule *schedule, struct tg_schedule_step *out) {
  static const uint8_t leave[] = {TG_SCHEDULE_CLOSE_NOTIFY, TG_SCHEDULE_HALF_CLOSE, TG_SCHEDULE_CLOSE,
                                  TG_SCHEDULE_RESET};
  const uint8_t client = tg_draw_client(rng, schedule);
  uint8_t actions[TG_DRAW_VISIT_MAX];
  size_t count = 0;
  actions[count++] = TG_SCHEDULE_CONNECT;
  if (tg_rng_one_in(rng, 2)) {
    actions[count++] = TG_SCHEDULE_CUT;
    actions[count++] = TG_SCHEDULE_GAP;
  }
  actions[count++] = TG_SCHEDULE_REQUEST;
  if (tg_rng_one_in(rng, 2)) {
    actions[count++] = TG_SCHEDULE_REQUEST;
  }
  if (tg_rng_one_in(rng, 2)) {
    actions[count++] = leave[tg_rng_below(rng, COUNT_OF(leave))];
  }
  for (size_t i = 0; i < count; i++) {
    out[i] = (struct tg_schedule_step){.action = actions[i], .client = client};
    out[i].value = tg_draw_value(rng, actions[i]);
    if (actions[i] != TG_SCHEDULE_CUT && actions[i] != TG_SCHEDULE_GAP) {
      out[i].wait = tg_draw_wait(rng);
    }
  }
  return count;
}

void tg_draw_setting(struct tg_rng *rng, struct tg_schedule_settings *settings) {
  bool *const flags[] = {&settings->flush_tickets, &settings->early_data, &settings->client_ca,
                         &settings->plaintext_listener};
  uint8_t *const choices[] = {&settings->shards,  &settings->key,    &settings->deadlines,   &settings->ticket_lifetime,
                              &settings->delay,   &settings->mss,    &settings->send_buffer, &settings->window,
                              &settings->call_ns, &settings->refused};
  uint8_t *const limits[] = {&settings->max_connections, &settings->max_fds};
  uint32_t which = tg_rng_below(rng, COUNT_OF(flags) + COUNT_OF(choices) + COUNT_OF(limits));
  if (which < COUNT_OF(flags)) {
    *flags[which] = !*flags[which];
  } else if (which - COUNT_OF(flags) < COUNT_OF(choices)) {
    // Nought more often than the rest: the plain case.
    *choices[which - COUNT_OF(flags)] = tg_rng_one_in(rng, 4) ? 0 : (uint8_t)tg_rng_next(rng);
  } else {
    *limits[which - COUNT_OF(flags) - COUNT_OF(choices)] = (uint8_t)tg_rng_below(rng, tg_rng_one_in(rng, 4) ? 256 : 8);
  }
  tg_schedule_fold_settings(settings);
}
