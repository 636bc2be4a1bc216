#include <string.h>

#include "fuzz/schedule/draw.h"
#include "fuzz/schedule/edit.h"
#include "fuzz/schedule/mutate.h"
#include "fuzz/schedule/rng.h"

static size_t up_to(struct tg_rng *rng, size_t most) {
  return tg_rng_below(rng, (uint32_t)most + 1);
}

// The beginning of one, then the end of the other.
static void join(struct tg_rng *rng, struct tg_schedule *a, const struct tg_schedule *b, size_t room) {
  a->num_steps = up_to(rng, a->num_steps);
  const size_t from = up_to(rng, b->num_steps);
  tg_edit_insert(a, room, a->num_steps, &b->steps[from], b->num_steps - from);
}

// A run of the other's steps, in the middle.
static void graft(struct tg_rng *rng, struct tg_schedule *a, const struct tg_schedule *b, size_t room) {
  const size_t from = up_to(rng, b->num_steps);
  tg_edit_insert(a, room, up_to(rng, a->num_steps), &b->steps[from], up_to(rng, b->num_steps - from));
}

// All that one client of the other does, at the same time as what is done already.
static void invite(struct tg_rng *rng, struct tg_schedule *a, const struct tg_schedule *b, size_t room) {
  struct tg_schedule_step steps[TG_SCHEDULE_STEPS_MAX];
  const uint8_t client = tg_draw_client(rng, b);
  const size_t count = tg_edit_pick_client(b, client, (uint8_t)tg_rng_below(rng, TG_SCHEDULE_CLIENTS_MAX), steps);
  tg_edit_weave(a, room, up_to(rng, a->num_steps), steps, count);
}

size_t tg_schedule_cross_over(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                              size_t max_size, unsigned seed) {
  struct tg_rng rng = {seed};
  struct tg_schedule one, other;
  tg_schedule_decode(a, a_size, &one);
  tg_schedule_decode(b, b_size, &other);
  const size_t room = tg_edit_room(max_size);
  if (one.num_steps > room) {
    one.num_steps = room;
  }
  switch (tg_rng_below(&rng, 4)) {
    case 0:
      join(&rng, &one, &other, room);
      break;
    case 1:
      graft(&rng, &one, &other, room);
      break;
    case 2:
      invite(&rng, &one, &other, room);
      break;
    default:
      one.settings = other.settings;
  }
  if (tg_rng_one_in(&rng, 4)) {
    one.settings = other.settings;
  }
  return tg_edit_write(&one, out, max_size);
}
