// How the server starts, refuses to start, sheds and ends.
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
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/server/test_client.h"
#include "harness/server/test_credentials.h"
#include "harness/server/test_server.h"

static void refused(const char *line, int status, const char *named) {
  char err[1024];
  print_message("%s\n", line);
  assert_int_equal(test_server_refused(line, err, sizeof(err)), status);
  // One line, and it names the thing.
  assert_int_equal(strncmp(err, "https_server: ", strlen("https_server: ")), 0);
  assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
  assert_non_null(strstr(err, named));
}

static void wrong_command_lines_end_with_2(void **state) {
  (void)state;
  refused("--no-such-option", 2, "--help");
  refused("--port x", 2, "--port");
  refused("--shards 1025", 2, "--shards");
  refused("--cert /nowhere", 2, "--key");
}

static void unreadable_files_end_with_1(void **state) {
  (void)state;
  char text_file[512];
  char line[2048];
  test_file(text_file, "not-pem.txt", "this is no PEM\n");
  refused("--cert /nowhere/c.pem --key /nowhere/k.pem", 1, "/nowhere/c.pem");
  refused("--port 0 --client-ca /nowhere/ca.pem", 1, "/nowhere/ca.pem");
  snprintf(line, sizeof(line), "--cert %s --key %s", text_file, text_file);
  refused(line, 1, text_file);
  snprintf(line, sizeof(line), "--port 0 --client-ca %s", text_file);
  refused(line, 1, text_file);
  refused("--port 0 --groups P-000", 1, "P-000");
}

static void a_key_that_does_not_match_ends_with_1(void **state) {
  (void)state;
  struct test_credentials one;
  struct test_credentials other;
  test_credentials_make(&one, "one", TG_KEY_P256);
  test_credentials_make(&other, "other", TG_KEY_RSA2048);
  char line[2048];
  snprintf(line, sizeof(line), "--port 0 --cert %s --key %s", one.cert_file, other.key_file);
  refused(line, 1, "does not belong");
  snprintf(line, sizeof(line), "--port 0 --cert %s --key %s", one.cert_file, one.cert_file);
  refused(line, 1, "no usable PEM key");
  snprintf(line, sizeof(line), "--port 0 --cert %s --key %s", one.key_file, one.key_file);
  refused(line, 1, "no PEM certificate");
  tg_credentials_free(&one.made);
  tg_credentials_free(&other.made);
}

static void a_short_rsa_key_ends_with_1(void **state) {
  (void)state;
  static const int bits[] = {1024, 1920};
  for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
    struct test_credentials made;
    test_credentials_make_rsa(&made, "short", bits[i]);
    char line[2048];
    char named[64];
    snprintf(line, sizeof(line), "--port 0 --cert %s --key %s", made.cert_file, made.key_file);
    snprintf(named, sizeof(named), "has %d bits", bits[i]);
    refused(line, 1, named);
    tg_credentials_free(&made.made);
  }
  struct test_credentials enough;
  test_credentials_make_rsa(&enough, "enough", 2048);
  char line[2048];
  snprintf(line, sizeof(line), "--shards 1 --cert %s --key %s", enough.cert_file, enough.key_file);
  struct test_server server;
  SSL_CTX *tls = test_tls_context();
  test_server_start(&server, line);
  assert_true(test_get(server.tls_port, tls) >= 0);
  SSL_CTX_free(tls);
  test_server_end(&server);
  tg_credentials_free(&enough.made);
}

static void a_port_in_use_ends_with_1(void **state) {
  (void)state;
  struct test_server server;
  char line[128];
  test_server_start(&server, "--http-port 0 --shards 2");
  snprintf(line, sizeof(line), "--port %u", server.tls_port);
  refused(line, 1, "in use");
  snprintf(line, sizeof(line), "--port 0 --http-port %u", server.tls_port);
  refused(line, 1, "in use");
  SSL_CTX *tls = test_tls_context();
  assert_true(test_get(server.tls_port, tls) >= 0);
  SSL_CTX_free(tls);
  test_server_end(&server);
}

static void a_port_is_free_again_at_once(void **state) {
  (void)state;
  struct test_server server;
  SSL_CTX *tls = test_tls_context();
  test_server_start(&server, "--shards 2 --drain-timeout-ms 200");
  uint16_t port = server.tls_port;
  struct test_conn conn;
  assert_true(test_open(&conn, port, tls));
  assert_true(test_ask(&conn, TEST_GET("/"), 200));
  test_server_end(&server);
  test_close(&conn);
  char line[64];
  snprintf(line, sizeof(line), "--port %u", port);
  test_server_start(&server, line);
  assert_int_equal(server.tls_port, port);
  assert_true(test_get(port, tls) >= 0);
  SSL_CTX_free(tls);
  test_server_end(&server);
}

