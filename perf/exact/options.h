// The command line of the programs `check` and `record`.
#ifndef TLSGATE_PERF_EXACT_OPTIONS_H
#define TLSGATE_PERF_EXACT_OPTIONS_H

#include <limits.h>
#include <stdbool.h>

#include "harness/base/error.h"

enum { TG_EXACT_EXIT_PASS = 0, TG_EXACT_EXIT_FAIL = 1, TG_EXACT_EXIT_USAGE = 2 };

struct tg_exact_options {
  char measure[PATH_MAX];    // the program that is measured
  char scenarios[PATH_MAX];  // the folder of scenarios
  char baseline[PATH_MAX];   // the file
  const char *out;           // folder for exact.json; NULL: not asked for
  int runs;                  // under callgrind, of which a recording takes the median
};

// tg_exact_options_parse reads the arguments of `program`; `lines` says in its usage what it does. Returns -1 to go on,
// or the exit status that the program ends with, after what there was to say.
int tg_exact_options_parse(const char *program, const char *lines, int argc, char **argv, struct tg_exact_options *out);

#endif
