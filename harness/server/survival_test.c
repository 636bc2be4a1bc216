// Clients that misbehave harm neither the process nor other clients: those are served within a second meanwhile and
// afterwards, and the counters still add up.
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/server/test_client.h"
#include "harness/server/test_server.h"

#define SERVED_WITHIN_MS 1000

struct fixture {
  struct test_server server;
  SSL_CTX *tls;
};

static void begin(struct fixture *fixture, const char *line) {
  test_server_start(&fixture->server, line);
  fixture->tls = test_tls_context();
}

static void assert_others_served(const struct fixture *fixture) {
  double ms = test_get(fixture->server.tls_port, fixture->tls);
  assert_true(ms >= 0);
  assert_true(ms < SERVED_WITHIN_MS);
  if (fixture->server.http_port != 0) {
    ms = test_get(fixture->server.http_port, NULL);
    assert_true(ms >= 0);
    assert_true(ms < SERVED_WITHIN_MS);
  }
}

static json_t *stats(const struct fixture *fixture) {
  json_t *counters = test_stats(fixture->server.tls_port, fixture->tls);
  assert_non_null(counters);
  test_counters_add_up(counters);
  return counters;
}

// Waits until a counter has at least a value.
static void await_counter(const struct fixture *fixture, const char *name, int64_t at_least) {
  double deadline = test_now_ms() + 15000;
  int64_t value = -1;
  while (value < at_least && test_now_ms() < deadline) {
    json_t *counters = stats(fixture);
    value = test_counter(counters, name);
    json_decref(counters);
    test_sleep_ms(20);
  }
  if (value < at_least) {
    fail_msg("%s stays at %jd, below %jd", name, (intmax_t)value, (intmax_t)at_least);
  }
}

static json_t *end(struct fixture *fixture) {
  assert_others_served(fixture);
  json_decref(stats(fixture));
  SSL_CTX_free(fixture->tls);
  return test_server_stop(&fixture->server);
}

static void silent_connections(void **state) {
  (void)state;
  enum { SILENT = 2000, SPARE = 100 };
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < SILENT + SPARE) {
    fail_msg("this test needs %d descriptors: raise the hard limit (ulimit -Hn)", SILENT + SPARE);
  }
  if (limit.rlim_cur < SILENT + SPARE) {
    limit.rlim_cur = SILENT + SPARE;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  struct fixture fixture;
  begin(&fixture, "--http-port 0 --handshake-timeout-ms 4000");
  static int fds[SILENT];
  for (int i = 0; i < SILENT; i++) {
    fds[i] = test_connect(i % 4 == 3 ? fixture.server.http_port : fixture.server.tls_port);
    assert_true(fds[i] >= 0);
    if (i % 500 == 499) {
      assert_others_served(&fixture);
    }
  }
  // Every one of the TLS kind is cut by its deadline, and no other.
  await_counter(&fixture, "handshake_timed_out", SILENT * 3 / 4);
  for (int i = 0; i < SILENT; i++) {
    close(fds[i]);
  }
  json_t *counters = end(&fixture);
  assert_int_equal(test_counter(counters, "handshake_timed_out"), SILENT * 3 / 4);
  assert_int_equal(test_counter(counters, "handshake_failed"), 0);
  json_decref(counters);
}

static void resets_in_mid_response(void **state) {
  (void)state;
  struct fixture fixture;
  begin(&fixture, "--http-port 0 --shards 1");
  enum { RESETS = 20 };
  for (int i = 0; i < RESETS; i++) {
    struct test_conn conn;
    bool plain = i % 2 == 1;
    assert_true(
        test_open(&conn, plain ? fixture.server.http_port : fixture.server.tls_port, plain ? NULL : fixture.tls));
    assert_true(test_write_text(&conn, TEST_GET("/bytes/50000000")));
    char first;
    assert_int_equal(plain ? recv(conn.fd, &first, 1, 0) : SSL_read(conn.ssl, &first, 1), 1);
    test_reset(&conn);
    assert_others_served(&fixture);
  }
  await_counter(&fixture, "peer_reset", RESETS);
  json_decref(end(&fixture));
}

