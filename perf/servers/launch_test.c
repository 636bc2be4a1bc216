// Every shipped server starts, is ready and ends as its description says; one that is not installed is named with its
// package. Both outcomes are checked: nothing is skipped.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/process/child.h"
#include "perf/process/runfiles.h"
#include "perf/servers/launch.h"

static const char *https_server;
static char client_ca[PATH_MAX];

static void describe_shipped(const char *name, struct tg_server_description *out) {
  char path[64];
  char file[PATH_MAX];
  struct tg_error err;
  (void)snprintf(path, sizeof(path), "perf/servers/%s.json", name);
  if (!tg_runfile(path, file, &err) || !tg_server_describe(file, out, &err)) {
    fail_msg("%s", err.text);
  }
}

// The body that curl gets, as the test's own client would hide what a server needs.
static size_t fetch(const char *scheme, uint16_t port, const char *path) {
  char url[128];
  struct tg_child_result result = {.exit_status = -1};
  struct tg_error err;
  (void)snprintf(url, sizeof(url), "%s://127.0.0.1:%u%s", scheme, port, path);
  const char *const argv[] = {"curl", "-sSkf", "--http1.1", "-m", "20", url, NULL};
  if (!tg_child_run(argv, 30, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != 0) {
    fail_msg("%s: %s", url, result.err);
  }
  size_t len = result.out == NULL ? 0 : strlen(result.out);
  tg_child_result_free(&result);
  return len;
}

static void check_served(const struct tg_launch *launch) {
  const struct tg_server_description *description = launch->description;
  assert_int_equal(fetch("https", launch->server.tls_port, description->small.path), description->small.bytes);
  assert_int_equal(fetch("https", launch->server.tls_port, description->big.path), description->big.bytes);
  if (launch->server.http_port != 0) {
    assert_int_equal(fetch("http", launch->server.http_port, description->small.path), description->small.bytes);
    assert_int_equal(fetch("http", launch->server.http_port, description->big.path), description->big.bytes);
  }
}

// What openssl sees of a server: offering P-384 after P-256, without a client certificate.
static void look(uint16_t port, char out[64]) {
  char command[256];
  struct tg_child_result result = {.exit_status = -1};
  struct tg_error err;
  (void)snprintf(command, sizeof(command),
                 "openssl s_client -connect 127.0.0.1:%u -tls1_3 -groups P-256:P-384 -msg </dev/null 2>&1", port);
  const char *const argv[] = {"/bin/sh", "-c", command, NULL};
  if (!tg_child_run(argv, 30, &result, &err)) {
    fail_msg("%s", err.text);
  }
  // A second ClientHello answers a HelloRetryRequest.
  const char *hello = strstr(result.out, ", ClientHello");
  (void)snprintf(out, 64, "%s%s%s", hello != NULL && strstr(hello + 1, ", ClientHello") != NULL ? "retries " : "",
                 strstr(result.out, "Server public key is 4096 bit") != NULL ? "rsa4096 " : "",
                 strstr(result.out, "CertificateRequest") != NULL ? "asks " : "");
  tg_child_result_free(&result);
}

static void serve_variant(const char *name, enum tg_server_variant variant, const char *seen) {
  struct tg_server_description description = {.json = NULL};
  struct tg_launch launch;
  struct tg_error err;
  char out[64];
  describe_shipped(name, &description);
  const struct tg_launch_config config = {
      .https_server = https_server, .workers = 1, .variant = variant, .client_ca = client_ca};
  if (!description.variants[variant].present) {
    print_message("%s has no variant %s\n", name, tg_server_variant_name(variant));
  } else if (tg_launch_start(&launch, &description, &config, &err)) {
    look(launch.server.tls_port, out);
    if (strcmp(out, seen) != 0) {
      fail_msg("%s, variant %s: \"%s\", not \"%s\"", name, tg_server_variant_name(variant), out, seen);
    }
    assert_true(tg_launch_stop(&launch, &err));
  } else if (description.package == NULL || strstr(err.text, description.package) == NULL) {
    fail_msg("%s", err.text);
  }
  tg_server_description_free(&description);
}

static void test_variants_are_what_they_are_called(void **state) {
  (void)state;
  static const char *const names[] = {"own", "nginx", "haproxy", "h2o", "lighttpd", "script"};
  const char *const argv[] = {
      "openssl", "req",     "-x509", "-newkey", "ec",           "-pkeyopt", "ec_paramgen_curve:P-256",
      "-nodes",  "-days",   "2",     "-subj",   "/CN=a client", "-keyout",  "/dev/null",
      "-out",    client_ca, NULL};
  struct tg_child_result result = {.exit_status = -1};
  struct tg_error err;
  (void)snprintf(client_ca, sizeof(client_ca), "%.4000s/client.pem", getenv("TEST_TMPDIR"));
  assert_true(tg_child_run(argv, 30, &result, &err));
  assert_int_equal(result.exit_status, 0);
  tg_child_result_free(&result);
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    serve_variant(names[i], TG_VARIANT_MAIN, "");
    serve_variant(names[i], TG_VARIANT_HRR, "retries ");
    serve_variant(names[i], TG_VARIANT_CLIENT_CA, "asks ");
    serve_variant(names[i], TG_VARIANT_RSA4096, "rsa4096 ");
  }
}

