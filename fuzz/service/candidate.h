// A bug that was found, as it waits for a person: one input, what is known of it, and an explanation.
#ifndef TLSGATE_FUZZ_SERVICE_CANDIDATE_H
#define TLSGATE_FUZZ_SERVICE_CANDIDATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/launcher/targets.h"
#include "fuzz/service/signature.h"
#include "harness/base/error.h"

// The version of a candidate's file ("schema").
#define TG_CANDIDATE_SCHEMA 1

struct tg_candidate {
  char target[64];
  char name[64];   // KIND-KEY: of its files
  char line[512];  // what its replay says
  char engine[16];
  double found_at_s;       // time(2)
  uint64_t size;           // of the input, in bytes
  uint64_t original_size;  // before it was minimised
  uint64_t seen;           // inputs with this signature
};

// tg_candidate_name writes the name of what has this signature.
void tg_candidate_name(const struct tg_signature *signature, char out[64]);

// tg_candidate_find says whether DIR has a candidate of that name, input included; if so, *out is it.
bool tg_candidate_find(const char *root, const char *target, const char *name, struct tg_candidate *out);

// tg_candidate_save writes NAME.json durably.
bool tg_candidate_save(const char *root, const struct tg_candidate *candidate, struct tg_error *err);

// tg_candidate_file files a bug: the explanation first, then what is known, and last the input, from the file `input`:
// a candidate whose input is there is complete. `log` is the replay of the input.
bool tg_candidate_file(const char *root, const struct tg_fuzz_target *target, const struct tg_candidate *candidate,
                       const struct tg_signature *signature, const char *input, const char *log, struct tg_error *err);

// tg_candidate_list returns what DIR has, the latest first, the caller's to free(); *num says how many, at most `max`,
// and *all how many there are. Returns NULL if there are none.
struct tg_candidate *tg_candidate_list(const char *root, size_t max, size_t *num, size_t *all);

#endif
