#include "fuzz/schedule/mutate.h"

#include <string.h>

#include "fuzz/schedule/draw.h"
#include "fuzz/schedule/edit.h"
#include "fuzz/schedule/fold.h"
#include "fuzz/schedule/rng.h"
#include "fuzz/schedule/schedule.h"

#define EDITS_MAX    4
#define RUN_MAX      8u   // steps that one edit copies, moves or deletes
#define BYTES_ONE_IN 16u  // mutants made of bytes
#define TRIES        4    // for a mutant that differs

struct mutation {
  struct tg_rng rng;
  struct tg_schedule schedule;
  size_t room;
};

static size_t below(struct mutation *m, size_t bound) {
  return tg_rng_below(&m->rng, (uint32_t)bound);
}

// A step that is there: callers know that there is one.
static struct tg_schedule_step *any_step(struct mutation *m) {
  return &m->schedule.steps[below(m, m->schedule.num_steps)];
}

// A run of steps, short ones more often.
static void any_run(struct mutation *m, size_t *at, size_t *count) {
  *at = below(m, m->schedule.num_steps);
  size_t longest = m->schedule.num_steps - *at;
  if (longest > RUN_MAX) {
    longest = RUN_MAX;
  }
  *count = 1 + below(m, 1 + below(m, longest));
}

static void insert_step(struct mutation *m) {
  struct tg_schedule_step step = tg_draw_step(&m->rng, &m->schedule);
  tg_edit_insert(&m->schedule, m->room, below(m, m->schedule.num_steps + 1), &step, 1);
}

static void insert_visit(struct mutation *m) {
  struct tg_schedule_step steps[TG_DRAW_VISIT_MAX];
  size_t count = tg_draw_visit(&m->rng, &m->schedule, steps);
  tg_edit_insert(&m->schedule, m->room, below(m, m->schedule.num_steps + 1), steps, count);
}

static void delete_run(struct mutation *m) {
  size_t at, count;
  any_run(m, &at, &count);
  tg_edit_delete(&m->schedule, at, count);
}

static void duplicate_run(struct mutation *m) {
  size_t at, count;
  any_run(m, &at, &count);
  struct tg_schedule_step run[RUN_MAX];
  memcpy(run, &m->schedule.steps[at], count * sizeof(run[0]));
  tg_edit_insert(&m->schedule, m->room, tg_rng_one_in(&m->rng, 2) ? at + count : below(m, m->schedule.num_steps + 1),
                 run, count);
}

static void move_run(struct mutation *m) {
  size_t at, count;
  any_run(m, &at, &count);
  struct tg_schedule_step run[RUN_MAX];
  memcpy(run, &m->schedule.steps[at], count * sizeof(run[0]));
  tg_edit_delete(&m->schedule, at, count);
  tg_edit_insert(&m->schedule, m->room, below(m, m->schedule.num_steps + 1), run, count);
}

static void swap_steps(struct mutation *m) {
  struct tg_schedule_step *a = any_step(m), *b = any_step(m);
  struct tg_schedule_step kept = *a;
  *a = *b;
  *b = kept;
}

static void change_client(struct mutation *m) {
  any_step(m)->client = tg_draw_client(&m->rng, &m->schedule);
}

static void change_action(struct mutation *m) {
  struct tg_schedule_step *step = any_step(m);
  step->action = tg_draw_action(&m->rng);
  step->value = tg_draw_value(&m->rng, step->action);
}

static void change_value(struct mutation *m) {
  struct tg_schedule_step *step = any_step(m);
  step->value = tg_draw_value_near(&m->rng, step->action, step->value);
}

static void change_wait(struct mutation *m) {
  struct tg_schedule_step *step = any_step(m);
  step->wait = tg_rng_one_in(&m->rng, 3) ? (uint8_t)(step->wait + below(m, 7) - 3) : tg_draw_wait(&m->rng);
}

// What one client does is done by another as well: at once after it, or at the same time.
static void copy_client(struct mutation *m) {
  const uint8_t from = any_step(m)->client;
  const uint8_t to = (uint8_t)((from + 1 + below(m, TG_SCHEDULE_CLIENTS_MAX - 1)) % TG_SCHEDULE_CLIENTS_MAX);
  struct tg_schedule_step steps[TG_SCHEDULE_STEPS_MAX];
  const size_t count = tg_edit_pick_client(&m->schedule, from, to, steps);
  if (tg_rng_one_in(&m->rng, 2)) {
    tg_edit_insert(&m->schedule, m->room, m->schedule.num_steps, steps, count);
  } else {
    tg_edit_weave(&m->schedule, m->room, 0, steps, count);
  }
}

