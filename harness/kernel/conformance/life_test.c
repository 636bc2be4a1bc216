// What calls return around the end of a connection, on the model and on the kernel of this host.
//
// A script is a text of steps like those of schedule.h, with what each call must return behind it: a number of bytes,
// or the name of an error. Both kernels must return just that.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "harness/kernel/tcp.h"

#define SETTLE_MS 5  // after each step: more than loopback takes, less than any timer

enum op { OP_SEND, OP_RECV, OP_SHUT_READ, OP_SHUT_WRITE, OP_CLOSE, OP_RESET, OP_ERROR };

struct step {
  enum tg_tcp_side side;
  enum op op;
  size_t len;
  ssize_t returns;  // bytes, or -errno
};

#define S TG_TCP_SERVER
#define C TG_TCP_CLIENT
#define SEND(side, len, returns) \
  { side, OP_SEND, len, returns }
#define RECV(side, returns) \
  { side, OP_RECV, 1000, returns }
#define DO(side, op) \
  { side, op, 0, 0 }
#define ERROR(side, returns) \
  { side, OP_ERROR, 0, returns }

struct script {
  const char *name;
  struct step steps[12];
  size_t num_steps;
};
#define SCRIPT(name, ...) \
  { name, {__VA_ARGS__}, sizeof((struct step[]){__VA_ARGS__}) / sizeof(struct step) }

static const struct script scripts[] = {
    SCRIPT("nothing has come", RECV(S, -EAGAIN), SEND(C, 10, 10), RECV(S, 10), RECV(S, -EAGAIN)),
    SCRIPT("fin behind bytes", SEND(C, 10, 10), DO(C, OP_SHUT_WRITE), SEND(C, 1, -EPIPE), RECV(S, 10), RECV(S, 0),
           RECV(S, 0), SEND(S, 20, 20), RECV(C, 20), DO(S, OP_CLOSE), RECV(C, 0), DO(C, OP_CLOSE)),
    SCRIPT("both close", DO(C, OP_CLOSE), RECV(S, 0), DO(S, OP_CLOSE)),
    SCRIPT("closed with bytes unread", SEND(S, 50, 50), SEND(C, 100, 100), DO(S, OP_CLOSE), RECV(C, 50),
           RECV(C, -ECONNRESET), RECV(C, 0), SEND(C, 1, -EPIPE), DO(C, OP_CLOSE)),
    SCRIPT("linger 0", DO(S, OP_RESET), SEND(C, 1, -ECONNRESET), SEND(C, 1, -EPIPE), RECV(C, 0), DO(C, OP_CLOSE)),
    SCRIPT("linger 0, error asked", DO(S, OP_RESET), ERROR(C, ECONNRESET), ERROR(C, 0), RECV(C, 0), SEND(C, 1, -EPIPE),
           DO(C, OP_CLOSE)),
    SCRIPT("data after close", DO(S, OP_CLOSE), SEND(C, 10, 10), RECV(C, 0), ERROR(C, EPIPE), ERROR(C, 0),
           SEND(C, 1, -EPIPE), DO(C, OP_CLOSE)),
    SCRIPT("data twice after close", DO(S, OP_CLOSE), SEND(C, 10, 10), SEND(C, 10, -EPIPE), SEND(C, 10, -EPIPE),
           RECV(C, 0), DO(C, OP_CLOSE)),
    SCRIPT("shutdown of reading alone refuses nothing", DO(S, OP_SHUT_READ), RECV(S, 0), SEND(C, 10, 10), RECV(S, 10),
           RECV(S, 0), ERROR(C, 0), DO(C, OP_CLOSE), DO(S, OP_CLOSE)),
    SCRIPT("shutdown of both refuses", DO(S, OP_SHUT_READ), DO(S, OP_SHUT_WRITE), SEND(C, 10, 10), ERROR(C, EPIPE),
           RECV(C, 0), RECV(S, -ECONNRESET), RECV(S, 0), DO(C, OP_CLOSE), DO(S, OP_CLOSE)),
    SCRIPT("fin, then closed with bytes unread", SEND(S, 10, 10), DO(S, OP_SHUT_WRITE), SEND(C, 5, 5), DO(S, OP_CLOSE),
           RECV(C, 10), RECV(C, 0), ERROR(C, EPIPE), DO(C, OP_CLOSE)),
    SCRIPT("half closed, then reset", DO(C, OP_SHUT_WRITE), RECV(S, 0), SEND(S, 10, 10), DO(C, OP_CLOSE),
           ERROR(S, EPIPE), SEND(S, 1, -EPIPE), DO(S, OP_CLOSE)),
    SCRIPT("bytes before a reset stay", SEND(S, 10, 10), DO(S, OP_RESET), RECV(C, 10), RECV(C, -ECONNRESET),
           DO(C, OP_CLOSE)),
};

