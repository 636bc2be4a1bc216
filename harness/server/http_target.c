#include "harness/server/http_target.h"

#include <string.h>
#include <strings.h>

// Where in the target the next byte lies (RFC 9112, 3.2: origin form or absolute form).
enum path_part { PATH_FIRST, PATH_SCHEME, PATH_AUTHORITY, PATH_KEPT, PATH_QUERY };

bool tg_http_keep_token_char(struct tg_http_parser *parser, uint8_t c) {
  if (parser->token_len == sizeof(parser->token) - 1) {
    return false;
  }
  parser->token[parser->token_len++] = (char)c;
  parser->token[parser->token_len] = '\0';
  return true;
}

static void keep_path_char(struct tg_http_request *request, uint8_t c) {
  size_t len = strlen(request->path);
  if (len == TG_HTTP_PATH_KEPT) {
    request->path_truncated = true;
    return;
  }
  request->path[len] = (char)c;
  request->path[len + 1] = '\0';
}

static int scheme_char(struct tg_http_parser *parser, uint8_t c) {
  if (!tg_http_keep_token_char(parser, c) || parser->token_len > strlen("https://")) {
    return 400;
  }
  if (strcasecmp(parser->token, "http://") == 0 || strcasecmp(parser->token, "https://") == 0) {
    parser->path_part = PATH_AUTHORITY;
  }
  return 0;
}

static int path_char(struct tg_http_parser *parser, uint8_t c) {
  struct tg_http_request *request = &parser->request;
  switch ((enum path_part)parser->path_part) {
    case PATH_FIRST:
      if (c != '/' && c != '*') {
        parser->path_part = PATH_SCHEME;
        return scheme_char(parser, c);
      }
      parser->path_part = PATH_KEPT;
      keep_path_char(request, c);
      return 0;
    case PATH_SCHEME:
      return scheme_char(parser, c);
    case PATH_AUTHORITY:
      if (c == '/' || c == '?') {
        keep_path_char(request, '/');
        parser->path_part = c == '/' ? PATH_KEPT : PATH_QUERY;
      }
      return 0;
    case PATH_KEPT:
      if (c == '?') {
        parser->path_part = PATH_QUERY;
      } else {
        keep_path_char(request, c);
      }
      return 0;
    case PATH_QUERY:
      break;
  }
  return 0;
}

int tg_http_target_char(struct tg_http_parser *parser, uint8_t c) {
  if (c <= 0x20 || c >= 0x7f || c == '#') {
    return 400;
  }
  if (++parser->target_len > TG_HTTP_TARGET_MAX) {
    return 414;
  }
  return path_char(parser, c);
}

int tg_http_target_end(struct tg_http_parser *parser) {
  if (parser->path_part == PATH_FIRST || parser->path_part == PATH_SCHEME) {
    return 400;
  }
  if (parser->path_part == PATH_AUTHORITY) {
    keep_path_char(&parser->request, '/');
  }
  return 0;
}
