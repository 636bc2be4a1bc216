// The header fields that the parser acts on; private to it.
#ifndef TLSGATE_HARNESS_SERVER_HTTP_FIELDS_H
#define TLSGATE_HARNESS_SERVER_HTTP_FIELDS_H

#include "harness/server/http_request.h"

enum tg_http_field {
  TG_HTTP_FIELD_OTHER,
  TG_HTTP_FIELD_HOST,
  TG_HTTP_FIELD_CONNECTION,
  TG_HTTP_FIELD_CONTENT_LENGTH,
  TG_HTTP_FIELD_TRANSFER_ENCODING,
  TG_HTTP_FIELD_EXPECT
};

// tg_http_field_named returns what the name in `parser->token` means.
enum tg_http_field tg_http_field_named(const struct tg_http_parser *parser);

// tg_http_field_value acts on the value of `parser->field` in `parser->value`. Returns 0, or the status to fail with.
int tg_http_field_value(struct tg_http_parser *parser);

#endif
