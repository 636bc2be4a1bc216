// The certificate of one revision: certificate.json, and state.json while it is not finished. docs/certification.md
// describes the file for readers.
//
// The JSON value is the certificate; struct tg_certificate is a view of it that borrows everything. A part may have
// several attempts: the last one counts, and the others stay listed with their raw files, whatever they came to.
#ifndef TLSGATE_PERF_CERTIFY_CERTIFICATE_H
#define TLSGATE_PERF_CERTIFY_CERTIFICATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"
#include "perf/certify/part.h"
#include "perf/report/environment.h"

// The version of the file ("schema").
#define TG_CERTIFICATE_SCHEMA 1

#define TG_CERTIFICATE_FILE  "certificate.json"
#define TG_CERTIFICATE_STATE "state.json"

#define TG_MINUTES_MAX  10080  // a week of fuzzing
#define TG_ATTEMPTS_MAX 64     // of one part

// One run of a part.
struct tg_attempt {
  const char *start;        // UTC, "2026-01-31T23:59:59Z"
  const char *finish;       // NULL: it never ended (killed, or still running)
  enum tg_outcome outcome;  // TG_OUTCOME_ERROR: it did not run to its end, and `message` says why
  const char *message;      // may be empty
  const char *folder;       // of its raw files, from the certificate's folder; NULL: the part judges another's
  const json_t *figures;    // object; null unless it came to a verdict
  const json_t *inputs;     // object: path in the source tree -> git object id, or null if the commit has no such path
  const json_t *binaries;   // object: path from the workspace -> SHA-256 of what ran
  const json_t *files;      // object: path from `folder` -> {"sha256", "size"}; every raw file
};

struct tg_cert_part {
  const struct tg_part *part;
  struct tg_attempt attempts[TG_ATTEMPTS_MAX];  // the last one counts
  size_t num_attempts;                          // 0 only in a certificate that is not complete
};

struct tg_certificate {
  const char *file;
  bool complete;
  const char *start;
  const char *finish;  // NULL unless complete
  long long minutes;
  const char *label;         // TLSGATE_PERF_HOST; NULL if it was not set
  enum tg_outcome verdict;   // if complete
  enum tg_exit exit_status;  // if complete
  const char *html_sha256;   // of certificate.html, which is written from this; NULL unless complete
  const char *commit;
  const json_t *provenance;                 // object: machine, compiler, flags (perf/host/provenance.h)
  struct tg_cert_part parts[TG_PARTS_MAX];  // one for each of the table, in its order
  size_t num_parts;
};

// tg_certificate_new returns a new value without attempts, or NULL when out of memory. `provenance` is borrowed.
json_t *tg_certificate_new(const struct tg_part *parts, size_t num_parts, const struct tg_source *source,
                           long long minutes, const char *label, const json_t *provenance, const char *start);

// tg_certificate_decode makes a view of `value`, which must outlive it, for the given table of parts. Strict: every
// part must be there and no other, and the verdict must follow from the parts. Returns false with `err` filled in.
bool tg_certificate_decode(struct tg_certificate *out, const char *file, json_t *value, const struct tg_part *parts,
                           size_t num_parts, struct tg_error *err);

// tg_certificate_verdict returns what the parts come to: fail if one failed or came to no verdict; else unenforced if
// one is; else undecided if one is; else pass.
enum tg_outcome tg_certificate_verdict(const struct tg_certificate *certificate);

// tg_certificate_exit returns the exit status of a verdict; that of an error is 1.
enum tg_exit tg_certificate_exit(enum tg_outcome verdict);

// tg_cert_part_last returns the attempt that counts, or NULL if there is none.
const struct tg_attempt *tg_cert_part_last(const struct tg_cert_part *part);

// tg_certificate_part returns the part of that name, or NULL.
const struct tg_cert_part *tg_certificate_part(const struct tg_certificate *certificate, const char *name);

// tg_certificate_attempts returns the array of a part's attempts in the value, borrowed, to be changed by the runner.
json_t *tg_certificate_attempts(json_t *value, size_t part);

// tg_certificate_conclude puts finish, verdict and exit status into the value, and html_sha256 as all zeros, to be
// replaced: it then is complete.
bool tg_certificate_conclude(json_t *value, const char *finish, enum tg_outcome verdict);

// tg_certificate_reopen makes a state of it once more.
bool tg_certificate_reopen(json_t *value);

#endif
