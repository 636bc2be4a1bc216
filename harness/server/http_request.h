// An incremental HTTP/1.1 request parser: bytes in, one request at a time out (RFC 9110, RFC 9112).
//
// The parser is pure: it touches no socket, no clock and no heap, and its outcome does not depend on how the bytes are
// cut. It keeps what the server acts on and nothing else: of the target the path, of the header fields those that
// frame the message or end the connection. The body is decoded and counted, not kept.
//
// It is strict where leniency has let requests be smuggled: lines end in CRLF, a field name touches its colon, folded
// lines, control bytes, repeated Content-Length and Content-Length beside Transfer-Encoding are refused.
#ifndef TLSGATE_HARNESS_SERVER_HTTP_REQUEST_H
#define TLSGATE_HARNESS_SERVER_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The longest request target, in bytes; beyond it 414. RFC 9112, 3 asks for request lines of 8,000 bytes at least.
#define TG_HTTP_TARGET_MAX 8000
// The request line and all header fields, in bytes; beyond it 431. The same bound holds for the trailer fields of a
// chunked body, and twice the largest default of common servers (8 KiB) is more than any client needs.
#define TG_HTTP_HEAD_MAX 16384
// What is kept of the path; a longer one is marked truncated, and no route is that long.
#define TG_HTTP_PATH_KEPT 63
// The longest value of a field that the parser must understand (Host, Connection, ...); beyond it 431.
#define TG_HTTP_VALUE_MAX 512
// One chunk-size line with its extensions; beyond it 400.
#define TG_HTTP_CHUNK_LINE_MAX 256

enum tg_http_method { TG_HTTP_GET, TG_HTTP_HEAD, TG_HTTP_POST, TG_HTTP_OTHER };

struct tg_http_request {
  enum tg_http_method method;
  char path[TG_HTTP_PATH_KEPT + 1];  // without the query; NUL-terminated
  bool path_truncated;
  uint8_t minor_version;  // of HTTP/1.x: 0 or 1 (a higher one is served as 1: RFC 9110, 2.5)
  bool keep_alive;        // the client expects the connection to stay open after the response
  bool expect_continue;   // the client waits for 100 (Continue) before it sends the body
  uint64_t body_len;      // bytes of body so far, transfer coding removed; the whole of it when DONE
};

enum tg_http_event {
  TG_HTTP_MORE,           // all bytes were used and the request is not complete
  TG_HTTP_HEAD_COMPLETE,  // the head is complete and a body follows; reported once, before any of the body is used
  TG_HTTP_DONE,           // the request is complete
  TG_HTTP_FAILED,         // it cannot be understood: answer with `status` and close; no further call until reset
};

struct tg_http_parser {
  struct tg_http_request request;  // valid from HEAD_COMPLETE or DONE until the reset
  int status;                      // after FAILED: 400, 413, 414, 417, 431, 501 or 505

  // The rest is the parser's own.
  uint64_t max_body;
  uint64_t remaining;  // of the body or of the chunk
  uint32_t head_len;
  uint32_t target_len;
  uint16_t token_len;
  uint16_t value_len;
  uint8_t state;
  uint8_t field;
  uint8_t path_part;
  bool begun;
  bool blank_line_skipped;
  bool has_host;
  bool has_length;
  bool chunked;
  bool in_trailer;
  bool asks_close;
  bool asks_keep_alive;
  char token[24];  // method, version or field name: no longer one is known
  char value[TG_HTTP_VALUE_MAX];
};

// tg_http_parser_init makes a parser that refuses bodies of more than `max_body` bytes (413).
void tg_http_parser_init(struct tg_http_parser *parser, uint64_t max_body);

// tg_http_parser_reset makes the parser ready for the next request of the connection.
void tg_http_parser_reset(struct tg_http_parser *parser);

// tg_http_parser_begun says whether any byte of the request has been used.
bool tg_http_parser_begun(const struct tg_http_parser *parser);

// tg_http_parse uses up to `len` bytes and says how many in `*out_used`: all of them for MORE, and otherwise those up
// to the event, so that the rest belongs to the body or to the next request. Not to be called again after DONE or
// FAILED before a reset.
enum tg_http_event tg_http_parse(struct tg_http_parser *parser, const uint8_t *data, size_t len, size_t *out_used);

#endif
