#include "fuzz/world/canonical.h"

static bool is_timeless(const struct tg_schedule_step *step) {
  switch ((enum tg_schedule_action)step->action) {
    case TG_SCHEDULE_WAIT:
    case TG_SCHEDULE_CONNECT:
    case TG_SCHEDULE_REQUEST:
    case TG_SCHEDULE_CUT:
    case TG_SCHEDULE_GAP:
    case TG_SCHEDULE_HOLD:
    case TG_SCHEDULE_PUSH:
    case TG_SCHEDULE_READ:
    case TG_SCHEDULE_CLOSE_NOTIFY:
    case TG_SCHEDULE_HALF_CLOSE:
    case TG_SCHEDULE_CLOSE:
    case TG_SCHEDULE_NODELAY:
    case TG_SCHEDULE_CORK:
    case TG_SCHEDULE_DELAY:
      return true;
    // What bytes these send, and after which of TLS's own, depends on what has come back so far.
    case TG_SCHEDULE_FLIP:
    case TG_SCHEDULE_RAW:
    case TG_SCHEDULE_RECORD:
    case TG_SCHEDULE_KEY_UPDATE:
    case TG_SCHEDULE_DROP_FLIGHT:
    case TG_SCHEDULE_REPLAY:
    case TG_SCHEDULE_RESET:
    case TG_SCHEDULE_INJECT:
    case TG_SCHEDULE_CLEAR:
    case TG_SCHEDULE_MAX_FDS:
    case TG_SCHEDULE_WIND_DOWN:
    case TG_SCHEDULE_ACTIONS_COUNT:
      break;
  }
  return false;
}

bool tg_schedule_retime(const struct tg_schedule *schedule, bool at_once, struct tg_schedule *out) {
  static const uint8_t kRest = 255;
  if (schedule->settings.max_connections > 0 || schedule->settings.max_fds > 0 || schedule->settings.deadlines == 3) {
    return false;
  }
  *out = *schedule;
  for (size_t i = 0; i < out->num_steps; i++) {
    struct tg_schedule_step *step = &out->steps[i];
    if (!is_timeless(step)) {
      return false;
    }
    step->wait = at_once ? 0 : kRest;
    if (step->action == TG_SCHEDULE_CUT || step->action == TG_SCHEDULE_GAP) {
      step->value = 0;
    }
  }
  return true;
}
