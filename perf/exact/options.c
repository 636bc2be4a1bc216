#include "perf/exact/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/exact/baseline.h"
#include "perf/process/runfiles.h"

#define RUNS_DEFAULT 5

static void usage(const char *program, const char *lines, FILE *to) {
  fprintf(to,
          "usage: %s [OPTION...]\n\n%s\n"
          "  --baseline FILE   another file than baselines/exact.json\n"
          "  --measure FILE    another program than //perf/exact:measure\n"
          "  --scenarios DIR   another folder than perf/exact/scenarios\n"
          "  --out DIR         check: writes exact.json into DIR, which is there (perf/exact/judge.h)\n"
          "  --runs N          record: runs under callgrind, 2 to %d; %d if not given\n",
          program, lines, TG_EXACT_RUNS_MAX, RUNS_DEFAULT);
}

static int bad(const char *program, const char *what, const char *argument) {
  fprintf(stderr, "%s: %s %s; %s --help lists the options\n", program, what, argument, program);
  return TG_EXACT_EXIT_USAGE;
}

static bool take_path(char out[PATH_MAX], const char *value) {
  return snprintf(out, PATH_MAX, "%s", value) < PATH_MAX;
}

static bool take(struct tg_exact_options *out, const char *option, const char *value) {
  if (strcmp(option, "--baseline") == 0) {
    return take_path(out->baseline, value);
  }
  if (strcmp(option, "--measure") == 0) {
    return take_path(out->measure, value);
  }
  if (strcmp(option, "--scenarios") == 0) {
    return take_path(out->scenarios, value);
  }
  if (strcmp(option, "--out") == 0) {
    out->out = value;
    return true;
  }
  char *end = NULL;
  const long runs = strtol(value, &end, 10);
  out->runs = (int)runs;
  return *end == '\0' && end != value && runs >= 2 && runs <= TG_EXACT_RUNS_MAX;
}

static bool is_option(const char *text) {
  static const char *const kOptions[] = {"--baseline", "--measure", "--scenarios", "--out", "--runs"};
  for (size_t i = 0; i < sizeof(kOptions) / sizeof(kOptions[0]); i++) {
    if (strcmp(text, kOptions[i]) == 0) {
      return true;
    }
  }
  return false;
}

// What was not given is among the program's files.
static int complete(const char *program, struct tg_exact_options *out) {
  const struct {
    char *path;
    const char *file;
  } paths[] = {
      {out->measure, "perf/exact/measure"},
      {out->scenarios, "perf/exact/scenarios"},
      {out->baseline, "baselines/exact.json"},
  };
  for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
    struct tg_error err;
    if (paths[i].path[0] == '\0' && !tg_runfile(paths[i].file, paths[i].path, &err)) {
      fprintf(stderr, "%s: %s\n", program, err.text);
      return TG_EXACT_EXIT_FAIL;
    }
  }
  return -1;
}

int tg_exact_options_parse(const char *program, const char *lines, int argc, char **argv,
                           struct tg_exact_options *out) {
  memset(out, 0, sizeof(*out));
  out->runs = RUNS_DEFAULT;
  char **at = argv + (argc > 0);
  while (*at != NULL) {
    const char *option = *at++;
    if (strcmp(option, "--help") == 0) {
      usage(program, lines, stdout);
      return TG_EXACT_EXIT_PASS;
    }
    if (!is_option(option)) {
      return bad(program, "there is no option", option);
    }
    const char *value = *at++;
    if (value == NULL) {
      return bad(program, "a value is missing behind", option);
    }
    if (!take(out, option, value)) {
      return bad(program, "not a value for", option);
    }
  }
  return complete(program, out);
}
