// Where things are in fuzzd's folder, DIR.
//
//   lock, state.json, status.html
//   corpus/TARGET/                    both engines read it, and what covers something new comes into it at once
//   incoming/TARGET/SLICE/            inputs of findings, as engines leave them, until triage has filed them
//   candidates/TARGET/regressions/    one input for each bug, by name, as corpora/TARGET/regressions/ takes them
//   candidates/TARGET/explanations/   NAME.txt for a person, NAME.json for this program
//   duplicates/TARGET/KEY/            some more inputs of a candidate's bug
//   unreproduced/TARGET/              inputs that an engine reported and that replay without a finding
//   logs/                             the end of the log of the last slice that ran nothing, for each arm
//   tasks/TARGET-TASK/                what a task needs while it runs
#ifndef TLSGATE_FUZZ_SERVICE_LAYOUT_H
#define TLSGATE_FUZZ_SERVICE_LAYOUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"

// tg_layout writes "ROOT/PLACE/TARGET" and, unless `below` is NULL, "/BELOW".
void tg_layout(char out[PATH_MAX], const char *root, const char *place, const char *target, const char *below);

// tg_layout_make makes the folders of a target. Returns false with `err` filled in.
bool tg_layout_make(const char *root, const char *target, struct tg_error *err);

// What a folder has in it, its subfolders included. A folder that is not there is empty.
struct tg_layout_size {
  uint64_t files;
  uint64_t bytes;  // on disk, in whole blocks
};
struct tg_layout_size tg_layout_measure(const char *folder);

#endif