static void help_is_printed_on_request(void **state) {
  (void)state;
  char err[64];
  assert_int_equal(test_server_prints("--help", "HTTP/2 is out of scope", err, sizeof(err)), 0);
  assert_string_equal(err, "");
}

static void the_descriptor_limit_is_raised(void **state) {
  (void)state;
  struct test_server server;
  test_server_start_limited(&server, "--shards 1", &(struct test_server_limits){.soft_descriptors = 100});
  struct rlimit limit;
  assert_int_equal(prlimit(server.pid, RLIMIT_NOFILE, NULL, &limit), 0);
  assert_true(limit.rlim_cur > 100);
  assert_int_equal(limit.rlim_cur, limit.rlim_max);
  test_server_end(&server);
}

static void is_dev_null(const struct test_server *server, int fd) {
  char path[64];
  char target[64] = "";
  snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)server->pid, fd);
  assert_true(readlink(path, target, sizeof(target) - 1) > 0);
  assert_string_equal(target, "/dev/null");
}

static void no_socket_takes_a_standard_descriptor(void **state) {
  (void)state;
  struct test_server server;
  SSL_CTX *tls = test_tls_context();
  test_server_start_limited(&server, "--shards 2", &(struct test_server_limits){.closed = {true, false, true}});
  is_dev_null(&server, STDIN_FILENO);
  is_dev_null(&server, STDERR_FILENO);
  assert_true(test_get(server.tls_port, tls) >= 0);
  SSL_CTX_free(tls);
  test_server_end(&server);
}

static void without_standard_output_it_ends_with_1(void **state) {
  (void)state;
  static const char *const lines[] = {"--port 0", "--help"};
  for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
    char err[1024];
    struct test_server_limits limits = {.closed = {false, true, false}};
    assert_int_equal(test_server_refused_limited(lines[i], &limits, err, sizeof(err)), 1);
    assert_string_equal(err, "https_server: cannot write to standard output: Bad file descriptor\n");
    limits = (struct test_server_limits){.closed = {true, true, true}};
    assert_int_equal(test_server_refused_limited(lines[i], &limits, err, sizeof(err)), 1);
    assert_string_equal(err, "");
  }
}

static void shards_share_one_port(void **state) {
  (void)state;
  struct test_server server;
  SSL_CTX *tls = test_tls_context();
  test_server_start(&server, "--shards 32 --http-port 0");
  assert_int_equal(server.shards, 32);
  assert_int_not_equal(server.tls_port, server.http_port);
  for (int i = 0; i < 64; i++) {
    assert_true(test_get(server.tls_port, tls) >= 0);
    assert_true(test_get(server.http_port, NULL) >= 0);
  }
  SSL_CTX_free(tls);
  json_t *counters = test_server_stop(&server);
  assert_int_equal(test_counter(counters, "accepted"), 64);
  assert_int_equal(test_counter(counters, "plain_accepted"), 64);
  json_decref(counters);
}

static void beyond_max_connections_requests_get_503(void **state) {
  (void)state;
  enum { MOST = 4, SHED = 8 };
  struct test_server server;
  SSL_CTX *tls = test_tls_context();
  test_server_start(&server, "--shards 8 --max-connections 4");
  struct test_conn conns[MOST];
  for (int i = 0; i < MOST; i++) {
    assert_true(test_open(&conns[i], server.tls_port, tls));
    assert_true(test_ask(&conns[i], TEST_GET("/"), 200));
  }
  // Held until all are refused: the limit is that of all shards together.
  struct test_conn shed[SHED];
  for (int i = 0; i < SHED; i++) {
    struct test_response response;
    assert_true(test_open(&shed[i], server.tls_port, tls));
    assert_true(test_write_text(&shed[i], TEST_GET("/")));
    assert_true(test_read_response(&shed[i], &response, false));
    assert_int_equal(response.status, 503);
    assert_string_equal(response.body, "{\"code\":\"capacity-unavailable\"}");
    assert_true(response.close);
    free(response.body);
    assert_true(test_ends(&shed[i]));
  }
  for (int i = 0; i < SHED; i++) {
    test_close(&shed[i]);
  }
  // Those within the limit are unharmed, and when one goes another is welcome.
  assert_true(test_ask(&conns[0], TEST_GET("/"), 200));
  test_close(&conns[0]);
  double deadline = test_now_ms() + 5000;
  bool welcome = false;
  while (!welcome && test_now_ms() < deadline) {
    welcome = test_get(server.tls_port, tls) >= 0;
  }
  assert_true(welcome);
  for (int i = 1; i < MOST; i++) {
    assert_true(test_ask(&conns[i], TEST_GET("/"), 200));
    test_close(&conns[i]);
  }
  SSL_CTX_free(tls);
  json_t *counters = test_server_stop(&server);
  assert_true(test_counter(counters, "over_capacity") >= SHED);
  json_decref(counters);
}

