// What a client asks for, and what the answer must be.
#ifndef TLSGATE_FUZZ_WORLD_HTTP_SCRIPT_H
#define TLSGATE_FUZZ_WORLD_HTTP_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/world/accept_path.h"

// One response that is owed.
struct tg_http_owed {
  int status;
  bool interim;   // 100 comes before it, or may (RFC 9110, 10.1.1)
  bool head;      // the answer to HEAD: no body follows
  bool last;      // the server ends the connection after it
  bool filler;    // the body is TG_HTTP_FILLER, body_len bytes of it
  bool any_text;  // the body is of body_len bytes, whatever they are
  bool any_body;
  uint64_t body_len;
  char text[40];  // the body, unless one of the three is set
};

#define TG_HTTP_OWED_MAX 64u

// TG_HTTP_SCRIPT_MAX: no request is longer, in bytes.
#define TG_HTTP_SCRIPT_MAX (4400u * 1024u)

struct tg_http_script {
  const struct tg_http_routes *routes;         // of the server that is asked
  uint64_t max_body;                           // its limit on bodies, in bytes
  uint32_t post_unit;                          // see tg_world_options; 0: 64
  struct tg_http_owed owed[TG_HTTP_OWED_MAX];  // a ring
  uint32_t first;
  uint32_t count;
  bool ended;       // a request after which the server closes is on its way: what follows it is not answered
  bool incomplete;  // a request that is never completed is on its way: what follows it belongs to it
};

// tg_http_script_max_body returns the server's limit on bodies, in bytes, for a `post_unit`.
uint64_t tg_http_script_max_body(const struct tg_http_routes *routes, uint32_t post_unit);

// tg_http_script_add writes the request that a step's value stands for (schedule.h) to `out`, which has room for
// TG_HTTP_SCRIPT_MAX bytes, and notes the responses it is owed. Returns its length; 0 if too many are owed already.
size_t tg_http_script_add(struct tg_http_script *script, uint16_t value, uint8_t *out);

// tg_http_script_next returns the response that must come next, or NULL.
const struct tg_http_owed *tg_http_script_next(const struct tg_http_script *script);
void tg_http_script_done(struct tg_http_script *script);  // it has come

#endif
