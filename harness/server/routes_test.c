#include "harness/server/routes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct tg_route find(enum tg_http_method method, const char *path) {
  struct tg_http_request request = {.method = method};
  assert_true(strlen(path) <= TG_HTTP_PATH_KEPT);
  snprintf(request.path, sizeof(request.path), "%s", path);
  return tg_route_find(&request);
}

static void routes_lead_to_their_bodies(void **state) {
  (void)state;
  struct tg_route index = find(TG_HTTP_GET, "/");
  assert_int_equal(index.status, 200);
  assert_int_equal(index.body, TG_ROUTE_TEXT);
  assert_string_equal(index.text, "{\"status\":\"ok\"}");
  assert_int_equal(find(TG_HTTP_HEAD, "/big").fill_len, 1048576);
  assert_int_equal(find(TG_HTTP_GET, "/big").body, TG_ROUTE_FILL);
  assert_int_equal(find(TG_HTTP_POST, "/upload").body, TG_ROUTE_RECEIVED);
  assert_int_equal(find(TG_HTTP_GET, "/stats").body, TG_ROUTE_STATS);
}

static void bytes_takes_a_decimal_number_up_to_its_limit(void **state) {
  (void)state;
  static const struct {
    const char *path;
    int status;
    uint64_t len;
  } table[] = {
      {"/bytes/0", 200, 0},
      {"/bytes/1", 200, 1},
      {"/bytes/1073741824", 200, 1073741824},
      {"/bytes/1073741825", 404, 0},
      {"/bytes/99999999999999999999999999999999", 404, 0},
      {"/bytes/", 404, 0},
      {"/bytes", 404, 0},
      {"/bytes/00", 404, 0},
      {"/bytes/-1", 404, 0},
      {"/bytes/+1", 404, 0},
      {"/bytes/1x", 404, 0},
      {"/bytes/1/", 404, 0},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    struct tg_route route = find(TG_HTTP_GET, table[i].path);
    assert_int_equal(route.status, table[i].status);
    assert_int_equal(route.fill_len, table[i].len);
  }
}

static void other_paths_are_not_found(void **state) {
  (void)state;
  static const char *const paths[] = {"", "*", "/x", "//", "/big/", "/BIG", "/upload/x", "/stat"};
  for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
    struct tg_route route = find(TG_HTTP_GET, paths[i]);
    assert_int_equal(route.status, 404);
    assert_null(route.allow);
  }
  struct tg_http_request request = {.path = "/", .path_truncated = true};
  assert_int_equal(tg_route_find(&request).status, 404);
}

static void other_methods_are_not_allowed(void **state) {
  (void)state;
  assert_int_equal(find(TG_HTTP_POST, "/").status, 405);
  assert_string_equal(find(TG_HTTP_OTHER, "/big").allow, "GET, HEAD");
  assert_int_equal(find(TG_HTTP_GET, "/upload").status, 405);
  assert_string_equal(find(TG_HTTP_HEAD, "/upload").allow, "POST");
  assert_int_equal(find(TG_HTTP_OTHER, "/x").status, 404);
}

static void refusals_are_json(void **state) {
  (void)state;
  assert_string_equal(tg_route_refusal(503).text, "{\"code\":\"capacity-unavailable\"}");
  static const int statuses[] = {400, 404, 405, 413, 414, 417, 431, 501, 503, 505};
  for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
    struct tg_route route = tg_route_refusal(statuses[i]);
    assert_int_equal(route.status, statuses[i]);
    assert_int_equal(route.body, TG_ROUTE_TEXT);
    assert_int_equal(strncmp(route.text, "{\"code\":\"", 9), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(routes_lead_to_their_bodies), cmocka_unit_test(bytes_takes_a_decimal_number_up_to_its_limit),
      cmocka_unit_test(other_paths_are_not_found),   cmocka_unit_test(other_methods_are_not_allowed),
      cmocka_unit_test(refusals_are_json),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
