// Files of schedules with what the model predicts for each, one a line; # begins a comment.
//
//   name | waits | delayed ACKs | schedule
//
// The waits are one letter for each await (enum tg_wait), the delayed ACKs a number: see struct tg_outcome.
#ifndef TLSGATE_HARNESS_KERNEL_CONFORMANCE_CORPUS_H
#define TLSGATE_HARNESS_KERNEL_CONFORMANCE_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/kernel/conformance/schedule.h"

#define TG_CORPUS_MAX    1024u
#define TG_CASE_NAME_MAX 64u

struct tg_case {
  char name[TG_CASE_NAME_MAX];
  struct tg_outcome predicted;
  struct tg_schedule schedule;
};

struct tg_corpus {
  struct tg_case cases[TG_CORPUS_MAX];
  size_t num_cases;
};

// tg_corpus_read adds the cases of the file at `path`. On failure `error` names the file, the line and what is wrong.
bool tg_corpus_read(struct tg_corpus *corpus, const char *path, char *error, size_t error_len);

// tg_corpus_write_case writes one line.
void tg_corpus_write_case(FILE *to, const char *name, const struct tg_outcome *predicted,
                          const struct tg_schedule *schedule);

// tg_case_stalls says whether an await of it is predicted to stall.
bool tg_case_stalls(const struct tg_case *of);

#endif