static void test_several_run_at_one_time(void **state) {
  (void)state;
  struct tg_server_description description = {.json = NULL};
  struct tg_launch launches[TG_LAUNCHES_MAX];
  struct tg_launch one_more;
  struct tg_error err;
  const struct tg_launch_config config = {.https_server = https_server, .workers = 1};
  describe_shipped("own", &description);
  for (size_t i = 0; i < TG_LAUNCHES_MAX; i++) {
    assert_true(tg_launch_start(&launches[i], &description, &config, &err));
  }
  assert_false(tg_launch_start(&one_more, &description, &config, &err));
  for (size_t i = 0; i < TG_LAUNCHES_MAX; i++) {
    check_served(&launches[i]);
    assert_true(tg_launch_stop(&launches[i], &err));
  }
  tg_server_description_free(&description);
}

static void serve(const char *name) {
  struct tg_server_description description = {.json = NULL};
  struct tg_launch launch;
  struct tg_error err;
  describe_shipped(name, &description);
  const struct tg_launch_config config = {.https_server = https_server, .workers = 2};
  if (!tg_launch_start(&launch, &description, &config, &err)) {
    // Only for want of a package, which then is named.
    if (description.package == NULL || strstr(err.text, description.package) == NULL) {
      fail_msg("%s", err.text);
    }
    print_message("%s\n", err.text);
    tg_server_description_free(&description);
    return;
  }
  char folder[64];
  pid_t group = launch.server.pid;
  (void)snprintf(folder, sizeof(folder), "%s", launch.stage.folder);
  check_served(&launch);
  if (!tg_launch_stop(&launch, &err)) {
    fail_msg("%s", err.text);
  }
  // Nothing of it runs or lies about. What was killed is reaped by another process, in its own time.
  for (int i = 0; i < 1500 && kill(-group, 0) == 0; i++) {
    (void)usleep(10000);
  }
  assert_int_equal(kill(-group, 0), -1);
  assert_int_equal(access(folder, F_OK), -1);
  tg_server_description_free(&description);
}

static void test_own(void **state) {
  (void)state;
  serve("own");
}

static void test_nginx(void **state) {
  (void)state;
  serve("nginx");
}

static void test_haproxy(void **state) {
  (void)state;
  serve("haproxy");
}

static void test_h2o(void **state) {
  (void)state;
  serve("h2o");
}

static void test_lighttpd(void **state) {
  (void)state;
  serve("lighttpd");
}

static void test_script(void **state) {
  (void)state;
  serve("script");
}

static void test_openssl(void **state) {
  (void)state;
  serve("openssl");
}

#define TEXT(start, ready, stop)                                                                                 \
  "{\"schema\": 1, \"name\": \"t\", \"start\": [" start "], \"ready\": " ready ", \"stop\": " stop               \
  ", \"ports\": {\"tls\": \"free\", \"http\": null}, \"routes\": {\"small\": {\"path\": \"/\", \"bytes\": 15}, " \
  "\"big\": {\"path\": \"/big\", \"bytes\": 1048576}, \"upload\": null}, \"gates\": {\"left_out\": []}, "        \
  "\"package\": \"some-package\"}"
#define CONNECT "{\"by\": \"connect\", \"within_s\": 0.5}"
#define LINE    "{\"by\": \"line\", \"within_s\": 0.5}"
#define STOP    "{\"signal\": \"TERM\", \"status\": 0, \"within_s\": 0.5}"

