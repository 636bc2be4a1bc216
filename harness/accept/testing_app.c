#include "harness/accept/testing_app.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "harness/accept/testing_rig.h"

struct app_state {
  struct testing_app_stats *stats;
  char in[4096];
  size_t in_len;
  char echo[4096];
  size_t owed;  // bytes of the answer that are not queued yet
  size_t echo_at;
  bool is_echo;
  bool finish;
  bool winding_down;
};

static void *app_opened(void *data, struct tg_conn *conn) {
  struct testing_app_stats *stats = data;
  (void)conn;
  if (stats->refuse_to_open) {
    return NULL;
  }
  struct app_state *state = calloc(1, sizeof(*state));
  if (state == NULL) {
    return NULL;
  }
  state->stats = stats;
  stats->opened++;
  return state;
}

static void app_closed(void *opaque) {
  struct app_state *state = opaque;
  state->stats->closed++;
  free(state);
}

static bool send_owed(struct app_state *state, struct tg_conn *conn) {
  static char bulk[65536];
  while (state->owed > 0) {
    size_t part = state->owed;
    const char *from = bulk;
    if (state->is_echo) {
      from = state->echo + state->echo_at;
    } else {
      if (part > sizeof(bulk)) {
        part = sizeof(bulk);
      }
      memset(bulk, 'x', part);
    }
    size_t taken = tg_conn_write(conn, from, part);
    state->echo_at += taken;
    state->owed -= taken;
    if (taken < part) {
      return false;
    }
  }
  return true;
}

// Answers the lines that are there.
static enum tg_app_next answer(struct app_state *state, struct tg_conn *conn) {
  for (;;) {
    if (!send_owed(state, conn)) {
      return TG_APP_WRITE;
    }
    if (state->finish) {
      return TG_APP_FINISH;
    }
    char *end = memchr(state->in, '\n', state->in_len);
    if (end == NULL) {
      if (state->in_len > 0) {
        return TG_APP_PARTIAL;
      }
      return state->winding_down ? TG_APP_FINISH : TG_APP_IDLE;
    }
    size_t len = (size_t)(end + 1 - state->in);
    memcpy(state->echo, state->in, len);
    state->echo[len] = '\0';
    memmove(state->in, end + 1, state->in_len - len);
    state->in_len -= len;
    state->stats->requests++;
    state->is_echo = strncmp(state->echo, "big ", 4) != 0;
    state->owed = state->is_echo ? len : strtoul(state->echo + 4, NULL, 10);
    state->echo_at = 0;
    if (strcmp(state->echo, "abort\n") == 0) {
      return TG_APP_ABORT;
    }
    state->finish = state->winding_down || strcmp(state->echo, "bye\n") == 0;
  }
}

static enum tg_app_next app_readable(void *opaque, struct tg_conn *conn) {
  struct app_state *state = opaque;
  for (;;) {
    enum tg_app_next next = answer(state, conn);
    if (next == TG_APP_WRITE || next == TG_APP_FINISH || next == TG_APP_ABORT) {
      return next;
    }
    assert_true(state->in_len < sizeof(state->in));
    ssize_t got = tg_conn_read(conn, state->in + state->in_len, sizeof(state->in) - state->in_len);
    if (got == TG_READ_AGAIN || got == TG_READ_EOF || got == TG_READ_ERROR) {
      return next;
    }
    state->in_len += (size_t)got;
  }
}

static enum tg_app_next app_writable(void *opaque, struct tg_conn *conn) {
  return answer(opaque, conn);
}

static enum tg_app_next app_finish_requested(void *opaque, struct tg_conn *conn) {
  struct app_state *state = opaque;
  state->winding_down = true;
  state->finish = state->owed > 0;
  return answer(state, conn);
}

const struct tg_app testing_app = {
    .opened = app_opened,
    .readable = app_readable,
    .writable = app_writable,
    .finish_requested = app_finish_requested,
    .closed = app_closed,
};