static void resets_in_mid_handshake(void **state) {
  (void)state;
  struct fixture fixture;
  begin(&fixture, "--shards 1");
  enum { RESETS = 20 };
  for (int i = 0; i < RESETS; i++) {
    struct test_conn conn = {.fd = test_connect(fixture.server.tls_port)};
    assert_true(conn.fd >= 0);
    assert_true(test_write(&conn, "\x16\x03\x01\x02\x00\x01", 6));
    test_reset(&conn);
  }
  await_counter(&fixture, "handshake_failed", RESETS);
  json_t *counters = end(&fixture);
  assert_int_equal(test_counter(counters, "handshake_failed"), RESETS);
  json_decref(counters);
}

static void partial_records(void **state) {
  (void)state;
  struct fixture fixture;
  begin(&fixture, "--shards 1 --handshake-timeout-ms 500 --idle-timeout-ms 1000");
  // Half a ClientHello, and no more.
  int hello = test_connect(fixture.server.tls_port);
  assert_true(hello >= 0);
  assert_int_equal(send(hello, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11, 0), 11);
  // The head of an application record whose rest never comes: not a byte of a request, so the connection is idle.
  struct test_conn record;
  assert_true(test_open(&record, fixture.server.tls_port, fixture.tls));
  assert_true(test_ask(&record, TEST_GET("/"), 200));
  assert_int_equal(send(record.fd, "\x17\x03\x03\x01\x00\xaa", 6, 0), 6);
  assert_others_served(&fixture);
  await_counter(&fixture, "handshake_timed_out", 1);
  await_counter(&fixture, "open_timed_out", 1);
  close(hello);
  test_close(&record);
  json_decref(end(&fixture));
}

// A byte a turn, until the server gives up. Returns the milliseconds that took.
static double trickle(struct fixture *fixture, int fd, const char *text, size_t len) {
  double begun = test_now_ms();
  for (size_t i = 0; i < len; i++) {
    if (send(fd, text + i, 1, MSG_NOSIGNAL) != 1) {
      break;
    }
    test_sleep_ms(100);
    char byte;
    if (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0) {
      break;
    }
  }
  assert_others_served(fixture);
  return test_now_ms() - begun;
}

static void trickling_clients(void **state) {
  (void)state;
  struct fixture fixture;
  begin(&fixture, "--http-port 0 --handshake-timeout-ms 1000 --request-timeout-ms 1000 --drain-timeout-ms 1000");
  static char hello[64] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
  int fd = test_connect(fixture.server.tls_port);
  assert_true(fd >= 0);
  double took = trickle(&fixture, fd, hello, sizeof(hello));
  assert_true(took >= 800);
  assert_true(took < 4000);
  close(fd);
  static const char request[] = "GET / HTTP/1.1\r\nHost: a-long-name-that-takes-its-time-to-arrive\r\n\r\n";
  fd = test_connect(fixture.server.http_port);
  assert_true(fd >= 0);
  took = trickle(&fixture, fd, request, sizeof(request) - 1);
  assert_true(took >= 800);
  assert_true(took < 4000);
  close(fd);
  json_t *counters = end(&fixture);
  assert_int_equal(test_counter(counters, "handshake_timed_out"), 1);
  assert_int_equal(test_counter(counters, "open_timed_out"), 1);
  json_decref(counters);
}

static void garbage_and_plain_http_on_the_tls_port(void **state) {
  (void)state;
  struct fixture fixture;
  begin(&fixture, "--shards 1");
  static const char garbage[] = "\0\0\0\0\xff\xfe\x16\x03\x01\0\0\0\0\0\0\0";
  static const struct {
    const char *text;
    size_t len;
  } table[] = {
      {TEST_GET("/"), sizeof(TEST_GET("/")) - 1},
      {"POST / HTTP/1.0\r\n\r\n", 19},
      {garbage, sizeof(garbage) - 1},
      {"\x16\x03\x01\xff\xff\x01\0\0\0\0", 10},
      {"\x15\x03\x01\x00\x02\x02\x28", 7},
      {"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10", 11},
  };
  size_t num = sizeof(table) / sizeof(table[0]);
  for (size_t i = 0; i < num; i++) {
    struct test_conn conn = {.fd = test_connect(fixture.server.tls_port)};
    assert_true(conn.fd >= 0);
    assert_true(test_write(&conn, table[i].text, table[i].len));
    // The server ends it, with or without an alert before.
    char answer[64];
    ssize_t got;
    while ((got = recv(conn.fd, answer, sizeof(answer), 0)) > 0) {
    }
    assert_true(got == 0 || errno == ECONNRESET);
    test_close(&conn);
    assert_others_served(&fixture);
  }
  json_t *counters = end(&fixture);
  assert_int_equal(test_counter(counters, "handshake_failed"), num);
  json_decref(counters);
}

