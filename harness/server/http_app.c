#include "harness/server/http_app.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/server/counters_json.h"
#include "harness/server/held_bytes.h"
#include "harness/server/http_request.h"
#include "harness/server/http_response.h"
#include "harness/server/routes.h"

// One TLS record of plaintext (RFC 8446, 5.1), the unit in which it is read and written best.
#define PIECE_LEN 16384
// Divides PIECE_LEN, so that any piece of filler is found in one buffer.
#define FILLER_PERIOD 64

_Static_assert(TG_HTTP_RESPONSE_HEAD_SIZE + TG_COUNTERS_JSON_SIZE <= PIECE_LEN, "a small response fits in one piece");

struct tg_http_app {
  uint64_t max_body;
  tg_http_app_stats stats;
  void *stats_data;
  time_t date_of;
  char date[TG_HTTP_DATE_SIZE];
  uint8_t input[PIECE_LEN];
  char output[PIECE_LEN];
  char filler[PIECE_LEN + FILLER_PERIOD];
};

struct http_conn {
  struct tg_http_app *app;
  bool finishing;  // the server winds down: no request after this one
  bool answering;  // a response has begun and the next request must wait for its end
  bool last;       // the connection ends after it
  uint64_t fill_at;
  uint64_t fill_len;
  struct tg_held_bytes input;
  struct tg_held_bytes output;
  struct tg_http_parser parser;
};

struct tg_http_app *tg_http_app_create(uint64_t max_body, tg_http_app_stats stats, void *stats_data) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  _Static_assert(sizeof(alphabet) - 1 == FILLER_PERIOD, "one period of filler");
  struct tg_http_app *app = malloc(sizeof(*app));
  if (app == NULL) {
    return NULL;
  }
  app->max_body = max_body;
  app->stats = stats;
  app->stats_data = stats_data;
  app->date_of = (time_t)-1;
  _Static_assert(sizeof(app->filler) % FILLER_PERIOD == 0, "whole periods of filler");
  for (size_t i = 0; i < sizeof(app->filler); i += FILLER_PERIOD) {
    memcpy(app->filler + i, alphabet, FILLER_PERIOD);
  }
  return app;
}

void tg_http_app_destroy(struct tg_http_app *app) {
  free(app);
}

static const char *date_now(struct tg_http_app *app) {
  time_t now = time(NULL);
  if (now != app->date_of) {
    tg_http_date(app->date, now);
    app->date_of = now;
  }
  return app->date;
}

static void *opened(void *data, struct tg_conn *conn) {
  (void)conn;
  struct http_conn *http = calloc(1, sizeof(*http));
  if (http != NULL) {
    http->app = data;
    tg_http_parser_init(&http->parser, http->app->max_body);
  }
  return http;
}

static void closed(void *state) {
  struct http_conn *http = state;
  tg_held_bytes_clear(&http->input);
  tg_held_bytes_clear(&http->output);
  free(http);
}

// Queues bytes behind those that wait already. Returns false when out of memory.
static bool queue(struct http_conn *http, struct tg_conn *conn, const char *data, size_t len) {
  size_t taken = tg_conn_write(conn, data, len);
  return tg_held_bytes_set(&http->output, data + taken, len - taken);
}

// Moves what waits into the connection's output buffer. Returns whether all of it is there.
static bool output_done(struct http_conn *http, struct tg_conn *conn) {
  const uint8_t *held;
  size_t left = tg_held_bytes_left(&http->output, &held);
  if (left > 0) {
    size_t taken = tg_conn_write(conn, held, left);
    tg_held_bytes_drop(&http->output, taken);
    if (taken < left) {
      return false;
    }
  }
  while (http->fill_at < http->fill_len) {
    uint64_t rest = http->fill_len - http->fill_at;
    size_t len = rest < PIECE_LEN ? (size_t)rest : PIECE_LEN;
    size_t taken = tg_conn_write(conn, http->app->filler + http->fill_at % FILLER_PERIOD, len);
    http->fill_at += taken;
    if (taken < len) {
      return false;
    }
  }
  return true;
}

// Puts the body, or as much of the filler as fits, behind the head. Returns the body's length.
static uint64_t compose_body(struct http_conn *http, const struct tg_route *route, char *out, size_t *out_len) {
  struct tg_http_app *app = http->app;
  struct tg_counters counters = {0};
  switch (route->body) {
    case TG_ROUTE_TEXT:
      *out_len = strlen(route->text);
      memcpy(out, route->text, *out_len);
      return *out_len;
    case TG_ROUTE_RECEIVED:
      *out_len =
          (size_t)snprintf(out, TG_COUNTERS_JSON_SIZE, "{\"received\":%ju}", (uintmax_t)http->parser.request.body_len);
      return *out_len;
    case TG_ROUTE_STATS:
      app->stats(app->stats_data, &counters);
      *out_len = tg_counters_json(out, &counters);
      return *out_len;
    case TG_ROUTE_FILL:
      *out_len = 0;
      return route->fill_len;
  }
  assert(false);
  return 0;
}

