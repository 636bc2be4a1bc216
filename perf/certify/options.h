// The command lines of certify and verify.
#ifndef TLSGATE_PERF_CERTIFY_OPTIONS_H
#define TLSGATE_PERF_CERTIFY_OPTIONS_H

#include <limits.h>
#include <stdbool.h>

// Of fresh fuzzing, without --minutes.
#define TG_MINUTES_DEFAULT 5

struct tg_certify_options {
  long long minutes;
  char out[PATH_MAX];  // absolute; empty: the default
};

// tg_certify_options_parse reads argv. Returns -1 to go on, or the exit status that the program ends with after what
// there was to say.
int tg_certify_options_parse(struct tg_certify_options *out, int argc, char **argv);

// tg_verify_options_parse likewise; *folder is the certificate's, absolute.
int tg_verify_options_parse(char folder[PATH_MAX], int argc, char **argv);

#endif
