// The request target, of which the path is kept; private to the parser.
#ifndef TLSGATE_HARNESS_SERVER_HTTP_TARGET_H
#define TLSGATE_HARNESS_SERVER_HTTP_TARGET_H

#include "harness/server/http_request.h"

// tg_http_target_char takes the next byte of the target. Returns 0, or the status to fail with.
int tg_http_target_char(struct tg_http_parser *parser, uint8_t c);

// tg_http_target_end ends the target. Returns 0, or the status to fail with.
int tg_http_target_end(struct tg_http_parser *parser);

// tg_http_keep_token_char appends a byte to `parser->token`. Returns false if the token is full.
bool tg_http_keep_token_char(struct tg_http_parser *parser, uint8_t c);

#endif
