#include "fuzz/schedule/testing_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint16_t below(struct tg_rng *rng, uint32_t bound) {
  return (uint16_t)tg_rng_below(rng, bound);
}

// The ranges are written out again here, from schedule.h: a test that asked the code for them could not disagree.
static uint16_t random_value(struct tg_rng *rng, uint8_t action) {
  switch (action) {
    case TG_SCHEDULE_WAIT:
    case TG_SCHEDULE_CLOSE_NOTIFY:
    case TG_SCHEDULE_CLOSE:
    case TG_SCHEDULE_RESET:
    case TG_SCHEDULE_DROP_FLIGHT:
    case TG_SCHEDULE_CLEAR:
      return 0;
    case TG_SCHEDULE_CONNECT:
      return below(rng, 2048);
    case TG_SCHEDULE_GAP:
    case TG_SCHEDULE_MAX_FDS:
    case TG_SCHEDULE_WIND_DOWN:
      return below(rng, 256);
    case TG_SCHEDULE_HOLD:
    case TG_SCHEDULE_HALF_CLOSE:
    case TG_SCHEDULE_KEY_UPDATE:
    case TG_SCHEDULE_NODELAY:
    case TG_SCHEDULE_CORK:
      return below(rng, 2);
    case TG_SCHEDULE_RAW:
      return tg_rng_one_in(rng, 4) ? 4096 : 1 + below(rng, 4096);
    case TG_SCHEDULE_RECORD:
      return (uint16_t)(below(rng, 4096) << 4 | below(rng, 8));
    case TG_SCHEDULE_DELAY:
      return below(rng, 5);
    case TG_SCHEDULE_REPLAY:
      return below(rng, 8);
    case TG_SCHEDULE_INJECT:
      return (uint16_t)(below(rng, 2048) << 5 | below(rng, 28));
    default:
      return below(rng, 65536);
  }
}

static bool concerns_all(uint8_t action) {
  return action == TG_SCHEDULE_WAIT || action == TG_SCHEDULE_DELAY || action == TG_SCHEDULE_INJECT ||
         action == TG_SCHEDULE_CLEAR || action == TG_SCHEDULE_MAX_FDS || action == TG_SCHEDULE_WIND_DOWN;
}

void tg_testing_random_schedule(struct tg_rng *rng, size_t num_steps, struct tg_schedule *out) {
  memset(out, 0, sizeof(*out));
  out->settings = (struct tg_schedule_settings){
      .shards = (uint8_t)(1 + below(rng, 3)),
      .key = (uint8_t)below(rng, 3),
      .flush_tickets = below(rng, 2),
      .early_data = below(rng, 2),
      .client_ca = below(rng, 2),
      .plaintext_listener = below(rng, 2),
      .deadlines = (uint8_t)below(rng, 4),
      .max_connections = (uint8_t)below(rng, 256),
      .ticket_lifetime = (uint8_t)below(rng, 3),
      .delay = (uint8_t)below(rng, 5),
      .mss = (uint8_t)below(rng, 4),
      .send_buffer = (uint8_t)below(rng, 4),
      .window = (uint8_t)below(rng, 4),
      .max_fds = (uint8_t)below(rng, 256),
      .call_ns = (uint8_t)below(rng, 4),
      .refused = (uint8_t)below(rng, 13),
  };
  out->num_steps = num_steps;
  for (size_t i = 0; i < num_steps; i++) {
    struct tg_schedule_step *step = &out->steps[i];
    step->action = (uint8_t)below(rng, TG_SCHEDULE_ACTIONS_COUNT);
    step->client = concerns_all(step->action) ? 0 : (uint8_t)below(rng, TG_SCHEDULE_CLIENTS_MAX);
    step->value = random_value(rng, step->action);
    step->wait = (uint8_t)below(rng, 256);
  }
}

bool tg_testing_step_equal(const struct tg_schedule_step *a, const struct tg_schedule_step *b) {
  return a->action == b->action && a->client == b->client && a->value == b->value && a->wait == b->wait;
}

void tg_testing_assert_equal(const struct tg_schedule *a, const struct tg_schedule *b) {
#define SAME(field) assert_int_equal(a->settings.field, b->settings.field)
  SAME(shards);
  SAME(key);
  SAME(flush_tickets);
  SAME(early_data);
  SAME(client_ca);
  SAME(plaintext_listener);
  SAME(deadlines);
  SAME(max_connections);
  SAME(ticket_lifetime);
  SAME(delay);
  SAME(mss);
  SAME(send_buffer);
  SAME(window);
  SAME(max_fds);
  SAME(call_ns);
  SAME(refused);
#undef SAME
  assert_int_equal(a->num_steps, b->num_steps);
  for (size_t i = 0; i < a->num_steps; i++) {
    const struct tg_schedule_step *x = &a->steps[i], *y = &b->steps[i];
    if (!tg_testing_step_equal(x, y)) {
      fail_msg("step %zu: action %u client %u value %u wait %u, and %u %u %u %u", i, x->action, x->client, x->value,
               x->wait, y->action, y->client, y->value, y->wait);
    }
  }
}