static double cpu_ms(pid_t pid) {
  clockid_t clock;
  struct timespec used;
  assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
  assert_int_equal(clock_gettime(clock, &used), 0);
  return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

static void few_descriptors(void **state) {
  (void)state;
  struct fixture fixture;
  enum { CLIENTS = 100, WATCHED_MS = 1000 };
  test_server_start_limited(&fixture.server, "--shards 2", &(struct test_server_limits){.descriptors = 64});
  fixture.tls = test_tls_context();
  struct test_conn early;
  assert_true(test_open(&early, fixture.server.tls_port, fixture.tls));
  static int fds[CLIENTS];
  for (int i = 0; i < CLIENTS; i++) {
    fds[i] = test_connect(fixture.server.tls_port);
    assert_true(fds[i] >= 0);
  }
  // Those that have a connection are served, and the server waits for descriptors without spinning.
  double begun_cpu = cpu_ms(fixture.server.pid);
  for (int i = 0; i < 10; i++) {
    double begun = test_now_ms();
    assert_true(test_ask(&early, TEST_GET("/"), 200));
    assert_true(test_now_ms() - begun < SERVED_WITHIN_MS);
    test_sleep_ms(WATCHED_MS / 10);
  }
  assert_true(cpu_ms(fixture.server.pid) - begun_cpu < WATCHED_MS / 4.0);
  test_close(&early);
  for (int i = 0; i < CLIENTS; i++) {
    close(fds[i]);
  }
  await_counter(&fixture, "handshake_failed", CLIENTS);
  json_t *counters = end(&fixture);
  assert_true(test_counter(counters, "accept_paused") > 0);
  json_decref(counters);
}

static void idle_then_active(void **state) {
  (void)state;
  struct fixture fixture;
  begin(&fixture, "--http-port 0 --shards 2");
  enum { CONNS = 50 };
  static struct test_conn conns[CONNS];
  for (int i = 0; i < CONNS; i++) {
    bool plain = i % 2 == 1;
    assert_true(
        test_open(&conns[i], plain ? fixture.server.http_port : fixture.server.tls_port, plain ? NULL : fixture.tls));
    if (i % 4 < 2) {
      assert_true(test_ask(&conns[i], TEST_GET("/"), 200));
    }
  }
  test_sleep_ms(1500);
  assert_others_served(&fixture);
  for (int i = 0; i < CONNS; i++) {
    double begun = test_now_ms();
    assert_true(test_ask(&conns[i], TEST_GET("/big"), 200));
    assert_true(test_now_ms() - begun < SERVED_WITHIN_MS);
    test_close(&conns[i]);
  }
  json_t *counters = end(&fixture);
  assert_int_equal(test_counter(counters, "open_timed_out"), 0);
  json_decref(counters);
}

static void clients_that_never_read(void **state) {
  (void)state;
  struct fixture fixture;
  begin(&fixture, "--http-port 0 --shards 1 --response-timeout-ms 1000 --drain-timeout-ms 500");
  enum { CLIENTS = 8 };
  static struct test_conn conns[CLIENTS];
  for (int i = 0; i < CLIENTS; i++) {
    bool plain = i % 2 == 1;
    assert_true(
        test_open(&conns[i], plain ? fixture.server.http_port : fixture.server.tls_port, plain ? NULL : fixture.tls));
    assert_true(test_write_text(&conns[i], TEST_GET("/bytes/50000000")));
  }
  assert_others_served(&fixture);
  await_counter(&fixture, "open_timed_out", CLIENTS);
  for (int i = 0; i < CLIENTS; i++) {
    test_close(&conns[i]);
  }
  json_decref(end(&fixture));
}

int main(int argc, char *argv[]) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(silent_connections),      cmocka_unit_test(resets_in_mid_response),
      cmocka_unit_test(resets_in_mid_handshake), cmocka_unit_test(partial_records),
      cmocka_unit_test(trickling_clients),       cmocka_unit_test(garbage_and_plain_http_on_the_tls_port),
      cmocka_unit_test(few_descriptors),         cmocka_unit_test(idle_then_active),
      cmocka_unit_test(clients_that_never_read),
  };
  test_server_take_argument(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
