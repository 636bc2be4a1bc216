// Running a measuring client against a server in a test.
#ifndef TLSGATE_HARNESS_CLIENT_TESTING_CLIENT_RUN_H
#define TLSGATE_HARNESS_CLIENT_TESTING_CLIENT_RUN_H

#include <jansson.h>

// The most words in a command line.
#define TG_CLIENT_WORDS_MAX 40

// tg_test_certificate makes a P-256 key and a self-signed certificate for `name`, which serves as its own authority,
// with the openssl program, as files in the test's own folder. Returns the paths, valid until the test program ends.
void tg_test_certificate(const char *name, const char **out_cert, const char **out_key);

// tg_client_run runs a program until it ends, a minute at most, and checks that it ended with `exit_status`. `words`
// is a command line cut at spaces; the program's own path may hold none. Returns the JSON of its standard output or
// NULL if that is empty, owned by the caller. What it wrote to standard error goes to `out_stderr`.
json_t *tg_client_run(const char *words, int exit_status, char *out_stderr, size_t out_len);

#endif
