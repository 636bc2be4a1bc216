// A strict reader of one HTTP/1.1 response, as the measuring clients ask for it: 200, framed by Content-Length, not a
// byte less or more. No I/O: bytes in, a verdict out.
//
// One refusal is no failure of the server but its answer to too much load: 503 with the JSON body
// {"code": "capacity-unavailable"}. It is told apart from every other, which is not acceptable.
//
// Errors say what is wrong and where, never what the server wrote: reports are shown to people, and a reply may hold
// anything.
#ifndef TLSGATE_HARNESS_CLIENT_RESPONSE_READER_H
#define TLSGATE_HARNESS_CLIENT_RESPONSE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"

// The longest head that is read, status line and final CRLF included.
#define TG_RESPONSE_HEAD_MAX 16384

struct tg_response_reader {
  char head[TG_RESPONSE_HEAD_MAX];
  size_t head_len;
  bool head_done;
  bool check_length;         // `expected_length` counts
  uint64_t expected_length;  // what Content-Length must be
  uint64_t content_length;   // of the body; valid once head_done
  uint64_t body_len;         // bytes of the body seen so far
  bool refused;              // the status is 503
  char refusal[256];         // the body of a 503, which may be no longer
  bool close;                // the server announced that it closes after this response (RFC 9112, 9.6)
};

enum tg_response_state {
  TG_RESPONSE_MORE,  // so far so good, the response is incomplete
  TG_RESPONSE_DONE,  // the whole response was read, and nothing beyond it
  TG_RESPONSE_SHED,  // likewise, and it is a 503 with the code capacity-unavailable
  TG_RESPONSE_BAD,   // it is not acceptable; the error says why
};

// tg_response_reader_start prepares for a response whose body must have `expected_length` bytes, or any number that
// the server announces if `expected_length` is negative.
void tg_response_reader_start(struct tg_response_reader *reader, int64_t expected_length);

// tg_response_reader_feed takes the next `len` bytes. Not to be called after TG_RESPONSE_BAD; after TG_RESPONSE_DONE
// or TG_RESPONSE_SHED, any byte is one too many. Refused: a status line that is not HTTP/1.1 (RFC 9112, 4) with status
// 200 or 503, a 503 whose body is not that of load shedding, a line that does not end in CRLF, a malformed or folded
// field (5.1, 5.2), Transfer-Encoding, no or more than one Content-Length or one that is not a plain number (6.3), a
// head of more than TG_RESPONSE_HEAD_MAX bytes, bytes beyond the body.
enum tg_response_state tg_response_reader_feed(struct tg_response_reader *reader, const char *bytes, size_t len,
                                               struct tg_error *err);

// tg_response_reader_progress writes how far the response has come, for the message about one that ended early:
// "after 5 of 1200 body bytes".
void tg_response_reader_progress(const struct tg_response_reader *reader, char *out, size_t out_len);

#endif
