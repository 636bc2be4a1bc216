// Two inputs of one bug have one signature; two bugs have two.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fuzz/service/signature.h"

#define FRAME(number, function, place) "    #" number " 0x55d022ca41b1 in " function " " place "\n"
#define OURS(number, function, file)   FRAME(number, function, "/proc/self/cwd/" file ":22:5")
#define ABORT                          "==9414== ERROR: libFuzzer: deadly signal\n" FRAME("0", "abort", "stdlib/./stdlib/abort.c:79:7")

static struct tg_signature read_log(const char *log) {
  char path[] = "/tmp/signature-test-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, log, strlen(log)), strlen(log));
  close(fd);
  struct tg_signature signature;
  struct tg_error err;
  bool ok = tg_signature_read(path, &signature, &err);
  unlink(path);
  if (!ok) {
    fail_msg("%s", err.text);
  }
  return signature;
}

static void assert_same(const char *a, const char *b) {
  struct tg_signature x = read_log(a);
  struct tg_signature y = read_log(b);
  assert_string_equal(x.text, y.text);
  assert_string_equal(x.key, y.key);
}

static void assert_different(const char *a, const char *b) {
  assert_string_not_equal(read_log(a).key, read_log(b).key);
}

static const char kProperty[] =
    "Running: /tmp/a\n"
    "property P5 broken at +0.044004 s, client 0, phase OPEN: 67 bytes of the client's waited 43.963 ms for an ACK "
    "that "
    "was delayed\n"
    "trace, the last lines:\n"
    "+0.000037 c1 client > P. 234:298 (64) ack 670 win 256\n" ABORT OURS("1", "tg_finding", "fuzz/world/finding.c")
        OURS("2", "judge", "fuzz/world/watch.c");

static void test_a_property_is_told_by_what_it_says_and_where(void **state) {
  (void)state;
  struct tg_signature signature = read_log(kProperty);
  assert_string_equal(signature.kind, "p5");
  assert_string_equal(signature.text, "N bytes of the client's waited N ms for an ACK that was delayed");
  assert_int_equal(signature.num_frames, 2);
  assert_string_equal(signature.frames[1], "judge fuzz/world/watch.c");
  assert_int_equal(strlen(signature.key), TG_SIGNATURE_KEY);
  // Another time, client, phase, amount and address.
  assert_same(
      kProperty,
      "Running: /tmp/b\n"
      "property P5 broken at +1.2 s, client 3, phase CLOSING: 1 bytes of the client's waited 40.1 ms for an ACK "
      "that was delayed\n" ABORT OURS("1", "tg_finding", "fuzz/world/finding.c") FRAME(
          "2", "SSL_read", "/proc/self/cwd/external/boringssl/ssl.c:1:1") OURS("3", "judge", "fuzz/world/watch.c"));
  assert_different(
      kProperty,
      "property P6 broken at +1 s: 67 bytes of the client's waited 43.963 ms for an ACK that was delayed\n" ABORT OURS(
          "1", "tg_finding", "fuzz/world/finding.c") OURS("2", "judge", "fuzz/world/watch.c"));
  assert_different(
      kProperty,
      "property P5 broken at +1 s: 67 bytes of the client's waited 43.963 ms for an ACK that was delayed\n" ABORT OURS(
          "1", "tg_finding", "fuzz/world/finding.c") OURS("2", "other", "fuzz/world/watch.c"));
  assert_string_equal(read_log("G10: a row with 3 commas\n").kind, "g10");
  assert_string_equal(read_log("breach of unmodelled at 12 ns: fork() is not modelled\n").kind, "unmodelled");
}

