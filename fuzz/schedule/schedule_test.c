// The program schedule, from its command line to its files. usage: schedule_test SCHEDULE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf/process/child.h"

#define WORDS_MAX 8
#define TIMEOUT_S 30

static const char *program;
static char folder[] = "/tmp/schedule_test.XXXXXX";

// A file of the test's own folder.
static const char *path(const char *name) {
  static char paths[4][64];
  static unsigned next;
  char *out = paths[next++ % 4];
  (void)snprintf(out, sizeof(paths[0]), "%s/%s", folder, name);
  return out;
}

static void put(const char *name, const void *bytes, size_t len) {
  FILE *to = fopen(path(name), "we");
  assert_non_null(to);
  assert_int_equal(fwrite(bytes, 1, len, to), len);
  assert_int_equal(fclose(to), 0);
}

static size_t get(const char *name, char *out, size_t size) {
  FILE *from = fopen(path(name), "re");
  assert_non_null(from);
  const size_t len = fread(out, 1, size - 1, from);
  out[len] = '\0';
  (void)fclose(from);
  return len;
}

// Runs the program with up to 5 words, NULL after the last, and checks how it ended. The caller frees the result.
static struct tg_child_result run(int status, const char *const words[6]) {
  const char *argv[WORDS_MAX] = {program};
  for (size_t i = 0; i < 6 && words[i] != NULL; i++) {
    argv[i + 1] = words[i];
  }
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, TIMEOUT_S, &result, &err)) {
    fail_msg("%s", err.text);
  }
  if (result.exit_status != status) {
    fail_msg("%s %s: exit status %d, not %d: %s", words[0], words[1], result.exit_status, status, result.err);
  }
  return result;
}
#define RUN(status, ...) run((status), (const char *const[6]){__VA_ARGS__})

static void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) {
    fail_msg("no `%s` in: %s", part, text);
  }
}

// Runs, and expects one line on standard error that has `part`, and nothing on standard output.
static void expect_error(int status, const char *part, const char *const words[6]) {
  struct tg_child_result result = run(status, words);
  assert_has(result.err, part);
  assert_string_equal(strchr(result.err, '\n'), "\n");
  assert_string_equal(result.out, "");
  tg_child_result_free(&result);
}
#define EXPECT_ERROR(status, part, ...) expect_error((status), (part), (const char *const[6]){__VA_ARGS__})

static const char text[] =
    "settings shards 2 delay 1ms\n"
    "client 0 connect tls12 resume then 40ms\n"
    "client 0 request bytes 1024\n";

static const uint8_t encoded[] = {1, 0x10, 0, 0, 2, 0, 0, 0, 1, 0, 0x0c, 0, 139, 2, 0, 0x01, 0x40, 0};

static void test_text_to_file_and_back(void **state) {
  (void)state;
  put("a.txt", text, strlen(text));
  struct tg_child_result result = RUN(0, "assemble", path("a.txt"), "-o", path("a"));
  assert_string_equal(result.out, "");
  assert_string_equal(result.err, "");
  tg_child_result_free(&result);
  char bytes[100];
  assert_int_equal(get("a", bytes, sizeof(bytes)), sizeof(encoded));
  assert_memory_equal(bytes, encoded, sizeof(encoded));

  result = RUN(0, "disassemble", path("a"));
  assert_string_equal(result.out, text);
  tg_child_result_free(&result);

  result = RUN(0, "disassemble", "-o", path("b.txt"), path("a"));
  assert_string_equal(result.out, "");
  tg_child_result_free(&result);
  char again[sizeof(text) + 10];
  (void)get("b.txt", again, sizeof(again));
  assert_string_equal(again, text);

  result = RUN(0, "assemble", path("a.txt"), "-o", "-");
  assert_int_equal(result.out[0], 1);
  tg_child_result_free(&result);
}

static void test_explain(void **state) {
  (void)state;
  put("a", encoded, sizeof(encoded));
  put("other", "", 0);
  struct tg_child_result result = RUN(0, "explain", path("a"), path("other"));
  assert_has(result.out, "client 0 connects with TLS 1.2, Nagle on, resuming a session; then 40 ms pass\n");
  assert_has(result.out, "2 shards");
  assert_has(result.out, path("other"));
  assert_has(result.err, "other is empty, which is a schedule without steps");
  tg_child_result_free(&result);
}