static void refuse(const char *text, const char *const *wanted) {
  struct tg_server_description description = {.json = NULL};
  struct tg_launch launch;
  struct tg_error err = {""};
  if (!tg_server_describe_text("t.json", text, &description, &err)) {
    fail_msg("%s", err.text);
  }
  const struct tg_launch_config config = {.workers = 1};
  assert_false(tg_launch_start(&launch, &description, &config, &err));
  for (; *wanted != NULL; wanted++) {
    if (strstr(err.text, *wanted) == NULL) {
      fail_msg("\"%s\" does not say \"%s\"", err.text, *wanted);
    }
  }
  tg_server_description_free(&description);
}

static void test_what_cannot_start_is_told(void **state) {
  (void)state;
  refuse(TEXT("\"no-such-server\"", CONNECT, STOP),
         (const char *const[]){"no-such-server is not installed", "apt-get install", "some-package", NULL});
  refuse(TEXT("\"/bin/sh\", \"-c\", \"echo my reason >&2; exit 3\"", CONNECT, STOP),
         (const char *const[]){"status 3", "my reason", NULL});
  refuse(TEXT("\"sleep\", \"60\"", CONNECT, STOP), (const char *const[]){"within", "ready.within_s", NULL});
  refuse(TEXT("\"/bin/sh\", \"-c\", \"echo why >&2; sleep 60\"", LINE, STOP),
         (const char *const[]){"no ready line", "why", NULL});
  refuse(TEXT("\"@https_server@\"", LINE, STOP), (const char *const[]){"@https_server@ cannot be filled in", NULL});
}

static void test_what_is_installed_is_known(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool installed;
  } table[] = {{TEXT("\"no-such-server\"", CONNECT, STOP), false},
               {TEXT("\"sleep\"", CONNECT, STOP), true},
               {TEXT("\"@https_server@\"", LINE, STOP), true}};
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    struct tg_server_description description;
    struct tg_error err = {""};
    assert_true(tg_server_describe_text("t.json", table[i].text, &description, &err));
    assert_int_equal(tg_launch_is_installed(&description, &err), table[i].installed);
    assert_int_equal(strstr(err.text, "apt-get install --no-install-recommends some-package") == NULL,
                     table[i].installed);
    tg_server_description_free(&description);
  }
}

static void test_descriptors_are_limited(void **state) {
  (void)state;
  struct tg_server_description description = {.json = NULL};
  struct tg_launch launch;
  struct tg_error err;
  describe_shipped("own", &description);
  const struct tg_launch_config config = {.https_server = https_server, .workers = 1, .descriptors = 48};
  if (!tg_launch_start(&launch, &description, &config, &err)) {
    fail_msg("%s", err.text);
  }
  char path[64];
  char limits[4096] = "";
  (void)snprintf(path, sizeof(path), "/proc/%d/limits", launch.server.pid);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_true(fread(limits, 1, sizeof(limits) - 1, file) > 0);
  (void)fclose(file);
  unsigned soft = 0;
  unsigned hard = 0;
  const char *line = strstr(limits, "Max open files");
  assert_non_null(line);
  assert_int_equal(sscanf(line, "Max open files %u %u", &soft, &hard), 2);
  assert_int_equal(soft, 48);
  assert_int_equal(hard, 48);
  assert_true(tg_launch_stop(&launch, &err));
  tg_server_description_free(&description);
}

int main(int argc, char *argv[]) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_own),
      cmocka_unit_test(test_nginx),
      cmocka_unit_test(test_haproxy),
      cmocka_unit_test(test_h2o),
      cmocka_unit_test(test_lighttpd),
      cmocka_unit_test(test_script),
      cmocka_unit_test(test_variants_are_what_they_are_called),
      cmocka_unit_test(test_several_run_at_one_time),
      cmocka_unit_test(test_openssl),
      cmocka_unit_test(test_what_cannot_start_is_told),
      cmocka_unit_test(test_what_is_installed_is_known),
      cmocka_unit_test(test_descriptors_are_limited),
  };
  static char path[PATH_MAX];
  if (argc != 2 || realpath(argv[1], path) == NULL) {
    fprintf(stderr, "usage: launch_test HTTPS_SERVER\n");
    return 2;
  }
  https_server = path;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
