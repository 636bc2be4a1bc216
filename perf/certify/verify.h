// Whether a certificate is what its raw files and its commit come to.
//
// Every verdict is drawn again with the functions that drew it, from the raw files and the certified commit as git has
// it. This finds what does not fit together: a changed sample, a missing part, an edited verdict. It is no signature:
// who rewrites raw files, hashes and verdicts together is not found out.
#ifndef TLSGATE_PERF_CERTIFY_VERIFY_H
#define TLSGATE_PERF_CERTIFY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/base/error.h"
#include "perf/certify/certificate.h"
#include "perf/certify/part.h"

struct tg_verified {
  size_t differences;       // 0: it verifies
  enum tg_outcome verdict;  // that the certificate has; TG_OUTCOME_ERROR if it could not be read
};

// tg_verify checks the certificate in `folder` against the repository at `workspace` and prints a line for each part
// and for each difference to `out`.
void tg_verify(struct tg_verified *result, const char *folder, const char *workspace, const struct tg_part *parts,
               size_t num_parts, FILE *out);

#endif
