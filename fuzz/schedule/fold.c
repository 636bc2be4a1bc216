#include "fuzz/schedule/fold.h"

#define SHARDS_MAX       3
#define DEADLINES        4
#define TICKET_LIFETIMES 3
#define DELAYS           5
#define MSSES            4
#define SEND_BUFFERS     4
#define WINDOWS          4
#define CALL_TIMES       4
#define RAW_MAX          4096u
#define NIBBLE           0x0fu
#define FAILURE_MASK     0x1fu

bool tg_schedule_names_client(uint8_t action) {
  switch (action) {
    case TG_SCHEDULE_WAIT:
    case TG_SCHEDULE_DELAY:
    case TG_SCHEDULE_INJECT:
    case TG_SCHEDULE_CLEAR:
    case TG_SCHEDULE_MAX_FDS:
    case TG_SCHEDULE_WIND_DOWN:
      return false;
    default:
      return true;
  }
}

uint16_t tg_schedule_fold_value(uint8_t action, uint16_t value) {
  switch (action) {
    case TG_SCHEDULE_CONNECT:
      return value & ((1u << TG_CONNECT_BITS) - 1);
    case TG_SCHEDULE_REQUEST:  // 16 kinds fill the nibble
    case TG_SCHEDULE_CUT:
    case TG_SCHEDULE_PUSH:
    case TG_SCHEDULE_READ:
    case TG_SCHEDULE_FLIP:
      return value;
    case TG_SCHEDULE_GAP:
    case TG_SCHEDULE_MAX_FDS:
    case TG_SCHEDULE_WIND_DOWN:
      return value & 0xff;
    case TG_SCHEDULE_HOLD:
    case TG_SCHEDULE_HALF_CLOSE:
    case TG_SCHEDULE_KEY_UPDATE:
    case TG_SCHEDULE_NODELAY:
    case TG_SCHEDULE_CORK:
      return value & 1;
    case TG_SCHEDULE_RAW:
      return value % RAW_MAX == 0 ? RAW_MAX : value % RAW_MAX;
    case TG_SCHEDULE_RECORD:
      return (value & ~NIBBLE) | (value & NIBBLE) % TG_SCHEDULE_RECORDS_COUNT;
    case TG_SCHEDULE_DELAY:
      return value % DELAYS;
    case TG_SCHEDULE_REPLAY:
      return value % TG_SCHEDULE_CLIENTS_MAX;
    case TG_SCHEDULE_INJECT:
      return (value & ~FAILURE_MASK) | (value & FAILURE_MASK) % TG_SCHEDULE_FAILURES_COUNT;
    default:  // the value means nothing
      return 0;
  }
}

_Static_assert(TG_SCHEDULE_REQUESTS_COUNT == NIBBLE + 1, "every nibble is a kind of request");
_Static_assert(TG_SCHEDULE_RECORDS_COUNT <= NIBBLE + 1, "a nibble holds a kind of record");
_Static_assert(TG_SCHEDULE_FAILURES_COUNT <= FAILURE_MASK + 1, "five bits hold a failure");

void tg_schedule_fold_settings(struct tg_schedule_settings *settings) {
  if (settings->shards < 1 || settings->shards > SHARDS_MAX)
    settings->shards = 1 + (uint8_t)(settings->shards - 1) % SHARDS_MAX;
  settings->key %= TG_SCHEDULE_KEYS;
  settings->deadlines %= DEADLINES;
  settings->ticket_lifetime %= TICKET_LIFETIMES;
  settings->delay %= DELAYS;
  settings->mss %= MSSES;
  settings->send_buffer %= SEND_BUFFERS;
  settings->window %= WINDOWS;
  settings->call_ns %= CALL_TIMES;
  settings->refused %= TG_SCHEDULE_REFUSALS_COUNT;
}

void tg_schedule_fold_step(struct tg_schedule_step *step) {
  step->action %= TG_SCHEDULE_ACTIONS_COUNT;
  step->client = tg_schedule_names_client(step->action) ? step->client % TG_SCHEDULE_CLIENTS_MAX : 0;
  step->value = tg_schedule_fold_value(step->action, step->value);
}
