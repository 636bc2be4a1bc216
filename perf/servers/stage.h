// The folder of one run: certificate, files to serve, and a server's configuration from its templates.
#ifndef TLSGATE_PERF_SERVERS_STAGE_H
#define TLSGATE_PERF_SERVERS_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/base/error.h"
#include "perf/servers/describe.h"
#include "perf/servers/expand.h"

struct tg_stage {
  char folder[64];  // empty: there is none
  char www[96];
  char cert[PATH_MAX];
  char key[PATH_MAX];
  char pem[96];
  char log[96];  // for what the server says
};

// tg_stage_make makes the folder in /tmp, a self-signed P-256 certificate for two days unless the description names one
// (relative to its own folder), and the files to serve: small.json (15 bytes, also as index.html) and big.bin (1 MiB).
// For the variant that is to have an RSA key of 4096 bits the certificate is always made. Returns false with `err`
// filled in, and nothing left behind.
bool tg_stage_make(struct tg_stage *stage, const struct tg_server_description *description,
                   enum tg_server_variant variant, struct tg_error *err);

// tg_stage_configure writes the description's files anew, for these values; see expand.h.
bool tg_stage_configure(const struct tg_stage *stage, const struct tg_server_description *description,
                        const char *const values[TG_PLACES], struct tg_error *err);

// tg_stage_remove removes the folder with all that is in it. Ignores an empty one.
void tg_stage_remove(struct tg_stage *stage);

#endif