static void test_explain_of_raw_bytes(void **state) {
  (void)state;
  static const uint8_t input[] = {1, 0x19, 0, 0x10, 0, 5, 0, 139, 'G', 'E', 'T', ' ', '/', '\r', '\n'};
  put("bytes", input, sizeof(input));
  struct tg_child_result result = RUN(0, "explain", "--target", "request_bytes", path("bytes"));
  assert_has(result.out,
             "client   plain HTTP, Nagle off, sends 7 bytes in pieces of 5, 40 ms apart; then half-closes\n");
  assert_has(result.out, "     0  47 45 54 20 2f 0d 0a                             GET /..\n");
  assert_null(strstr(result.out, "record"));
  tg_child_result_free(&result);

  static const uint8_t records[] = {1, 0, 0, 0, 0, 0, 0, 0, 0x16, 3, 1, 0, 2, 9, 9, 0x15, 3, 3, 0, 9, 0x01};
  put("bytes", records, sizeof(records));
  result = RUN(0, "explain", path("bytes"), "--target", "handshake_bytes");
  assert_has(result.out, "record at 0: handshake (22), version 3.1, 2 bytes\n");
  assert_has(result.out, "record at 7: alert (21), version 3.3, 9 bytes, of which 1 come\n");
  tg_child_result_free(&result);
}

static void test_another_version_is_noted(void **state) {
  (void)state;
  put("a", "\x07", 1);
  struct tg_child_result result = RUN(0, "disassemble", path("a"));
  assert_has(result.err, "begins with version 7, read as version 1");
  tg_child_result_free(&result);
}

static void test_a_mistake_leaves_the_file_alone(void **state) {
  (void)state;
  put("kept", "kept", 4);
  put("bad.txt", "clear\nwait 39.9ms\n", 18);
  EXPECT_ERROR(1, "bad.txt: line 2: 39.9ms is not on the scale of waits; the nearest are 39.5ms and 40ms", "assemble",
               path("bad.txt"), "-o", path("kept"));
  char kept[10];
  assert_int_equal(get("kept", kept, sizeof(kept)), 4);
  assert_string_equal(kept, "kept");

  put("a.txt", text, strlen(text));
  EXPECT_ERROR(1, "cannot be written", "assemble", path("a.txt"), "-o", path("no/such"));
  EXPECT_ERROR(1, "cannot be written", "assemble", path("a.txt"), "-o", "/dev/full");
}

static void test_files_that_cannot_be_read(void **state) {
  (void)state;
  EXPECT_ERROR(1, "cannot be opened: No such file", "explain", path("none"));
  EXPECT_ERROR(1, "cannot be read: Is a directory", "explain", folder);
  char *big = calloc(1, (1 << 20) + 1);
  assert_non_null(big);
  put("big", big, (1 << 20) + 1);
  free(big);
  EXPECT_ERROR(1, "longer than 1048576 bytes", "explain", path("big"));
}

static void test_command_lines(void **state) {
  (void)state;
  struct tg_child_result result = RUN(0, "--help");
  assert_has(result.out, "usage: schedule explain");
  tg_child_result_free(&result);
  result = RUN(0, "assemble", "--help");
  assert_has(result.out, "Exit status");
  tg_child_result_free(&result);
  EXPECT_ERROR(2, "no command", NULL);
  EXPECT_ERROR(2, "unknown command juggle", "juggle");
  EXPECT_ERROR(2, "no file", "explain");
  EXPECT_ERROR(2, "unknown option --fast", "explain", "--fast", "a");
  EXPECT_ERROR(2, "--target takes", "explain", "a", "--target", "moon");
  EXPECT_ERROR(2, "--target takes", "explain", "a", "--target");
  EXPECT_ERROR(2, "--target is for explain", "disassemble", "a", "--target", "request_bytes");
  EXPECT_ERROR(2, "assemble needs -o FILE", "assemble", "a");
  EXPECT_ERROR(2, "-o takes a file", "assemble", "a", "-o");
  EXPECT_ERROR(2, "-o is for assemble", "explain", "a", "-o", "b");
  EXPECT_ERROR(2, "one file at a time, not also b", "disassemble", "a", "b");
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
  (void)state;
  static const char *const names[] = {"a.txt", "a", "b.txt", "other", "bytes", "kept", "bad.txt", "big"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    (void)unlink(path(names[i]));
  }
  // Fails if the program has left anything beside its files.
  return rmdir(folder);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    (void)fputs("usage: schedule_test SCHEDULE\n", stderr);
    return 2;
  }
  program = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_to_file_and_back),
      cmocka_unit_test(test_explain),
      cmocka_unit_test(test_explain_of_raw_bytes),
      cmocka_unit_test(test_another_version_is_noted),
      cmocka_unit_test(test_a_mistake_leaves_the_file_alone),
      cmocka_unit_test(test_files_that_cannot_be_read),
      cmocka_unit_test(test_command_lines),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
