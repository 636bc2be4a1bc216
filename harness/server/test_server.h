// Tests' own: an https_server as a child process.
#ifndef TLSGATE_HARNESS_SERVER_TEST_SERVER_H
#define TLSGATE_HARNESS_SERVER_TEST_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct test_server {
  pid_t pid;
  FILE *out;
  FILE *err;  // what it wrote to stderr, an unlinked file
  uint16_t tls_port;
  uint16_t http_port;  // 0: none
  uint32_t shards;
};

struct test_server_limits {
  uint64_t descriptors;       // RLIMIT_NOFILE, soft and hard; 0: as it is
  uint64_t soft_descriptors;  // the soft one alone; 0: as it is
  bool closed[3];             // of descriptors 0, 1 and 2, those that are closed when it starts
};

// test_server_take_argument takes the server's path, the test program's one argument, or ends the program.
void test_server_take_argument(int argc, char *argv[]);

// test_server_start runs the server on free ports with the options in `line`, cut at spaces, and waits until it is
// ready. Fails the test if it does not get ready.
void test_server_start(struct test_server *server, const char *line);
void test_server_start_limited(struct test_server *server, const char *line, const struct test_server_limits *limits);

// test_server_stop sends SIGTERM, waits, and asserts exit status 0, nothing on stderr and one line of counters that add
// up. Returns them; the caller releases them.
json_t *test_server_stop(struct test_server *server);

// test_server_end is test_server_stop without the counters.
void test_server_end(struct test_server *server);

// test_server_wait waits for the server's end, and returns its status as waitpid(2) does. Closes its files.
int test_server_wait(struct test_server *server);

// test_server_refused runs the server to its end, which prints nothing. Returns its exit status, and in `err` what it
// wrote to stderr.
int test_server_refused(const char *line, char *err, size_t err_size);
int test_server_refused_limited(const char *line, const struct test_server_limits *limits, char *err, size_t err_size);

// test_server_prints is the same for a run that must print `expected` somewhere in its first 64 KiB of output.
int test_server_prints(const char *line, const char *expected, char *err, size_t err_size);

// test_counter returns a member of a counters object.
int64_t test_counter(const json_t *counters, const char *name);

// test_counters_add_up asserts the identity of harness/accept/counters.h.
void test_counters_add_up(const json_t *counters);

// test_file writes a file in the test's temporary folder, and returns its path in `path`.
void test_file(char path[512], const char *name, const char *text);

#endif