// Queues the response to the request at hand. Returns false when out of memory.
static bool answer(struct http_conn *http, struct tg_conn *conn, const struct tg_route *route, bool last) {
  struct tg_http_app *app = http->app;
  const struct tg_http_request *request = &http->parser.request;
  http->answering = true;
  http->last = last;

  char body[TG_COUNTERS_JSON_SIZE];
  size_t body_len;
  uint64_t content_length = compose_body(http, route, body, &body_len);
  size_t len = tg_http_response_head(
      app->output, &(struct tg_http_response){
                       .status = route->status,
                       .content_type = route->body == TG_ROUTE_FILL ? "application/octet-stream" : "application/json",
                       .content_length = content_length,
                       .allow = route->allow,
                       .date = date_now(app),
                       .close = last,
                       .http10_keep_alive = !last && request->minor_version == 0,
                   });
  if (request->method == TG_HTTP_HEAD) {
    return queue(http, conn, app->output, len);
  }
  memcpy(app->output + len, body, body_len);
  len += body_len;
  if (route->body == TG_ROUTE_FILL) {
    size_t fits = PIECE_LEN - len;
    http->fill_len = route->fill_len;
    http->fill_at = route->fill_len < fits ? route->fill_len : fits;
    memcpy(app->output + len, app->filler, (size_t)http->fill_at);
    len += (size_t)http->fill_at;
  }
  return queue(http, conn, app->output, len);
}

// A body is to come: refuse it now rather than read it, or ask for it. Returns false when out of memory.
static bool answer_head(struct http_conn *http, struct tg_conn *conn) {
  const struct tg_http_request *request = &http->parser.request;
  if (tg_conn_over_capacity(conn)) {
    struct tg_route refusal = tg_route_refusal(503);
    return answer(http, conn, &refusal, true);
  }
  if (!request->expect_continue) {
    return true;
  }
  struct tg_route route = tg_route_find(request);
  if (route.status != 200) {
    return answer(http, conn, &route, true);
  }
  return queue(http, conn, TG_HTTP_CONTINUE, sizeof(TG_HTTP_CONTINUE) - 1);
}

static bool answer_request(struct http_conn *http, struct tg_conn *conn) {
  const struct tg_http_request *request = &http->parser.request;
  if (tg_conn_over_capacity(conn)) {
    struct tg_route refusal = tg_route_refusal(503);
    return answer(http, conn, &refusal, true);
  }
  struct tg_route route = tg_route_find(request);
  return answer(http, conn, &route, !request->keep_alive || http->finishing);
}

// Uses input up to the end of a request, or all of it. Returns false when out of memory.
static bool use_input(struct http_conn *http, struct tg_conn *conn, const uint8_t *data, size_t len, size_t *out_used) {
  size_t at = 0;
  bool ok = true;
  while (ok && at < len && !http->answering && http->output.data == NULL) {
    size_t used;
    enum tg_http_event event = tg_http_parse(&http->parser, data + at, len - at, &used);
    at += used;
    if (event == TG_HTTP_HEAD_COMPLETE) {
      ok = answer_head(http, conn);
    } else if (event == TG_HTTP_DONE) {
      ok = answer_request(http, conn);
    } else if (event == TG_HTTP_FAILED) {
      struct tg_route refusal = tg_route_refusal(http->parser.status);
      ok = answer(http, conn, &refusal, true);
    }
  }
  *out_used = at;
  return ok;
}

// What to tell the accept path when there is no more input for now.
static enum tg_app_next wait_for_input(const struct http_conn *http) {
  if (tg_http_parser_begun(&http->parser)) {
    return TG_APP_PARTIAL;
  }
  return http->finishing ? TG_APP_FINISH : TG_APP_IDLE;
}

// Takes one step: input held back before, or else a read. Returns false when `*out_next` is to be returned.
static bool take_input(struct http_conn *http, struct tg_conn *conn, enum tg_app_next *out_next) {
  const uint8_t *data;
  size_t used;
  size_t len = tg_held_bytes_left(&http->input, &data);
  if (len > 0) {
    bool ok = use_input(http, conn, data, len, &used);
    tg_held_bytes_drop(&http->input, used);
    *out_next = TG_APP_ABORT;
    return ok;
  }
  ssize_t got = tg_conn_read(conn, http->app->input, sizeof(http->app->input));
  if (got <= 0) {
    *out_next = got == TG_READ_AGAIN ? wait_for_input(http) : got == TG_READ_EOF ? TG_APP_FINISH : TG_APP_ABORT;
    return false;
  }
  *out_next = TG_APP_ABORT;
  return use_input(http, conn, http->app->input, (size_t)got, &used) &&
         tg_held_bytes_set(&http->input, http->app->input + used, (size_t)got - used);
}

static enum tg_app_next go_on(void *state, struct tg_conn *conn) {
  struct http_conn *http = state;
  enum tg_app_next next;
  do {
    if (!output_done(http, conn)) {
      return TG_APP_WRITE;
    }
    if (http->answering) {
      if (http->last || http->finishing) {
        return TG_APP_FINISH;
      }
      http->answering = false;
      http->fill_at = http->fill_len = 0;
      tg_http_parser_reset(&http->parser);
    }
  } while (take_input(http, conn, &next));
  return next;
}

static enum tg_app_next finish_requested(void *state, struct tg_conn *conn) {
  struct http_conn *http = state;
  http->finishing = true;
  // A request may be waiting to be read: it was in flight, and is answered.
  return go_on(http, conn);
}

const struct tg_app tg_http_app_callbacks = {
    .opened = opened,
    .readable = go_on,
    .writable = go_on,
    .finish_requested = finish_requested,
    .closed = closed,
};
