#include "fuzz/schedule/edit.h"

#include <string.h>

#include "fuzz/schedule/fold.h"
#include "fuzz/schedule/layout.h"

size_t tg_edit_room(size_t max_size) {
  size_t room = max_size < TG_LAYOUT_STEPS ? 0 : (max_size - TG_LAYOUT_STEPS) / TG_LAYOUT_STEP_BYTES;
  return room < TG_SCHEDULE_STEPS_MAX ? room : TG_SCHEDULE_STEPS_MAX;
}

void tg_edit_insert(struct tg_schedule *schedule, size_t room, size_t at, const struct tg_schedule_step *steps,
                    size_t count) {
  if (schedule->num_steps >= room) {
    return;
  }
  if (count > room - schedule->num_steps) {
    count = room - schedule->num_steps;
  }
  memmove(&schedule->steps[at + count], &schedule->steps[at], (schedule->num_steps - at) * sizeof(steps[0]));
  memcpy(&schedule->steps[at], steps, count * sizeof(steps[0]));
  schedule->num_steps += count;
}

void tg_edit_delete(struct tg_schedule *schedule, size_t at, size_t count) {
  memmove(&schedule->steps[at], &schedule->steps[at + count],
          (schedule->num_steps - at - count) * sizeof(schedule->steps[0]));
  schedule->num_steps -= count;
}

size_t tg_edit_pick_client(const struct tg_schedule *schedule, uint8_t client, uint8_t as,
                           struct tg_schedule_step *out) {
  size_t count = 0;
  for (size_t i = 0; i < schedule->num_steps; i++) {
    const struct tg_schedule_step *step = &schedule->steps[i];
    if (tg_schedule_names_client(step->action) && step->client == client) {
      out[count] = *step;
      out[count++].client = as;
    }
  }
  return count;
}

void tg_edit_weave(struct tg_schedule *schedule, size_t room, size_t from, const struct tg_schedule_step *steps,
                   size_t count) {
  const size_t old = schedule->num_steps - from;
  for (size_t i = 0; i < count; i++) {
    tg_edit_insert(schedule, room, from + i + old * i / count, &steps[i], 1);
    if (schedule->num_steps >= room) {
      return;
    }
  }
}

size_t tg_edit_write(const struct tg_schedule *schedule, uint8_t *out, size_t max_size) {
  uint8_t bytes[TG_SCHEDULE_BYTES_MAX];
  size_t size = tg_schedule_encode(schedule, bytes);
  if (size > max_size) {
    size = max_size;
  }
  memcpy(out, bytes, size);
  return size;
}
