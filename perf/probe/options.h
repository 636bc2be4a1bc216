// The command line of `probe`.
#ifndef TLSGATE_PERF_PROBE_OPTIONS_H
#define TLSGATE_PERF_PROBE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/probe/run.h"

struct tg_probe_options {
  const char *server;  // file; NULL: the project's own
  const char *out;     // folder of the report; NULL: the default
  bool wanted[TG_PROBES_MAX];
  double limit_s;
  double settle_s;
  size_t connections;
  int workers;
  bool quiet;
};

enum tg_probe_parsed { TG_PROBE_GO, TG_PROBE_DONE, TG_PROBE_WRONG };

// tg_probe_options_parse decodes the command line, and does --help and --list itself (TG_PROBE_DONE). What is wrong has
// been said on stderr (TG_PROBE_WRONG).
enum tg_probe_parsed tg_probe_options_parse(struct tg_probe_options *out, int argc, char **argv);

#endif