// A client's steps move to another client.
static void rename_client(struct mutation *m) {
  const uint8_t from = any_step(m)->client;
  const uint8_t to = (uint8_t)below(m, TG_SCHEDULE_CLIENTS_MAX);
  for (size_t i = 0; i < m->schedule.num_steps; i++) {
    if (m->schedule.steps[i].client == from) {
      m->schedule.steps[i].client = to;
    }
  }
}

static void change_setting(struct mutation *m) {
  tg_draw_setting(&m->rng, &m->schedule.settings);
}

// How often each is chosen. The first three need no step to work on.
static const struct {
  void (*edit)(struct mutation *m);
  uint32_t weight;
} edits[] = {
    {insert_step, 12}, {insert_visit, 4}, {change_setting, 6}, {delete_run, 10},   {duplicate_run, 6},
    {move_run, 6},     {swap_steps, 5},   {change_client, 4},  {change_action, 6}, {change_value, 20},
    {change_wait, 14}, {copy_client, 2},  {rename_client, 1},
};
#define WEIGHTS         96u
#define WEIGHTS_NO_STEP 22u  // of the first three

static void edit_once(struct mutation *m) {
  uint32_t at = tg_rng_below(&m->rng, m->schedule.num_steps == 0 ? WEIGHTS_NO_STEP : WEIGHTS);
  size_t i = 0;
  while (at >= edits[i].weight) {
    at -= edits[i++].weight;
  }
  edits[i].edit(m);
}

// Where nobody lends a mutator of bytes: sets, flips, inserts or deletes one.
static size_t mutate_byte(struct tg_rng *rng, uint8_t *data, size_t size, size_t max_size) {
  const uint32_t what = size == 0 ? 3 : tg_rng_below(rng, 4);
  const size_t at = tg_rng_below(rng, (uint32_t)size + (what == 3));
  switch (what) {
    case 0:
      data[at] = (uint8_t)tg_rng_next(rng);
      return size;
    case 1:
      data[at] ^= (uint8_t)(1u << tg_rng_below(rng, 8));
      return size;
    case 2:
      if (size == 1) {
        return size;
      }
      memmove(&data[at], &data[at + 1], size - at - 1);
      return size - 1;
    default:
      if (size >= max_size) {
        return size;
      }
      memmove(&data[at + 1], &data[at], size - at);
      data[at] = (uint8_t)tg_rng_next(rng);
      return size + 1;
  }
}

size_t tg_schedule_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed, tg_byte_mutator *bytes) {
  if (size > max_size) {
    size = max_size;
  }
  if (max_size == 0) {
    return 0;
  }
  struct mutation m = {.rng = {seed}, .room = tg_edit_room(max_size)};
  if (tg_rng_one_in(&m.rng, BYTES_ONE_IN)) {
    size_t mutated = bytes != NULL ? bytes(data, size, max_size) : mutate_byte(&m.rng, data, size, max_size);
    if (mutated > 0) {
      return mutated;
    }
  }
  struct tg_schedule original;
  tg_schedule_decode(data, size, &original);
  if (original.num_steps > m.room) {
    original.num_steps = m.room;
  }
  uint8_t before[TG_SCHEDULE_BYTES_MAX], after[TG_SCHEDULE_BYTES_MAX];
  size_t before_size = tg_edit_write(&original, before, sizeof(before)), after_size = 0;
  for (int try = 0; try < TRIES; try++) {
    m.schedule = original;
    for (size_t n = 1 + below(&m, 1 + below(&m, EDITS_MAX)); n > 0; n--) {
      edit_once(&m);
    }
    after_size = tg_edit_write(&m.schedule, after, sizeof(after));
    if (after_size != before_size || memcmp(before, after, after_size) != 0) {
      break;
    }
  }
  if (after_size > max_size) {
    after_size = max_size;
  }
  memcpy(data, after, after_size);
  return after_size;
}