static char buffer[1000];

static void settle(void) {
  struct timespec duration = {0, SETTLE_MS * 1000000L};
  nanosleep(&duration, NULL);
}

static ssize_t call(int fd, const struct step *step) {
  struct linger reset = {.l_onoff = 1, .l_linger = 0};
  int error = 0;
  socklen_t len = sizeof(error);
  ssize_t n = 0;
  switch (step->op) {
    case OP_SEND:
      n = send(fd, buffer, step->len, MSG_NOSIGNAL | MSG_DONTWAIT);
      return n < 0 ? -errno : n;
    case OP_RECV:
      n = recv(fd, buffer, step->len, MSG_DONTWAIT);
      return n < 0 ? -errno : n;
    case OP_SHUT_READ:
      return shutdown(fd, SHUT_RD);
    case OP_SHUT_WRITE:
      return shutdown(fd, SHUT_WR);
    case OP_RESET:
      assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
      return close(fd);
    case OP_CLOSE:
      return close(fd);
    case OP_ERROR:
      assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len), 0);
      return error;
  }
  return -EINVAL;
}

static ssize_t modelled(struct tg_tcp *end, const struct step *step) {
  switch (step->op) {
    case OP_SEND:
      return tg_tcp_send(end, buffer, step->len, false);
    case OP_RECV:
      return tg_tcp_recv(end, buffer, step->len, false);
    case OP_SHUT_READ:
      tg_tcp_shutdown_read(end);
      return 0;
    case OP_SHUT_WRITE:
      tg_tcp_shutdown_write(end);
      return 0;
    case OP_RESET:
      tg_tcp_reset(end);
      return 0;
    case OP_CLOSE:
      tg_tcp_close(end);
      return 0;
    case OP_ERROR:
      return tg_tcp_take_error(end);
  }
  return -EINVAL;
}

static void check(const char *where, const struct script *script, size_t at, ssize_t got) {
  if (got != script->steps[at].returns) {
    fail_msg("%s, %s, step %zu: returned %zd, not %zd", where, script->name, at + 1, got, script->steps[at].returns);
  }
}

static void the_kernel_returns_what_is_written(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int ends[2];
    ends[C] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(connect(ends[C], (struct sockaddr *)&address, sizeof(address)), 0);
    ends[S] = accept(listener, NULL, NULL);
    assert_true(ends[S] >= 0);
    close(listener);
    for (size_t at = 0; at < scripts[i].num_steps; at++) {
      const struct step *step = &scripts[i].steps[at];
      check("this kernel", &scripts[i], at, call(ends[step->side], step));
      if (step->op == OP_CLOSE || step->op == OP_RESET) {
        ends[step->side] = -1;
      }
      settle();
    }
    for (int side = 0; side < 2; side++) {
      if (ends[side] >= 0) {
        close(ends[side]);
      }
    }
  }
}

static void the_model_returns_what_is_written(void **state) {
  (void)state;
  struct tg_tcp_options options;
  tg_tcp_options_default(&options);
  for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
    static struct tg_sim sim;
    tg_sim_init(&sim, 1000 * TG_SIM_NS_PER_MS);
    struct tg_tcp_pair *pair = tg_tcp_pair_create(&sim, NULL, 1, &options, 0, false);
    assert_non_null(pair);
    for (size_t at = 0; at < scripts[i].num_steps; at++) {
      const struct step *step = &scripts[i].steps[at];
      check("the model", &scripts[i], at, modelled(tg_tcp_end(pair, step->side), step));
      tg_sim_pass_to(&sim, sim.now_ns + SETTLE_MS * TG_SIM_NS_PER_MS);
    }
    tg_tcp_pair_destroy(pair);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_model_returns_what_is_written),
      cmocka_unit_test(the_kernel_returns_what_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
