// DIR/status.html: how the fuzzing goes, for a person with a browser and without a network.
#ifndef TLSGATE_FUZZ_SERVICE_PAGE_H
#define TLSGATE_FUZZ_SERVICE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "fuzz/service/candidate.h"
#include "fuzz/service/layout.h"
#include "fuzz/service/scheduler.h"
#include "fuzz/service/state.h"
#include "harness/base/error.h"

// A browser that shows the page reads it anew after so many seconds, and fuzzd writes it as often.
#define TG_PAGE_REFRESH_S 10

// Findings that are listed; the page says how many more there are.
#define TG_PAGE_CANDIDATES_MAX 200u

// What the page shows beyond the state.
struct tg_page_target {
  struct tg_layout_size corpus;
  unsigned candidates;
  char now[96];  // what is done with it; empty: nothing
};

struct tg_page {
  const struct tg_fuzzd_state *state;
  const struct tg_fuzzd_choice *choice;  // of the targets and engines that are fuzzed
  const struct tg_page_target *targets;  // as in the state
  const struct tg_candidate *candidates;
  size_t num_candidates;
  size_t all_candidates;
  const char *status;  // "running", "paused" or "stopped"
  const char *note;    // what it waits for; empty: nothing
  const char *const *warnings;
  size_t num_warnings;
  const char *root;
  double now_s;  // time(2)
  struct tg_layout_size disk;
  unsigned max_disk_mb;
  unsigned refresh_s;  // 0: the page does not refresh itself
};

// tg_page_write writes the page to `path`, durably (durable.h).
bool tg_page_write(const char *path, const struct tg_page *page, struct tg_error *err);

#endif
