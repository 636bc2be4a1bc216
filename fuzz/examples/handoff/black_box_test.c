// usage: black_box_test nothing_inside|no_promise SEED...
//
// The world around a server that says less of itself: one that shows nothing of its inside, so that a deadline's doing
// has to be told from the outside, and one that promises no deadline, and so is not held to any. Every seed is run, and
// run again in another timing. A finding aborts.
#include <stdio.h>
#include <string.h>

#include "fuzz/schedule/files.h"
#include "fuzz/schedule/schedule.h"
#include "fuzz/world/accept_path.h"
#include "fuzz/world/canonical.h"
#include "fuzz/world/world.h"

// A day: no run takes as long.
#define NO_DEADLINE_MS 86400000u

static void *create_without_deadlines(const void *given) {
  struct tg_accept_path_config config = *(const struct tg_accept_path_config *)given;
  config.deadlines =
      (struct tg_promises){NO_DEADLINE_MS, NO_DEADLINE_MS, NO_DEADLINE_MS, NO_DEADLINE_MS, NO_DEADLINE_MS};
  return tg_world_accept_path.adapter.create(&config);
}

static struct tg_accept_path path;

static bool say_less(const char *what) {
  path = tg_world_accept_path;
  if (strcmp(what, "nothing_inside") == 0) {
    memset(&path.inside, 0, sizeof(path.inside));
    return true;
  }
  path.deadlines = (struct tg_promises){0};
  path.adapter.create = create_without_deadlines;
  return strcmp(what, "no_promise") == 0;
}

static uint64_t handshakes;
static unsigned compared;

static void run(const struct tg_whole_file *file) {
  static const struct tg_world_options kOptions = {0};
  struct tg_schedule schedule;
  struct tg_schedule retimed;
  struct tg_world_outcome outcome;
  tg_schedule_decode(file->bytes, file->len, &schedule);
  tg_world_run(&schedule, &kOptions, &outcome);
  handshakes += outcome.handshakes;
  if (outcome.comparable && tg_schedule_retime(&schedule, schedule.num_steps % 2 == 1, &retimed)) {
    struct tg_world_outcome again;
    tg_world_run(&retimed, &kOptions, &again);
    tg_world_require_same(&outcome, &again);
    compared++;
  }
}

int main(int argc, char **argv) {
  if (argc < 3 || !say_less(argv[1])) {
    fprintf(stderr, "usage: black_box_test nothing_inside|no_promise SEED...\n");
    return 2;
  }
  tg_world_init_with(&path);
  for (int i = 2; i < argc; i++) {
    struct tg_whole_file file;
    struct tg_error err;
    if (!tg_whole_file_read(argv[i], &file, &err)) {
      fprintf(stderr, "black_box_test: %s\n", err.text);
      return 1;
    }
    printf("%s\n", argv[i]);
    (void)fflush(stdout);
    run(&file);
    tg_whole_file_free(&file);
  }
  printf("%d seeds, %llu handshakes, %u runs compared\n", argc - 2, (unsigned long long)handshakes, compared);
  // Seeds that nobody is served in would prove nothing.
  return handshakes > 0 && compared > 0 ? 0 : 1;
}
