#include "harness/server/test_server.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST_ARGS 32

static const char *test_server_binary;

void test_server_take_argument(int argc, char *argv[]) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s HTTPS_SERVER\n", argv[0]);
    exit(2);
  }
  test_server_binary = argv[1];
  signal(SIGPIPE, SIG_IGN);
}

static void run_child(const char *line, const struct test_server_limits *limits, int out, int err) {
  char text[1024];
  char *argv[MOST_ARGS + 1] = {NULL};
  int argc = 0;
  argv[argc++] = strdup(test_server_binary);
  snprintf(text, sizeof(text), "%s", line);
  for (char *rest = *text == '\0' ? NULL : text; rest != NULL && argc < MOST_ARGS;) {
    argv[argc++] = strsep(&rest, " ");
  }
  if (limits->descriptors != 0) {
    struct rlimit limit = {.rlim_cur = limits->descriptors, .rlim_max = limits->descriptors};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limits->soft_descriptors != 0) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limits->soft_descriptors;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  // So that a test that is killed leaves no server behind.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (limits->closed[fd]) {
      close(fd);
    }
  }
  execv(test_server_binary, argv);
  _exit(127);
}

static void spawn(struct test_server *server, const char *line, const struct test_server_limits *limits) {
  int out[2];
  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  server->err = tmpfile();
  assert_non_null(server->err);
  fcntl(fileno(server->err), F_SETFD, FD_CLOEXEC);
  server->pid = fork();
  assert_true(server->pid >= 0);
  if (server->pid == 0) {
    run_child(line, limits, out[1], fileno(server->err));
  }
  close(out[1]);
  server->out = fdopen(out[0], "r");
  assert_non_null(server->out);
}

static void read_err(struct test_server *server, char *err, size_t err_size) {
  rewind(server->err);
  err[fread(err, 1, err_size - 1, server->err)] = '\0';
}

void test_server_start_limited(struct test_server *server, const char *line, const struct test_server_limits *limits) {
  char all[1024];
  *server = (struct test_server){0};
  snprintf(all, sizeof(all), "--port 0%s%s", *line == '\0' ? "" : " ", line);
  spawn(server, all, limits);
  char ready[256];
  if (fgets(ready, sizeof(ready), server->out) == NULL) {
    char err[4096];
    read_err(server, err, sizeof(err));
    fail_msg("the server did not get ready: %s", err);
  }
  json_error_t error;
  json_t *object = json_loads(ready, JSON_REJECT_DUPLICATES, &error);
  assert_non_null(object);
  assert_int_equal(json_integer_value(json_object_get(object, "pid")), server->pid);
  server->tls_port = (uint16_t)json_integer_value(json_object_get(object, "tls_port"));
  server->http_port = (uint16_t)json_integer_value(json_object_get(object, "http_port"));
  server->shards = (uint32_t)json_integer_value(json_object_get(object, "shards"));
  assert_int_equal(json_is_null(json_object_get(object, "http_port")), server->http_port == 0);
  assert_int_equal(json_object_size(object), 4);
  assert_true(server->tls_port > 0 && server->shards > 0);
  json_decref(object);
}

void test_server_start(struct test_server *server, const char *line) {
  test_server_start_limited(server, line, &(struct test_server_limits){0});
}

int test_server_wait(struct test_server *server) {
  int status;
  while (waitpid(server->pid, &status, 0) < 0) {
    assert_int_equal(errno, EINTR);
  }
  fclose(server->out);
  fclose(server->err);
  return status;
}

json_t *test_server_stop(struct test_server *server) {
  char line[4096];
  char more[64];
  char err[8192];
  kill(server->pid, SIGTERM);
  char *got = fgets(line, sizeof(line), server->out);
  char *got_more = got == NULL ? NULL : fgets(more, sizeof(more), server->out);
  // A sanitizer reports at exit, before the pipe is closed.
  read_err(server, err, sizeof(err));
  int status = test_server_wait(server);
  assert_string_equal(err, "");
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_non_null(got);
  assert_null(got_more);
  json_error_t error;
  json_t *counters = json_loads(line, JSON_REJECT_DUPLICATES, &error);
  assert_non_null(counters);
  test_counters_add_up(counters);
  assert_int_equal(test_counter(counters, "in_handshake"), 0);
  assert_int_equal(test_counter(counters, "open"), 0);
  assert_int_equal(test_counter(counters, "draining"), 0);
  assert_int_equal(test_counter(counters, "closed"),
                   test_counter(counters, "accepted") + test_counter(counters, "plain_accepted"));
  return counters;
}

void test_server_end(struct test_server *server) {
  json_decref(test_server_stop(server));
}

static int run_to_end(const char *line, const struct test_server_limits *limits, const char *expected, char *err,
                      size_t err_size) {
  static char out[65536];
  struct test_server server = {0};
  spawn(&server, line, limits);
  out[fread(out, 1, sizeof(out) - 1, server.out)] = '\0';
  if (expected == NULL) {
    assert_string_equal(out, "");
  } else {
    assert_non_null(strstr(out, expected));
  }
  // Its output may have been closed from the start, so the end of that is not the end of its errors.
  siginfo_t ended;
  assert_int_equal(waitid(P_PID, (id_t)server.pid, &ended, WEXITED | WNOWAIT), 0);
  read_err(&server, err, err_size);
  int status = test_server_wait(&server);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

int test_server_prints(const char *line, const char *expected, char *err, size_t err_size) {
  return run_to_end(line, &(struct test_server_limits){0}, expected, err, err_size);
}

int test_server_refused(const char *line, char *err, size_t err_size) {
  return test_server_refused_limited(line, &(struct test_server_limits){0}, err, err_size);
}

int test_server_refused_limited(const char *line, const struct test_server_limits *limits, char *err, size_t err_size) {
  return run_to_end(line, limits, NULL, err, err_size);
}

int64_t test_counter(const json_t *counters, const char *name) {
  const json_t *value = json_object_get(counters, name);
  assert_true(json_is_integer(value));
  return json_integer_value(value);
}

void test_counters_add_up(const json_t *counters) {
  assert_int_equal(test_counter(counters, "accepted"),
                   test_counter(counters, "established") + test_counter(counters, "handshake_failed") +
                       test_counter(counters, "handshake_timed_out") + test_counter(counters, "in_handshake"));
}

void test_file(char path[512], const char *name, const char *text) {
  const char *folder = getenv("TEST_TMPDIR");
  snprintf(path, 512, "%s/%s", folder != NULL ? folder : "/tmp", name);
  FILE *out = fopen(path, "we");
  assert_non_null(out);
  assert_true(fputs(text, out) >= 0);
  assert_int_equal(fclose(out), 0);
}
