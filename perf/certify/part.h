// One part of a certification: how it is run, and how what it leaves is read.
//
// Running and judging are apart: a run leaves raw files in a folder, and the verdict is drawn from these files and from
// the certified commit alone. So `./tlsgate verify` draws it again with the same function, on another machine.
#ifndef TLSGATE_PERF_CERTIFY_PART_H
#define TLSGATE_PERF_CERTIFY_PART_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/certify/progress.h"
#include "perf/certify/source.h"
#include "perf/report/report.h"

struct tg_part;

// What a run gets.
struct tg_part_run {
  const struct tg_part *part;
  const struct tg_source *source;
  const char *folder;  // for its raw files; exists and is empty
  const char *plan;    // folder of the raw files of the part "build"; NULL if this is it
  long long minutes;   // of fresh fuzzing, over all targets and engines
  struct tg_progress *progress;
};

// What a verdict is drawn from. The environment's label and machine say which baseline may be enforced.
struct tg_evidence {
  const struct tg_source *source;
  const char *folder;  // raw files
  const char *plan;    // as in tg_part_run
  long long minutes;
};

// What it comes to.
struct tg_part_verdict {
  enum tg_outcome outcome;  // never TG_OUTCOME_ERROR
  char message[400];        // one line: what was found; empty if there is nothing to say
  json_t *figures;          // object; the caller's
};

// A tg_part_runner returns false with `err` filled in when what it had to run could not be run to its end: then nothing
// is known, and the raw files so far are kept. A test that fails, a finding, a gate that fails is none of that.
typedef bool tg_part_runner(const struct tg_part_run *run, struct tg_error *err);

// A tg_part_judge returns false with `err` filled in when the raw files are not what a whole run leaves.
typedef bool tg_part_judge(const struct tg_part *part, const struct tg_evidence *evidence, struct tg_part_verdict *out,
                           struct tg_error *err);

// A tg_part_binaries appends the paths (from the workspace) of the programs that the part runs to `paths`. False with
// `err` filled in.
typedef bool tg_part_binaries(const struct tg_part_run *run, json_t *paths, struct tg_error *err);

struct tg_part {
  const char *name;            // of the part, and of its folder: [a-z-]
  const char *title;           // for people
  const char *about;           // what it establishes, in a sentence
  const char *const *inputs;   // paths in the source tree that the verdict rests on; ends with NULL
  const char *of;              // the part whose raw files it judges; NULL: its own
  tg_part_runner *run;         // NULL if `of` is set
  tg_part_binaries *binaries;  // NULL: none
  tg_part_judge *judge;
};

// The parts of a certification, in the order in which they run; "build" is the first.
extern const struct tg_part tg_parts[];
extern const size_t tg_num_parts;

// The most parts.
#define TG_PARTS_MAX 16

// tg_part_index returns the index of the part of that name among `num` parts, or `num`.
size_t tg_part_index(const struct tg_part *parts, size_t num, const char *name);

#endif
