#include <string.h>

#include "fuzz/schedule/fold.h"
#include "fuzz/schedule/layout.h"
#include "fuzz/schedule/schedule.h"

static void decode_settings(const uint8_t *head, struct tg_schedule_settings *out) {
  uint8_t server = head[TG_LAYOUT_SERVER];
  out->flush_tickets = server & 1;
  out->early_data = server >> 1 & 1;
  out->client_ca = server >> 2 & 1;
  out->plaintext_listener = server >> 3 & 1;
  out->shards = (server >> 4 & 3) + 1;
  out->deadlines = server >> 6;
  uint8_t choices = head[TG_LAYOUT_CHOICES];
  out->key = choices & 3;
  out->ticket_lifetime = choices >> 2 & 3;
  out->call_ns = choices >> 4 & 3;
  uint8_t sizes = head[TG_LAYOUT_SIZES];
  out->mss = sizes & 3;
  out->send_buffer = sizes >> 2 & 3;
  out->window = sizes >> 4 & 3;
  out->delay = head[TG_LAYOUT_DELAY];
  out->max_connections = head[TG_LAYOUT_MAX_CONNECTIONS];
  out->max_fds = head[TG_LAYOUT_MAX_FDS];
  out->refused = head[TG_LAYOUT_REFUSED];
  tg_schedule_fold_settings(out);
}

static void decode_step(const uint8_t *bytes, struct tg_schedule_step *out) {
  out->action = bytes[TG_LAYOUT_STEP_ACTION];
  out->client = bytes[TG_LAYOUT_STEP_CLIENT];
  out->value = (uint16_t)(bytes[TG_LAYOUT_STEP_VALUE_LOW] | bytes[TG_LAYOUT_STEP_VALUE_HIGH] << 8);
  out->wait = bytes[TG_LAYOUT_STEP_WAIT];
  tg_schedule_fold_step(out);
}

// take copies `want` bytes, zeros where there are none, and moves past them.
static void take(const uint8_t **data, size_t *len, uint8_t *out, size_t want) {
  size_t got = *len < want ? *len : want;
  memset(out, 0, want);
  if (got == 0) return;
  memcpy(out, *data, got);
  *data += got;
  *len -= got;
}

// The version is not looked at: there is one so far, and one that nobody knows is read as the current one.
void tg_schedule_decode(const uint8_t *data, size_t len, struct tg_schedule *out) {
  memset(out, 0, sizeof(*out));
  uint8_t head[TG_LAYOUT_STEPS];
  take(&data, &len, head, sizeof(head));
  decode_settings(head, &out->settings);
  while (len > 0 && out->num_steps < TG_SCHEDULE_STEPS_MAX) {
    uint8_t step[TG_LAYOUT_STEP_BYTES];
    take(&data, &len, step, sizeof(step));
    decode_step(step, &out->steps[out->num_steps++]);
  }
}
