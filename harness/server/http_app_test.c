// The responder on a connection that the test plays: input in pieces of any size, output with room for any number of
// bytes. What comes out must not depend on either.
#include "harness/server/http_app.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST_OUTPUT (1 << 20)

struct tg_conn {
  const char *input;
  size_t input_len;
  size_t piece;     // how much one read gives
  size_t released;  // how much of the input has arrived
  size_t at;
  bool ends;    // the peer finishes after its input
  bool broken;  // reads fail after the input
  size_t room;  // what one write takes at most, in all until the next turn
  size_t room_left;
  bool over_capacity;
  int writes;
  char output[MOST_OUTPUT];
  size_t output_len;
};

ssize_t tg_conn_read(struct tg_conn *conn, void *out, size_t len) {
  size_t left = conn->released - conn->at;
  if (left == 0) {
    if (conn->at < conn->input_len || !(conn->ends || conn->broken)) {
      return TG_READ_AGAIN;
    }
    return conn->broken ? TG_READ_ERROR : TG_READ_EOF;
  }
  size_t got = left < len ? left : len;
  memcpy(out, conn->input + conn->at, got);
  conn->at += got;
  return (ssize_t)got;
}

size_t tg_conn_write(struct tg_conn *conn, const void *data, size_t len) {
  size_t taken = len < conn->room_left ? len : conn->room_left;
  assert_true(conn->output_len + taken <= MOST_OUTPUT);
  memcpy(conn->output + conn->output_len, data, taken);
  conn->output_len += taken;
  conn->room_left -= taken;
  conn->writes++;
  return taken;
}

bool tg_conn_over_capacity(const struct tg_conn *conn) {
  return conn->over_capacity;
}

static void stats(void *data, struct tg_counters *out) {
  assert_non_null(data);
  *out = (struct tg_counters){.accepted = 7};
}

static const struct tg_app *const app = &tg_http_app_callbacks;

// Lets the peer send the next piece, if the application takes input, and lets it send its output.
static enum tg_app_next turn(struct tg_conn *conn, void *state, enum tg_app_next next) {
  conn->room_left = conn->room;
  if (next == TG_APP_WRITE) {
    return app->writable(state, conn);
  }
  size_t arrived = conn->released + conn->piece;
  conn->released = arrived < conn->input_len ? arrived : conn->input_len;
  return app->readable(state, conn);
}

// Plays a whole connection. Returns what the application wanted at its end.
static enum tg_app_next play(struct tg_conn *conn) {
  int marker;
  struct tg_http_app *data = tg_http_app_create(1000, stats, &marker);
  assert_non_null(data);
  void *state = app->opened(data, conn);
  assert_non_null(state);
  enum tg_app_next next = TG_APP_IDLE;
  do {
    next = turn(conn, state, next);
  } while (next != TG_APP_FINISH && next != TG_APP_ABORT && (conn->at < conn->input_len || next == TG_APP_WRITE));
  app->closed(state);
  tg_http_app_destroy(data);
  return next;
}

static struct tg_conn *new_conn(const char *input, size_t piece, size_t room) {
  struct tg_conn *conn = calloc(1, sizeof(*conn));
  assert_non_null(conn);
  conn->input = input;
  conn->input_len = strlen(input);
  conn->piece = piece;
  conn->room = room;
  return conn;
}

// The dates of two runs may be a second apart.
static void blank_dates(struct tg_conn *conn) {
  char *at = conn->output;
  char *end = conn->output + conn->output_len;
  while ((at = memmem(at, (size_t)(end - at), "\r\nDate: ", 8)) != NULL) {
    memset(at + 8, '-', 29);
    at += 8;
  }
}

#define HOST      "Host: x\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" HOST "\r\n"

static void output_depends_on_neither_pieces_nor_room(void **state) {
  (void)state;
  static const char input[] = GET("/") GET("/bytes/20000") "HEAD /big HTTP/1.1\r\n" HOST "\r\n" GET(
      "/nothing") "POST /upload HTTP/1.1\r\n" HOST
                  "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello" GET(
                      "/stats") "POST /upload HTTP/1.1\r\n" HOST
                                "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" GET(
                                    "/bytes/1") "DELETE / HTTP/1.1\r\n" HOST "\r\n" GET("/bytes/0") "broken\r\n";
  struct tg_conn *whole = new_conn(input, sizeof(input), MOST_OUTPUT);
  assert_int_equal(play(whole), TG_APP_FINISH);
  assert_int_equal(whole->at, whole->input_len);
  assert_true(whole->output_len > 20000);
  blank_dates(whole);
  static const size_t pieces[] = {1, 2, 3, 10, 100, sizeof(input)};
  static const size_t rooms[] = {1, 7, 100, 16384, MOST_OUTPUT};
  for (size_t p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++) {
    for (size_t r = 0; r < sizeof(rooms) / sizeof(rooms[0]); r++) {
      struct tg_conn *cut = new_conn(input, pieces[p], rooms[r]);
      assert_int_equal(play(cut), TG_APP_FINISH);
      blank_dates(cut);
      assert_int_equal(cut->output_len, whole->output_len);
      assert_memory_equal(cut->output, whole->output, whole->output_len);
      free(cut);
    }
  }
  free(whole);
}

