// What OSS-Fuzz, ClusterFuzz and ClusterFuzzLite ask of a folder OUT that build.sh has filled.
#ifndef TLSGATE_FUZZ_OSS_FUZZ_CHECK_CONTRACT_H
#define TLSGATE_FUZZ_OSS_FUZZ_CHECK_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "fuzz/oss-fuzz/check/combination.h"
#include "harness/base/error.h"

struct tg_contract {
  const struct tg_combination *combination;
  const char *out;            // the folder; it is not where it was built
  const char *scratch;        // for what the runs write; made and removed
  const char *const *more;    // shared libraries that are fine beside the C library's, ended by NULL; NULL: none
  const char *llvm_cov;       // for "coverage"
  const char *llvm_profdata;  // likewise
};

// What came of a folder.
struct tg_contract_result {
  size_t targets;  // programs with LLVMFuzzerTestOneInput
  size_t bad;      // of these, those that break the contract
};

// tg_contract_target checks one target, `out`/`name`: a name and a program as the service wants them, nothing dynamic
// but the C library, instrumentation (instrumentation.h), X.options (options_file.h), X.dict if that names it
// (dictionary.h), X_seed_corpus.zip (seeds.h), and runs in another folder (trial.h). Returns false with `err` filled
// in: one line that says what is wrong, beginning with the target's name.
bool tg_contract_target(const struct tg_contract *contract, const char *name, struct tg_error *err);

// tg_contract_check checks every target in the folder and writes a line to `lines` for each. Returns whether there was
// one, and none broke the contract.
bool tg_contract_check(const struct tg_contract *contract, FILE *lines, struct tg_contract_result *result);

// tg_contract_hide makes the folders empty and read-only for this process and its children, in a mount namespace of its
// own, so that a program that still needs one of them is found out. Call it before any thread is started. Returns false
// with `err` filled in when the kernel does not allow that.
bool tg_contract_hide(const char *const folders[], size_t num, struct tg_error *err);

#endif
