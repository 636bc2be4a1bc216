#include "fuzz/stats/ratio.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/base/count.h"
#include "fuzz/base/thrift.h"
#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/files.h"
#include "fuzz/launcher/process.h"
#include "perf/stats/quantile.h"

#define INPUTS_MAX 256
#define ROUNDS_MAX 32

// A run that takes so many times as long as it should is a hang.
#define PATIENCE 20.0

// What one process did: inputs, each `repeat` times.
struct work {
  double executions;
  double handshakes;
  double seconds;  // in the target; without the program's start
};

// "Executed FILE in 12 ms"
static void read_log(FILE *log, unsigned repeat, struct work *out) {
  char line[PATH_MAX + 64];
  while (fgets(line, sizeof(line), log) != NULL) {
    const char *in = strstr(line, " in ");
    for (const char *next = in; next != NULL; next = strstr(next + 1, " in ")) {
      in = next;
    }
    if (strncmp(line, "Executed ", strlen("Executed ")) == 0 && in != NULL) {
      out->executions += repeat;
      out->seconds += strtod(in + strlen(" in "), NULL) / 1000;
    } else if (strncmp(line, TG_FUZZ_COUNT_LINE, strlen(TG_FUZZ_COUNT_LINE)) == 0) {
      out->handshakes += strtod(line + strlen(TG_FUZZ_COUNT_LINE), NULL);
    }
  }
}

static bool run(const struct tg_fuzz_target *target, const struct tg_file_list *inputs, unsigned repeat, double limit_s,
                const char *scratch, struct work *out, struct tg_error *err) {
  char program[PATH_MAX];
  char log[PATH_MAX];
  char runs[32];
  tg_path(log, "%s/ratio.log", scratch);
  snprintf(runs, sizeof(runs), "-runs=%u", repeat);
  if (!tg_engine_runfile(target->libfuzzer, program, err)) {
    return false;
  }
  const char *argv[INPUTS_MAX + 5] = {program, runs, target->detect_leaks ? "-detect_leaks=1" : "-detect_leaks=0"};
  size_t num = inputs->num < INPUTS_MAX ? inputs->num : INPUTS_MAX;
  for (size_t i = 0; i < num; i++) {
    argv[3 + i] = inputs->paths[i];
  }
  setenv(TG_FUZZ_COUNT_ENV, "1", 1);
  // As the engines run it.
  setenv(TG_FUZZ_THRIFT_ENV, "1", 1);
  int status = tg_process_run(argv, log, limit_s, NULL, NULL, err);
  unsetenv(TG_FUZZ_COUNT_ENV);
  unsetenv(TG_FUZZ_THRIFT_ENV);
  *out = (struct work){0};
  FILE *file = status < 0 ? NULL : fopen(log, "re");
  if (file != NULL) {
    read_log(file, repeat, out);
    fclose(file);
  }
  if (status == 0 && out->executions == (double)num * repeat && out->seconds > 0) {
    return true;
  }
  if (status >= 0) {
    tg_engine_print_tail(log);
    tg_error_set(err, "%s did not run its %zu seeds %u times (exit status %d)", target->name, num, repeat, status);
  }
  return false;
}

// How often every input must be run for one run of about `seconds`: the printed times are whole milliseconds.
static bool calibrate(const struct tg_fuzz_target *target, const struct tg_file_list *inputs, double seconds,
                      const char *scratch, unsigned *out, struct tg_error *err) {
  struct work work;
  *out = 1;
  for (;;) {
    if (!run(target, inputs, *out, PATIENCE * (seconds + 1), scratch, &work, err)) {
      return false;
    }
    if (work.seconds >= seconds / 4 || *out >= 1000000) {
      break;
    }
    double factor = work.seconds > 0 ? seconds / work.seconds : 10;
    *out = (unsigned)(*out * (factor > 10 ? 10 : factor < 2 ? 2 : factor));
  }
  double scaled = *out * seconds / work.seconds;
  *out = scaled < 1 ? 1 : (unsigned)scaled;
  return true;
}

static double rate(const struct work *work, enum tg_ratio_unit unit) {
  return (unit == TG_RATIO_HANDSHAKES ? work->handshakes : work->executions) / work->seconds;
}

struct side {
  const struct tg_fuzz_target *target;
  unsigned repeat;
  double rates[2 * ROUNDS_MAX];
};

static bool measure(struct side *sides[2], const struct tg_file_list *inputs, enum tg_ratio_unit unit, unsigned rounds,
                    double seconds, const char *scratch, double *ratios, struct tg_error *err) {
  static const int kOrder[] = {0, 1, 1, 0};
  for (unsigned round = 0; round < rounds; round++) {
    double sums[2] = {0, 0};
    for (size_t turn = 0; turn < 4; turn++) {
      struct side *side = sides[kOrder[turn]];
      struct work work;
      if (!run(side->target, inputs, side->repeat, PATIENCE * (seconds + 1), scratch, &work, err)) {
        return false;
      }
      if (rate(&work, unit) <= 0) {
        tg_error_set(err,
                     "%s counts no handshakes: its seeds complete none, or it does not call "
                     "tg_fuzz_count_handshakes",
                     side->target->name);
        return false;
      }
      side->rates[2 * round + (turn >= 2)] = rate(&work, unit);
      sums[kOrder[turn]] += rate(&work, unit);
    }
    ratios[round] = sums[0] / sums[1];
  }
  return true;
}

bool tg_ratio_measure(const struct tg_fuzz_target *target, const struct tg_fuzz_target *bare, enum tg_ratio_unit unit,
                      unsigned rounds, double seconds, const char *scratch, struct tg_ratio *out,
                      struct tg_error *err) {
  char seeds[PATH_MAX];
  double ratios[ROUNDS_MAX];
  struct tg_file_list inputs = {0};
  struct side sides[2] = {{.target = target}, {.target = bare}};
  struct side *both[2] = {&sides[0], &sides[1]};
  rounds = rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
  bool ok = tg_engine_seeds(target, seeds, err) && tg_files_add(&inputs, seeds, err);
  for (int i = 0; ok && i < 2; i++) {
    ok = calibrate(sides[i].target, &inputs, seconds, scratch, &sides[i].repeat, err);
  }
  ok = ok && measure(both, &inputs, unit, rounds, seconds, scratch, ratios, err);
  tg_files_free(&inputs);
  if (ok) {
    out->target = tg_median(sides[0].rates, 2 * rounds);
    out->bare = tg_median(sides[1].rates, 2 * rounds);
    out->ratio = tg_median(ratios, rounds);
  }
  return ok;
}