static void a_small_response_is_one_write(void **state) {
  (void)state;
  static const char *const inputs[] = {GET("/"), GET("/stats"), GET("/nothing"), GET("/bytes/15000"),
                                       "POST /upload HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\na"};
  for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
    struct tg_conn *conn = new_conn(inputs[i], 1000, MOST_OUTPUT);
    assert_int_equal(play(conn), TG_APP_IDLE);
    assert_int_equal(conn->writes, 1);
    free(conn);
  }
}

static void assert_ends_with(const char *input, bool ends, bool broken, enum tg_app_next expected, int status) {
  struct tg_conn *conn = new_conn(input, 1000, MOST_OUTPUT);
  conn->ends = ends;
  conn->broken = broken;
  assert_int_equal(play(conn), expected);
  int got = 0;
  sscanf(conn->output, "HTTP/1.1 %d", &got);
  assert_int_equal(got, status);
  free(conn);
}

static void it_says_what_it_wants_next(void **state) {
  (void)state;
  assert_ends_with(GET("/"), false, false, TG_APP_IDLE, 200);
  assert_ends_with("GET / HT", false, false, TG_APP_PARTIAL, 0);
  assert_ends_with(GET("/") "G", false, false, TG_APP_PARTIAL, 200);
  assert_ends_with("POST /upload HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhell", false, false, TG_APP_PARTIAL, 0);
  assert_ends_with(GET("/"), true, false, TG_APP_FINISH, 200);
  assert_ends_with("GET / HT", true, false, TG_APP_FINISH, 0);
  assert_ends_with(GET("/"), false, true, TG_APP_ABORT, 200);
  assert_ends_with("GET / HTTP/1.1\r\nConnection: close\r\n" HOST "\r\n" GET("/"), false, false, TG_APP_FINISH, 200);
  assert_ends_with("GET / HTTP/1.0\r\n\r\n", false, false, TG_APP_FINISH, 200);
  assert_ends_with("nonsense\r\n", false, false, TG_APP_FINISH, 400);
  assert_ends_with("POST /upload HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n\r\n", false, false, TG_APP_FINISH, 413);
}

static void over_capacity_every_request_is_refused(void **state) {
  (void)state;
  static const char *const inputs[] = {
      GET("/"), GET("/nothing"), "POST /upload HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n",
      "POST /upload HTTP/1.1\r\n" HOST "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"};
  for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
    struct tg_conn *conn = new_conn(inputs[i], 1000, MOST_OUTPUT);
    conn->over_capacity = true;
    assert_int_equal(play(conn), TG_APP_FINISH);
    assert_int_equal(strncmp(conn->output, "HTTP/1.1 503 ", 13), 0);
    assert_non_null(strstr(conn->output, "\r\nConnection: close\r\n"));
    assert_non_null(strstr(conn->output, "{\"code\":\"capacity-unavailable\"}"));
    free(conn);
  }
}

// Asks a connection to finish after `before` bytes of its input, and plays on.
static struct tg_conn *play_finish(const char *input, size_t before, enum tg_app_next expected) {
  int marker;
  struct tg_http_app *data = tg_http_app_create(1000, stats, &marker);
  struct tg_conn *conn = new_conn(input, before, 100);
  assert_non_null(data);
  void *http = app->opened(data, conn);
  assert_non_null(http);
  enum tg_app_next next = before == 0 ? TG_APP_IDLE : turn(conn, http, TG_APP_IDLE);
  conn->room_left = conn->room;
  next = next == TG_APP_FINISH ? next : app->finish_requested(http, conn);
  assert_int_equal(next, expected);
  conn->piece = conn->input_len;
  for (int turns = 0; next != TG_APP_FINISH && turns < 1000; turns++) {
    next = turn(conn, http, next);
  }
  assert_int_equal(next, TG_APP_FINISH);
  app->closed(http);
  tg_http_app_destroy(data);
  return conn;
}

static int count(const struct tg_conn *conn, const char *text) {
  int found = 0;
  for (const char *at = conn->output; (at = strstr(at, text)) != NULL; at++) {
    found++;
  }
  return found;
}

static void finishing_answers_the_request_at_hand_and_no_other(void **state) {
  (void)state;
  struct tg_conn *idle = play_finish("", 0, TG_APP_FINISH);
  assert_int_equal(idle->output_len, 0);
  free(idle);
  struct tg_conn *partial = play_finish(GET("/") GET("/"), 5, TG_APP_PARTIAL);
  assert_int_equal(count(partial, "HTTP/1.1 200 OK"), 1);
  assert_int_equal(count(partial, "Connection: close"), 1);
  free(partial);
  struct tg_conn *writing = play_finish(GET("/bytes/1000") GET("/"), strlen(GET("/bytes/1000") GET("/")), TG_APP_WRITE);
  assert_int_equal(count(writing, "HTTP/1.1 200 OK"), 1);
  assert_true(writing->output_len > 1000);
  free(writing);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(output_depends_on_neither_pieces_nor_room),
      cmocka_unit_test(a_small_response_is_one_write),
      cmocka_unit_test(it_says_what_it_wants_next),
      cmocka_unit_test(over_capacity_every_request_is_refused),
      cmocka_unit_test(finishing_answers_the_request_at_hand_and_no_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
