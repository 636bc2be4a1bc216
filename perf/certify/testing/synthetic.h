// A whole certification with made-up evidence: the parts of this project with their own judges, but with runs that
// write raw files instead of measuring. For tests of judging, of the page and of verification.
#ifndef TLSGATE_PERF_CERTIFY_TESTING_SYNTHETIC_H
#define TLSGATE_PERF_CERTIFY_TESTING_SYNTHETIC_H

#include <stdbool.h>

#include "perf/certify/part.h"
#include "perf/certify/source.h"
#include "perf/certify/testing/repository.h"

struct tg_synthetic_options {
  bool with_baseline;  // the commit has a baseline of this host, and one for the exact figures
  bool slower;         // every figure of the timed run is a quarter worse than that baseline
  bool failing_test;   // one test of the part "release" fails
  bool finding;        // the fuzzing has one
  bool fault_missed;   // a planted fault is not caught
  double worse;        // the values are this many times worse than usual; 0: as usual
};

struct tg_synthetic {
  struct tg_synthetic_options options;
  struct tg_test_repository repository;
  struct tg_source source;
  struct tg_part parts[TG_PARTS_MAX];  // tg_parts, with runs of ours
  size_t num_parts;
  char out[128];  // the certificate's folder
};

// tg_synthetic_make makes a repository with what the judges read of a commit: manifest, baselines, corpora, patches.
void tg_synthetic_make(struct tg_synthetic *out, const struct tg_synthetic_options *options);

// tg_synthetic_certify certifies it into out->out. Returns the certificate, the caller's.
json_t *tg_synthetic_certify(const struct tg_synthetic *synthetic);

void tg_synthetic_remove(const struct tg_synthetic *synthetic);

#endif
