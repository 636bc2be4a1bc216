// The head of an HTTP/1.x request, read once it is there as a whole: what it asks for does not depend on how it came.
#ifndef TLSGATE_FUZZ_EXAMPLES_HANDOFF_REQUEST_H
#define TLSGATE_FUZZ_EXAMPLES_HANDOFF_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Longest head, in bytes with its empty line.
#define REQUEST_HEAD_MAX 4096u

struct answer {
  int status;
  bool last;          // the connection ends after it
  bool head_only;     // it answers HEAD
  const char *text;   // the body; NULL: `body_len` bytes of filler
  uint64_t body_len;  // of the response
  uint64_t unread;    // bytes of the request's body that come before the answer
};

// request_end returns how many bytes the head takes at the beginning of `data`; 0: it has not come to its end.
size_t request_end(const char *data, size_t len);

// request_answer says what answers a head of `len` bytes. `max_body` is the limit on bodies, in bytes.
struct answer request_answer(const char *head, size_t len, uint64_t max_body);

// request_refusal is an answer after which the connection ends: 400, 413 or 431.
struct answer request_refusal(int status);

// request_reason returns the reason phrase of a status.
const char *request_reason(int status);

#endif
