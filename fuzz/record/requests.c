#include "fuzz/record/requests.h"

#include <string.h>

#include "fuzz/schedule/prefix.h"

#define HOST "Host: a\r\n"
#define GET  "GET / HTTP/1.1\r\n" HOST
#define POST "POST /upload HTTP/1.1\r\n" HOST
#define NEXT "GET / HTTP/1.1\r\n" HOST "\r\n"

enum { TLS, PLAINTEXT };

// What is sent: `before`, `times` bytes of 'x', `after`.
struct request {
  const char *name;
  const char *before;
  size_t times;
  const char *after;
  uint8_t over;  // TLS or PLAINTEXT
  uint8_t end;   // enum tg_byte_input_end
};

static const struct request kRequests[] = {
    // Heads.
    {"method_lowercase", "get / HTTP/1.1\r\n" HOST "\r\n" NEXT, 0, "", TLS, 0},
    {"method_unknown", "PUT / HTTP/1.1\r\n" HOST "\r\n" NEXT, 0, "", TLS, 0},
    {"method_too_long", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n", 0, "", TLS, 0},
    {"method_bad_byte", "G(T / HTTP/1.1\r\n", 0, "", TLS, 0},
    {"method_empty", " / HTTP/1.1\r\n", 0, "", TLS, 0},
    {"blank_line_first", "\r\n" NEXT, 0, "", TLS, 0},
    {"blank_lines_two_first", "\r\n\r\n" NEXT, 0, "", TLS, 0},
    {"blank_line_without_lf", "\rGET / HTTP/1.1\r\n", 0, "", TLS, 0},
    {"target_absolute", "GET http://a/bytes/3 HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"target_absolute_https_query", "GET HTTPS://a?q HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"target_absolute_no_path", "GET http://a HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"target_other_scheme", "GET ftp://a/ HTTP/1.1\r\n", 0, "", TLS, 0},
    {"target_scheme_only", "GET http: HTTP/1.1\r\n", 0, "", TLS, 0},
    {"target_empty", "GET  HTTP/1.1\r\n", 0, "", TLS, 0},
    {"target_asterisk", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"target_query", "GET /?a=b&c HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"target_fragment", "GET /#a HTTP/1.1\r\n", 0, "", TLS, 0},
    {"target_longer_than_kept", "GET /", 80, " HTTP/1.1\r\n" HOST "\r\n", TLS, 0},
    {"target_too_long", "GET /", 8100, " HTTP/1.1\r\n" HOST "\r\n", TLS, 0},
    {"target_bad_byte", "GET /\x7f HTTP/1.1\r\n", 0, "", TLS, 0},
    {"version_1_9", "GET / HTTP/1.9\r\n" HOST "\r\n" NEXT, 0, "", TLS, 0},
    {"version_2_0", "GET / HTTP/2.0\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"version_none", "GET /\r\n", 0, "", TLS, 0},
    {"version_lowercase", "GET / http/1.1\r\n", 0, "", TLS, 0},
    {"version_letters", "GET / HTTP/x.y\r\n", 0, "", TLS, 0},
    {"version_too_long", "GET / HTTP/1.1111111111111111111111111\r\n", 0, "", TLS, 0},
    {"version_without_lf", "GET / HTTP/1.1\rHost: a\r\n", 0, "", TLS, 0},
    {"version_bad_byte", "GET / HTTP/1.1\n" HOST "\r\n", 0, "", TLS, 0},
    // Fields.
    {"host_none", "GET / HTTP/1.1\r\n\r\n", 0, "", TLS, 0},
    {"host_none_http10", "GET / HTTP/1.0\r\n\r\n", 0, "", TLS, 0},
    {"host_twice", GET HOST "\r\n", 0, "", TLS, 0},
    {"host_bad_byte", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 0, "", TLS, 0},
    {"host_ipv6", "GET / HTTP/1.1\r\nHost: [::1]:443\r\n\r\n", 0, "", TLS, 0},
    {"field_space_before_colon", GET "X : y\r\n\r\n", 0, "", TLS, 0},
    {"field_folded", GET "X: a\r\n b\r\n\r\n", 0, "", TLS, 0},
    {"field_bare_lf", GET "X: a\nY: b\r\n\r\n", 0, "", TLS, 0},
    {"field_bare_cr", GET "X: a\rb\r\n\r\n", 0, "", TLS, 0},
    {"field_long_name", GET "X-A-Name-That-Is-Longer-Than-Any-Known: a\r\n\r\n", 0, "", TLS, 0},
    {"field_long_value", GET "X: ", 700, "\r\n\r\n", TLS, 0},
    {"field_known_too_long", GET "Connection: ", 600, "\r\n\r\n", TLS, 0},
    {"field_empty_value", GET "X:\r\nY: \t \r\n\r\n", 0, "", TLS, 0},
    {"field_obs_text", GET "X: \xff\xfe\r\n\r\n", 0, "", TLS, 0},
    {"head_without_last_lf", GET "\rX", 0, "", TLS, 0},
    {"head_just_fits", GET "X: ", 16300, "\r\n\r\n", TLS, 0},
    {"head_too_long", GET "X: ", 16400, "\r\n\r\n" NEXT, TLS, 0},
    {"head_too_long_unended", GET "X: ", 17000, "", TLS, 0},
    {"head_of_many_fields_too_long", GET "X: ", 16300,
     "\r\nY: abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\r\n\r\n", TLS, TG_BYTE_INPUT_HALF_CLOSE},
    {"connection_list", GET "Connection: x , Close\t, keep-alive\r\n\r\n", 0, "", TLS, 0},
    {"connection_keep_alive_http10", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" NEXT, 0, "", TLS, 0},
    {"expect_unknown", POST "Expect: 200-ok\r\n\r\n", 0, "", TLS, 0},
    {"expect_without_body", GET "Expect: 100-continue\r\n\r\n", 0, "", TLS, 0},
    {"expect_http10", "POST /upload HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab", 0, "", TLS, 0},
    {"expect_not_found", "POST /no HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", 0, "", TLS,
     0},
    // Bodies.
    {"length_not_a_number", POST "Content-Length: 1a\r\n\r\n", 0, "", TLS, 0},
    {"length_empty", POST "Content-Length:\r\n\r\n", 0, "", TLS, 0},
    {"length_twice", POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 0, "", TLS, 0},
    {"length_huge", POST "Content-Length: 99999999999999999999999999\r\n\r\n", 0, "", TLS, 0},
    {"length_leading_zeros", POST "Content-Length: 0002 \r\n\r\nab" NEXT, 0, "", TLS, 0},
    {"length_and_chunked", POST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, "", TLS, 0},
    {"body_with_get", GET "Content-Length: 3\r\n\r\nabc" NEXT, 0, "", TLS, 0},
    {"body_cut_off", POST "Content-Length: 9\r\n\r\nabc", 0, "", TLS, TG_BYTE_INPUT_HALF_CLOSE},
    {"body_then_next", POST "Content-Length: 3000\r\n\r\n", 3000, NEXT, TLS, 0},
    {"chunked_twice", POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 0, "", TLS, 0},
    {"chunked_http10", "POST /upload HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, "", TLS, 0},
    {"coding_unknown", POST "Transfer-Encoding: gzip, chunked\r\n\r\n", 0, "", TLS, 0},
    {"chunk_hex_and_spaces", POST "Transfer-Encoding: Chunked\r\n\r\nA \t\r\n0123456789\r\n0 \r\n\r\n" NEXT, 0, "", TLS,
     0},
    {"chunk_extension", POST "Transfer-Encoding: chunked\r\n\r\n1;a=\"b\"\r\nx\r\n0 ;c\r\n\r\n" NEXT, 0, "", TLS, 0},
    {"chunk_trailer", POST "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nHost: b\r\nX: y\r\n\r\n" NEXT, 0, "", TLS,
     0},
    {"chunk_trailer_bad", POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX y\r\n\r\n", 0, "", TLS, 0},
    {"chunk_trailer_too_long", POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", 16100, "\r\nY: ", TLS, 0},
    {"chunk_size_empty", POST "Transfer-Encoding: chunked\r\n\r\n\r\n", 0, "", TLS, 0},
    {"chunk_size_bad", POST "Transfer-Encoding: chunked\r\n\r\n1g\r\n", 0, "", TLS, 0},
    {"chunk_size_space_then_digit", POST "Transfer-Encoding: chunked\r\n\r\n1 1\r\n", 0, "", TLS, 0},
    {"chunk_size_too_big", POST "Transfer-Encoding: chunked\r\n\r\nffffff\r\n", 0, "", TLS, 0},
    {"chunk_size_without_lf", POST "Transfer-Encoding: chunked\r\n\r\n1\rx", 0, "", TLS, 0},
    {"chunk_line_too_long", POST "Transfer-Encoding: chunked\r\n\r\n1;", 300, "\r\nx\r\n0\r\n\r\n", TLS, 0},
    {"chunk_data_without_cr", POST "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n", 0, "", TLS, 0},
    {"chunk_data_without_lf", POST "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r1\r\n", 0, "", TLS, 0},
    {"chunked_cut_off", POST "Transfer-Encoding: chunked\r\n\r\n5\r\nab", 0, "", TLS, TG_BYTE_INPUT_CLOSE},
    // Routes.
    {"route_big", "GET /big HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"route_big_head", "HEAD /big HTTP/1.1\r\n" HOST "\r\n" NEXT, 0, "", TLS, 0},
    {"route_big_reset", "GET /big HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, TG_BYTE_INPUT_RESET},
    {"route_bytes_0", "GET /bytes/0 HTTP/1.1\r\n" HOST "\r\n" NEXT, 0, "", TLS, 0},
    {"route_bytes_leading_zero", "GET /bytes/01 HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"route_bytes_none", "GET /bytes/ HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"route_bytes_letters", "GET /bytes/1x HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"route_bytes_too_many", "GET /bytes/99999999999999999999 HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"route_upload_get", "GET /upload HTTP/1.1\r\n" HOST "\r\n", 0, "", TLS, 0},
    {"route_stats_post", "POST /stats HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", 0, "", TLS, 0},
    {"plaintext_broken", "\x16\x03\x01", 0, "", PLAINTEXT, 0},
    {"plaintext_pipeline_half_closed", NEXT NEXT POST "Content-Length: 1\r\n\r\nx" NEXT, 0, "", PLAINTEXT,
     TG_BYTE_INPUT_HALF_CLOSE},
    {"silence_then_close", "", 0, "", TLS, TG_BYTE_INPUT_CLOSE},
};

bool tg_requests_record(struct tg_seeds *seeds, struct tg_error *err) {
  static uint8_t payload[20000];
  static uint8_t encoded[TG_BYTE_INPUT_PREFIX + sizeof(payload)];
  for (size_t i = 0; i < sizeof(kRequests) / sizeof(kRequests[0]); i++) {
    const struct request *request = &kRequests[i];
    const size_t before = strlen(request->before);
    const size_t after = strlen(request->after);
    memcpy(payload, request->before, before);
    memset(payload + before, 'x', request->times);
    memcpy(payload + before + request->times, request->after, after);
    const struct tg_byte_input input = {
        .settings = {.shards = 1, .plaintext_listener = request->over == PLAINTEXT},
        .plaintext = request->over == PLAINTEXT,
        .end = request->end,
        .payload = payload,
        .payload_len = before + request->times + after,
    };
    const size_t len = tg_byte_input_encode(&input, encoded);
    if (!tg_seeds_add(seeds, TG_RECORD_REQUEST_BYTES, request->name, encoded, len, err)) {
      return false;
    }
  }
  return true;
}
