// The command line of the gates.
#ifndef TLSGATE_PERF_RUN_OPTIONS_H
#define TLSGATE_PERF_RUN_OPTIONS_H

#include <stdbool.h>

#include "perf/report/report.h"
#include "perf/run/plan.h"

#define TG_ONLY_MAX 64

struct tg_gates_options {
  const char *out;       // folder for the reports; NULL: TEST_UNDECLARED_OUTPUTS_DIR, else reports/ in the workspace
  const char *server;    // file that describes the server; NULL: the project's own is judged
  const char *quickack;  // mode of the server that is judged
  const char *fault;     // planted fault, or NULL
  const char *only[TG_ONLY_MAX + 1];  // gates, ends with NULL
  double budget_s;
  enum tg_mode mode;
  bool evidence;
  const char *history;  // a further log of runs, or NULL
  enum tg_size size;
  bool quiet;
};

enum tg_options_result { TG_OPTIONS_RUN, TG_OPTIONS_DONE, TG_OPTIONS_USAGE };

// tg_gates_options_parse reads argv. DONE: --help was printed, exit 0. USAGE: what is wrong was printed, exit 2.
enum tg_options_result tg_gates_options_parse(struct tg_gates_options *out, int argc, char **argv);

// tg_options_are_genuine says whether the server that is judged is the one that ships.
bool tg_options_are_genuine(const struct tg_gates_options *options);

#endif
