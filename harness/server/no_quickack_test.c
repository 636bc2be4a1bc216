// The server on an accept path without TCP_QUICKACK: it serves, in every mode, and arms nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "harness/server/test_client.h"
#include "harness/server/test_server.h"

static void it_serves_in_every_mode(void **state) {
  (void)state;
  static const char *const lines[] = {"--http-port 0", "--http-port 0 --quickack accept",
                                      "--http-port 0 --quickack off", "--http-port 0 --flush-tickets"};
  SSL_CTX *tls = test_tls_context();
  for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
    struct test_server server;
    test_server_start(&server, lines[i]);
    assert_true(test_get(server.tls_port, tls) >= 0);
    assert_true(test_get(server.http_port, NULL) >= 0);
    struct test_conn conn;
    assert_true(test_open(&conn, server.tls_port, tls));
    assert_true(test_write_text(&conn, "GET /big HTTP/1.1\r\n"));
    assert_true(test_ask(&conn, "Host: x\r\n\r\n", 200));
    assert_true(test_ask(&conn, TEST_GET("/"), 200));
    test_close(&conn);
    json_t *counters = test_server_stop(&server);
    assert_int_equal(test_counter(counters, "quickack_armed"), 0);
    assert_int_equal(test_counter(counters, "quickack_failed"), 0);
    assert_int_equal(test_counter(counters, "established"), 2);
    json_decref(counters);
  }
  SSL_CTX_free(tls);
}

int main(int argc, char *argv[]) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_serves_in_every_mode),
  };
  test_server_take_argument(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
