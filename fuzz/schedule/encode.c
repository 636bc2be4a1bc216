#include <string.h>

#include "fuzz/schedule/fold.h"
#include "fuzz/schedule/layout.h"
#include "fuzz/schedule/schedule.h"

_Static_assert(TG_LAYOUT_STEPS + TG_LAYOUT_STEP_BYTES * TG_SCHEDULE_STEPS_MAX <= TG_SCHEDULE_BYTES_MAX,
               "the longest encoding fits what callers reserve");

static void encode_settings(struct tg_schedule_settings settings, uint8_t *head) {
  tg_schedule_fold_settings(&settings);
  memset(head, 0, TG_LAYOUT_STEPS);
  head[TG_LAYOUT_VERSION] = TG_SCHEDULE_VERSION;
  head[TG_LAYOUT_SERVER] =
      (uint8_t)(settings.flush_tickets | settings.early_data << 1 | settings.client_ca << 2 |
                settings.plaintext_listener << 3 | (settings.shards - 1) << 4 | settings.deadlines << 6);
  head[TG_LAYOUT_CHOICES] = (uint8_t)(settings.key | settings.ticket_lifetime << 2 | settings.call_ns << 4);
  head[TG_LAYOUT_SIZES] = (uint8_t)(settings.mss | settings.send_buffer << 2 | settings.window << 4);
  head[TG_LAYOUT_DELAY] = settings.delay;
  head[TG_LAYOUT_MAX_CONNECTIONS] = settings.max_connections;
  head[TG_LAYOUT_MAX_FDS] = settings.max_fds;
  head[TG_LAYOUT_REFUSED] = settings.refused;
}

static void encode_step(struct tg_schedule_step step, uint8_t *out) {
  tg_schedule_fold_step(&step);
  out[TG_LAYOUT_STEP_ACTION] = step.action;
  out[TG_LAYOUT_STEP_CLIENT] = step.client;
  out[TG_LAYOUT_STEP_VALUE_LOW] = step.value & 0xff;
  out[TG_LAYOUT_STEP_VALUE_HIGH] = step.value >> 8;
  out[TG_LAYOUT_STEP_WAIT] = step.wait;
}

size_t tg_schedule_encode(const struct tg_schedule *schedule, uint8_t *out) {
  encode_settings(schedule->settings, out);
  size_t len = TG_LAYOUT_STEPS;
  for (size_t i = 0; i < schedule->num_steps && i < TG_SCHEDULE_STEPS_MAX; i++) {
    encode_step(schedule->steps[i], out + len);
    len += TG_LAYOUT_STEP_BYTES;
  }
  return len;
}