static void test_a_sanitizer_is_told_by_type_and_stack(void **state) {
  (void)state;
  static const char kFirst[] =
      "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000011 at pc 0x1 bp 0x2 sp 0x3\n"
      "READ of size 1 at 0x602000000011 thread T0\n" OURS("0", "parse", "harness/http/parse.c")
          OURS("1", "serve", "harness/accept/serve.c") "\nfreed by thread T0 here:\n" OURS("0", "drop", "harness/x.c");
  struct tg_signature signature = read_log(kFirst);
  assert_string_equal(signature.kind, "heap-use-after-free");
  assert_int_equal(signature.num_frames, 2);
  assert_same(kFirst,
              "==22==ERROR: AddressSanitizer: heap-use-after-free on address 0x60 at pc 0x9 bp 0x8 sp 0x7\n"
              "READ of size 4 at 0x60 thread T0\n" FRAME("0", "memcpy", "(/tmp/x_raw+0x1)")
                  OURS("1", "parse", "harness/http/parse.c") OURS("2", "serve", "harness/accept/serve.c"));
  assert_different(kFirst, "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6\n" OURS(
                               "0", "parse", "harness/http/parse.c") OURS("1", "serve", "harness/accept/serve.c"));
  assert_string_equal(read_log("harness/x.c:3:4: runtime error: signed integer overflow: 1 + 2\n").kind, "undefined");
  assert_string_equal(read_log("==9418==ERROR: LeakSanitizer: detected memory leaks\n").kind, "detected-memory-leaks");
}

static void test_what_says_more_counts(void **state) {
  (void)state;
  assert_string_equal(read_log("==1== ERROR: libFuzzer: deadly signal\nx.c:3: f: Assertion `a == 1' failed.\n").kind,
                      "assertion");
  assert_string_equal(read_log("==1==ERROR: AddressSanitizer: ABRT on unknown address\nP5: broken\n").kind, "p5");
}

static void test_chance_has_no_stack(void **state) {
  (void)state;
  assert_same("==1== ERROR: libFuzzer: timeout after 10 seconds\n" OURS("0", "a", "harness/a.c"),
              "==1== ERROR: libFuzzer: timeout after 11 seconds\n" OURS("0", "b", "harness/b.c"));
  assert_same("==1== ERROR: libFuzzer: out-of-memory (used: 2049Mb; limit: 2048Mb)\n" OURS("0", "a", "harness/a.c"),
              "==1== ERROR: libFuzzer: out-of-memory (used: 3000Mb; limit: 2048Mb)\n");
}

static void test_without_symbols_offsets_tell(void **state) {
  (void)state;
  static const char kFirst[] =
      "==1== ERROR: libFuzzer: deadly signal\n    #0 0x7f5cc5 (/lib/libc.so.6+0x3c04f)\n    #1 "
      "0x55d0 (/a/b/x_raw+0x1f) (BuildId: 1)\n";
  struct tg_signature signature = read_log(kFirst);
  assert_int_equal(signature.num_frames, 1);
  assert_string_equal(signature.frames[0], "x_raw+0x1f");
  assert_different(kFirst, "==1== ERROR: libFuzzer: deadly signal\n    #1 0x55d0 (/a/b/x_raw+0x2f) (BuildId: 1)\n");
}

static void test_silence_is_a_kind(void **state) {
  (void)state;
  assert_string_equal(read_log("Running: /tmp/x\n").kind, "ended");
}

static void test_templates(void **state) {
  (void)state;
  char out[64];
  tg_signature_template("0x1f of 3.25 ms, tls1 a_2, 10,000!", out, sizeof(out));
  assert_string_equal(out, "N of N ms, tls1 a_2, N!");
  tg_signature_template("12345678", out, 1);
  assert_string_equal(out, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_property_is_told_by_what_it_says_and_where),
      cmocka_unit_test(test_a_sanitizer_is_told_by_type_and_stack),
      cmocka_unit_test(test_what_says_more_counts),
      cmocka_unit_test(test_chance_has_no_stack),
      cmocka_unit_test(test_without_symbols_offsets_tell),
      cmocka_unit_test(test_silence_is_a_kind),
      cmocka_unit_test(test_templates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