static void requests_in_flight_are_finished(void **state) {
  (void)state;
  struct test_server server;
  SSL_CTX *tls = test_tls_context();
  test_server_start(&server, "--shards 1 --grace-ms 20000");
  struct test_conn partial;
  struct test_conn streaming;
  struct test_conn idle;
  assert_true(test_open(&partial, server.tls_port, tls));
  assert_true(test_open(&streaming, server.tls_port, tls));
  assert_true(test_open(&idle, server.tls_port, tls));
  assert_true(test_ask(&idle, TEST_GET("/"), 200));
  assert_true(test_write_text(&partial, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe"));
  // Much more than the socket buffers take.
  assert_true(test_write_text(&streaming, TEST_GET("/bytes/50000000")));
  char first;
  assert_int_equal(SSL_peek(streaming.ssl, &first, 1), 1);
  assert_int_equal(kill(server.pid, SIGTERM), 0);

  // No more connections, and idle ones are closed with ceremony.
  assert_true(test_ends(&idle));
  double deadline = test_now_ms() + 10000;
  int fd;
  while ((fd = test_connect(server.tls_port)) >= 0 && test_now_ms() < deadline) {
    close(fd);
  }
  assert_int_equal(fd, -1);

  struct test_response response;
  assert_true(test_write_text(&partial, "llo"));
  assert_true(test_read_response(&partial, &response, false));
  assert_string_equal(response.body, "{\"received\":5}");
  assert_true(response.close);
  free(response.body);
  assert_true(test_ends(&partial));
  assert_true(test_read_response(&streaming, &response, false));
  assert_int_equal(response.body_len, 50000000);
  free(response.body);
  assert_true(test_ends(&streaming));
  test_close(&partial);
  test_close(&streaming);
  test_close(&idle);
  SSL_CTX_free(tls);
  // The second SIGTERM of test_server_stop would end it at once.
  char line[4096];
  assert_non_null(fgets(line, sizeof(line), server.out));
  json_t *counters = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
  assert_non_null(counters);
  test_counters_add_up(counters);
  assert_int_equal(test_counter(counters, "established"), 3);
  json_decref(counters);
  int status = test_server_wait(&server);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_grace_is_bounded(void **state) {
  (void)state;
  struct test_server server;
  SSL_CTX *tls = test_tls_context();
  test_server_start(&server, "--shards 2 --grace-ms 300");
  struct test_conn conn;
  assert_true(test_open(&conn, server.tls_port, tls));
  assert_true(test_write_text(&conn, "GET / HTTP/1.1\r\nHost"));
  int silent = test_connect(server.tls_port);
  assert_true(silent >= 0);
  test_sleep_ms(50);
  double begun = test_now_ms();
  test_server_end(&server);
  double took = test_now_ms() - begun;
  assert_true(took >= 200);
  assert_true(took < 5000);
  close(silent);
  test_close(&conn);
  SSL_CTX_free(tls);
}

static void a_second_signal_ends_it_at_once(void **state) {
  (void)state;
  struct test_server server;
  SSL_CTX *tls = test_tls_context();
  test_server_start(&server, "--shards 1 --grace-ms 60000");
  struct test_conn conn;
  assert_true(test_open(&conn, server.tls_port, tls));
  assert_true(test_write_text(&conn, "GET / HTTP/1.1\r\nHost"));
  struct test_conn idle;
  assert_true(test_open(&idle, server.tls_port, tls));
  assert_true(test_ask(&idle, TEST_GET("/"), 200));
  assert_int_equal(kill(server.pid, SIGINT), 0);
  assert_true(test_ends(&idle));
  assert_int_equal(kill(server.pid, SIGTERM), 0);
  int status = test_server_wait(&server);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGTERM);
  test_close(&conn);
  test_close(&idle);
  SSL_CTX_free(tls);
}

int main(int argc, char *argv[]) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_command_lines_end_with_2),
      cmocka_unit_test(unreadable_files_end_with_1),
      cmocka_unit_test(a_key_that_does_not_match_ends_with_1),
      cmocka_unit_test(a_short_rsa_key_ends_with_1),
      cmocka_unit_test(a_port_in_use_ends_with_1),
      cmocka_unit_test(a_port_is_free_again_at_once),
      cmocka_unit_test(help_is_printed_on_request),
      cmocka_unit_test(the_descriptor_limit_is_raised),
      cmocka_unit_test(no_socket_takes_a_standard_descriptor),
      cmocka_unit_test(without_standard_output_it_ends_with_1),
      cmocka_unit_test(shards_share_one_port),
      cmocka_unit_test(beyond_max_connections_requests_get_503),
      cmocka_unit_test(requests_in_flight_are_finished),
      cmocka_unit_test(the_grace_is_bounded),
      cmocka_unit_test(a_second_signal_ends_it_at_once),
  };
  test_server_take_argument(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
