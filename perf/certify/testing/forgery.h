// A made-up certificate under the hands of a forger: its files are loaded, edited and saved, and it is verified. There
// is one at a time; whatever cannot be done fails the running test.
#ifndef TLSGATE_PERF_CERTIFY_TESTING_FORGERY_H
#define TLSGATE_PERF_CERTIFY_TESTING_FORGERY_H

#include <jansson.h>

#include "perf/certify/part.h"
#include "perf/certify/testing/synthetic.h"

// The certificate that is worked on.
extern struct tg_synthetic tg_forged;

// tg_forge_make makes and certifies it, which must come to `verdict`.
void tg_forge_make(const struct tg_synthetic_options *options, enum tg_outcome verdict);

// The same, passing, and its removal, as set-up and tear-down of a cmocka test.
int tg_forge_make_passing(void **state);
int tg_forge_remove(void **state);

// tg_forge_assert_agrees verifies it, which must agree, and returns what was said.
const char *tg_forge_assert_agrees(void);

// tg_forge_assert_differs verifies it: something must differ, and what is said of it must contain `says`.
void tg_forge_assert_differs(const char *says);

// tg_forge_load and tg_forge_save read and write a file of it, by its name within the certificate's folder. What is
// loaded is the caller's; what is saved is taken over.
json_t *tg_forge_load(const char *name);
void tg_forge_save(const char *name, json_t *value);

// tg_forge_attempt returns the first attempt at a part in a loaded certificate; borrowed.
json_t *tg_forge_attempt(json_t *certificate, const char *part);

// tg_forge_hash_again does what a forger does after changing a raw file: the hashes of the part agree again.
void tg_forge_hash_again(const char *part);

#endif
