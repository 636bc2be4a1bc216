// A full TLS 1.3 connection by the stages of its path: what each costs in instructions and system calls.
#ifndef TLSGATE_PERF_EXACT_STAGES_H
#define TLSGATE_PERF_EXACT_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "harness/base/error.h"
#include "perf/exact/callgrind.h"

enum tg_stage_name {
  TG_STAGE_ACCEPT,        // the turn that finds it, accept4, the connection and its SSL
  TG_STAGE_HELLO,         // the ClientHello is received, parsed and answered by parameters
  TG_STAGE_KEY_EXCHANGE,  // both halves of X25519
  TG_STAGE_FLIGHT,        // ServerHello to Finished, but for CertificateVerify: keys, certificate, encryption, send
  TG_STAGE_SIGN,          // CertificateVerify
  TG_STAGE_FINISH,        // the client's Finished, the tickets, the application's beginning
  TG_STAGE_REQUEST,       // received, decrypted, parsed
  TG_STAGE_RESPONSE,      // written, encrypted, sent
  TG_STAGE_TEARDOWN,      // close_notify of both sides, FIN, close, all that is freed
  TG_STAGES,
};

struct tg_stage_cost {
  int64_t instructions[TG_CODE_OWNERS];
  int64_t calls[TG_CALL_COUNT];
};

// The scenario that is cut into stages.
#define TG_STAGES_SCENARIO "full_tls13"

// tg_stages_cuts returns the functions before whose calls a profile is to be cut; ends with NULL.
const char *const *tg_stages_cuts(void);

// tg_stages_add_up assigns the parts of a profile of that scenario to stages. Returns false with `err` filled in when
// they do not come in the order that this accept path and BoringSSL's TLS 1.3 server have, naming the first that does
// not.
bool tg_stages_add_up(const struct tg_callgrind_part *parts, size_t num, struct tg_stage_cost out[TG_STAGES],
                      struct tg_error *err);

// tg_stages_print writes the table.
void tg_stages_print(FILE *out, const struct tg_stage_cost stages[TG_STAGES]);

#endif
