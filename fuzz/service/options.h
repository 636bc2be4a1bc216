// The command line of fuzzd.
#ifndef TLSGATE_FUZZ_SERVICE_OPTIONS_H
#define TLSGATE_FUZZ_SERVICE_OPTIONS_H

#include <limits.h>
#include <stdbool.h>

#include "fuzz/launcher/targets.h"
#include "fuzz/service/state.h"
#include "harness/base/error.h"

struct tg_fuzzd_options {
  bool help;
  char dir[PATH_MAX];  // absolute
  unsigned jobs;       // at once
  double slice_s;
  bool engines[TG_FUZZD_ENGINES];
  bool targets[TG_FUZZD_TARGETS_MAX];  // as in tg_fuzz_targets
  double hours;                        // 0: without end
  unsigned max_disk_mb;                // of DIR
  unsigned max_rss_mb;                 // of one job
  double prune_hours;                  // between prunes of a corpus
  double minimise_s;                   // at most, for a finding
};

// tg_fuzzd_options_parse reads the command line. Returns false with `err` filled in.
bool tg_fuzzd_options_parse(int argc, char *const argv[], struct tg_fuzzd_options *out, struct tg_error *err);

// tg_fuzzd_options_help prints the options.
void tg_fuzzd_options_help(void);

#endif
