// Many client threads on many shards at once: what the thread sanitizer is to look at.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/server/test_client.h"
#include "harness/server/test_server.h"

#define CLIENTS     6
#define CONNECTIONS 30

struct client {
  pthread_t thread;
  const struct test_server *server;
  SSL_CTX *tls;
  int number;
  int failures;
};

// One connection of the kind that the turn asks for. Returns whether all went well.
static bool one_turn(const struct client *client, int turn) {
  struct test_conn conn;
  bool plain = turn % 3 == 2;
  if (!test_open(&conn, plain ? client->server->http_port : client->server->tls_port, plain ? NULL : client->tls)) {
    return false;
  }
  bool ok = test_ask(&conn, TEST_GET("/"), 200) && test_ask(&conn, TEST_GET("/bytes/100000"), 200) &&
            test_ask(&conn, TEST_GET("/stats"), 200) &&
            test_ask(&conn, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", 200);
  if (turn % 5 == 4) {
    test_reset(&conn);
  } else {
    test_close(&conn);
  }
  return ok;
}

static void *run_client(void *data) {
  struct client *client = data;
  for (int turn = 0; turn < CONNECTIONS; turn++) {
    client->failures += !one_turn(client, turn + client->number);
  }
  return NULL;
}

static void clients_of_all_kinds_at_once(void **state) {
  (void)state;
  struct test_server server;
  test_server_start(&server, "--shards 4 --http-port 0 --ticket-lifetime-s 1");
  struct client clients[CLIENTS];
  for (int i = 0; i < CLIENTS; i++) {
    clients[i] = (struct client){.server = &server, .tls = test_tls_context(), .number = i};
    assert_int_equal(pthread_create(&clients[i].thread, NULL, run_client, &clients[i]), 0);
  }
  for (int i = 0; i < CLIENTS; i++) {
    assert_int_equal(pthread_join(clients[i].thread, NULL), 0);
    assert_int_equal(clients[i].failures, 0);
    SSL_CTX_free(clients[i].tls);
  }
  json_t *counters = test_server_stop(&server);
  assert_int_equal(test_counter(counters, "established") + test_counter(counters, "plain_accepted"),
                   CLIENTS * CONNECTIONS);
  json_decref(counters);
}

static void signals_under_load(void **state) {
  (void)state;
  struct test_server server;
  test_server_start(&server, "--shards 4 --http-port 0 --grace-ms 2000");
  struct client clients[CLIENTS];
  for (int i = 0; i < CLIENTS; i++) {
    clients[i] = (struct client){.server = &server, .tls = test_tls_context(), .number = i};
    assert_int_equal(pthread_create(&clients[i].thread, NULL, run_client, &clients[i]), 0);
  }
  test_sleep_ms(100);
  // Clients fail from here on; the server ends as it should all the same.
  test_server_end(&server);
  for (int i = 0; i < CLIENTS; i++) {
    assert_int_equal(pthread_join(clients[i].thread, NULL), 0);
    SSL_CTX_free(clients[i].tls);
  }
}

int main(int argc, char *argv[]) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(clients_of_all_kinds_at_once),
      cmocka_unit_test(signals_under_load),
  };
  test_server_take_argument(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
