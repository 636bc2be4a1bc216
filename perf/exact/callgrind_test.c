// A profile of callgrind, and the map by which its instructions are told apart.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/exact/callgrind.h"
#include "perf/exact/code_map.h"

#define UNIT(name, from, to)                     \
  "0x0000000c: DW_TAG_compile_unit\n"            \
  "              DW_AT_name\t(\"" name           \
  "\")\n"                                        \
  "              DW_AT_low_pc\t(0x00000000" from \
  ")\n"                                          \
  "              DW_AT_high_pc\t(0x00000000" to ")\n\n"

// One with several ranges, one that says its name last, as clang's assembler does, and a range that is not linked.
static const char kUnits[] =
    "program:\tfile format elf64-x86-64\n\n"
    "0x0000000c: DW_TAG_compile_unit\n"
    "              DW_AT_producer\t(\"Debian clang version 14.0.6\")\n"
    "              DW_AT_name\t(\"harness/accept/conn.c\")\n"
    "              DW_AT_low_pc\t(0x0000000000000000)\n"
    "              DW_AT_ranges\t(indexed (0x0) rangelist = 0x00000010\n"
    "                 [0x0000000000001000, 0x0000000000001010)\n"
    "                 [0x0000000000000000, 0x0000000000000070)\n"
    "                 [0x0000000000001100, 0x0000000000001110))\n\n" UNIT("harness/server/http_app.c", "2000", "2010")
        UNIT("external/boringssl/src/ssl/tls13_server.cc", "3000", "3010")
            UNIT("external/boringssl/src/crypto/mem.c", "4000", "4010") "0x0006a153: DW_TAG_compile_unit\n"
    "              DW_AT_low_pc\t(0x0000000000004010)\n"
    "              DW_AT_high_pc\t(0x0000000000004020)\n"
    "              DW_AT_name\t(\"external/boringssl/linux-x86_64/crypto/fipsmodule/sha1-x86_64.S\")\n\n"
    UNIT("harness/kernel/wrap_memory.c", "5000", "5010");

static struct tg_code_map map;

static bool parse_units(const char *text, struct tg_error *err) {
  char *copy = strdup(text);
  const bool ok = tg_code_map_parse(copy, &map, err);
  free(copy);
  return ok;
}

static int make_map(void **state) {
  (void)state;
  return !parse_units(kUnits, NULL);
}

static int free_map(void **state) {
  (void)state;
  tg_code_map_free(&map);
  return 0;
}

static void an_address_has_an_owner(void **state) {
  (void)state;
  assert_int_equal(tg_code_map_owner(&map, 0xfff), TG_CODE_OTHER);
  assert_int_equal(tg_code_map_owner(&map, 0x1000), TG_CODE_ACCEPT);
  assert_int_equal(tg_code_map_owner(&map, 0x100f), TG_CODE_ACCEPT);
  assert_int_equal(tg_code_map_owner(&map, 0x1010), TG_CODE_OTHER);
  assert_int_equal(tg_code_map_owner(&map, 0x1105), TG_CODE_ACCEPT);
  assert_int_equal(tg_code_map_owner(&map, 0x2000), TG_CODE_SERVER);
  assert_int_equal(tg_code_map_owner(&map, 0x3000), TG_CODE_SSL);
  assert_int_equal(tg_code_map_owner(&map, 0x400f), TG_CODE_CRYPTO);
  assert_int_equal(tg_code_map_owner(&map, 0x4010), TG_CODE_CRYPTO);
  assert_int_equal(tg_code_map_owner(&map, 0x5000), TG_CODE_OTHER);
  assert_int_equal(tg_code_map_owner(&map, 0x50), TG_CODE_OTHER);
}

static void a_source_is_told_by_where_it_lies(void **state) {
  (void)state;
  assert_int_equal(tg_code_source_owner("bazel-out/k8/bin/harness/faults/patched/x/harness/accept/conn.c"),
                   TG_CODE_ACCEPT);
  assert_int_equal(tg_code_source_owner("/home/harness/accept/fuzz/world/world.c"), TG_CODE_OTHER);
  assert_int_equal(tg_code_source_owner("external/boringssl/ssl/ssl_lib.cc"), TG_CODE_SSL);
  assert_int_equal(tg_code_source_owner("external/boringssl/crypto/mem.c"), TG_CODE_CRYPTO);
  assert_int_equal(tg_code_source_owner("elsewhere.c"), TG_CODE_OTHER);
}

static void a_map_that_lacks_something_is_refused(void **state) {
  (void)state;
  struct tg_error err;
  assert_false(parse_units("no such thing\n", &err));
  assert_non_null(strstr(err.text, "nothing in the program is of"));
  char *overlapping = NULL;
  assert_true(asprintf(&overlapping, "%s%s", kUnits, UNIT("perf/exact/measure.c", "1008", "1018")) > 0);
  assert_false(parse_units(overlapping, &err));
  assert_non_null(strstr(err.text, "two compilation units have the instruction at 0x1008"));
  free(overlapping);
}

#define HEAD "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\n"
#define PART(number, trigger, summary)                            \
  "part: " number "\n\ndesc: I1 cache: \ndesc: Trigger: " trigger \
  "\n\npositions: instr\nevents: Ir\n"                            \
  "summary: " summary "\n\n"
#define ENDS "--dump-before=measured_ends"

static bool read_text(const char *text, struct tg_callgrind_sums *out, size_t count, struct tg_error *err) {
  FILE *profile = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
  const bool ok = tg_callgrind_read(profile, "/program", &map, "measured_ends", out, count, err);
  (void)fclose(profile);
  return ok;
}

static void instructions_are_added_up_by_owner(void **state) {
  (void)state;
  static const char kText[] =
      HEAD PART("1", "--dump-before=measured_begins", "1000") "ob=/bin/program\nfl=???\nfn=preparation\n0x1000 1000\n\n" PART(
          "2", ENDS,
          "386") "ob=/bin/program\nfl=???\nfn=step\n0x1000 100\n0x1004 10\n"
                 // libssl is called within the program: nothing but its own lines counts for it.
                 "cfn=SSL_read\ncalls=2 0x3000 \n0x1004 500\n"
                 "cob=/usr/lib/x86_64-linux-gnu/libc.so.6\ncfi=???\ncfn=memcpy\ncalls=1 0x77 \n0x1008 40\n"
                 // Not said to be in another object again.
                 "cfn=SSL_write\ncalls=1 0x3008 \n0x1008 60\n"
                 "\nfn=SSL_read\n0x3000 7\n"
                 "\nfn=answer\n0x2000 20\n"
                 "\nfn=sha1\n0x4010 200\n"
                 "\nfn=__wrap_malloc\n0x5000 5\ncob=/usr/lib/x86_64-linux-gnu/libc.so.6\ncfn=malloc\ncalls=1 0x99 \n"
                 "0x5008 3\n"
                 "\nob=/usr/lib/x86_64-linux-gnu/libc.so.6\nfn=memcpy\n0x1000 40\n0x77 1\n\nfn=malloc\n0x99 3\n\n" PART(
                     "3", ENDS, "2") "ob=/bin/program\nfn=step\n0x1000 2\n";
  struct tg_callgrind_sums sums[2];
  struct tg_error err = {.text = ""};
  if (!read_text(kText, sums, 2, &err)) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(sums[0].by_owner[TG_CODE_ACCEPT], 110);
  assert_int_equal(sums[0].by_owner[TG_CODE_SERVER], 20);
  assert_int_equal(sums[0].by_owner[TG_CODE_SSL], 7);
  assert_int_equal(sums[0].by_owner[TG_CODE_CRYPTO], 200);
  assert_int_equal(sums[0].by_owner[TG_CODE_OTHER], 49);
  assert_int_equal(sums[1].by_owner[TG_CODE_ACCEPT], 2);
  assert_false(read_text(kText, sums, 1, &err));
  assert_non_null(strstr(err.text, "has more parts than there are scenarios"));
  assert_false(read_text(kText, sums, 3, &err));
  assert_non_null(strstr(err.text, "has 2 parts that end at measured_ends, not 3"));
}

static void a_profile_that_is_not_as_it_should_be_is_refused(void **state) {
  (void)state;
  struct tg_callgrind_sums sums[1];
  struct tg_error err;
  assert_false(read_text(HEAD PART("1", ENDS, "3") "ob=/bin/program\nfn=a\n0x1000 2\n", sums, 1, &err));
  assert_non_null(strstr(err.text, "part 1 adds up to 2 and says that it is 3"));
  assert_false(read_text(HEAD PART("1", ENDS, "2") "ob=/bin/program\nfn=a\n12 2\n", sums, 1, &err));
  assert_non_null(strstr(err.text, "positions that are no addresses: \"12 2\""));
  assert_false(read_text(HEAD PART("1", ENDS, "2") "ob=/bin/program\nfn=a\n0x1000 2 4\n", sums, 1, &err));
  assert_non_null(strstr(err.text, "a line that is not understood: \"0x1000 2 4\""));
  assert_false(read_text(HEAD "events: Ir Dr\n", sums, 1, &err));
  assert_non_null(strstr(err.text, "has other events than instructions"));
  assert_false(read_text("nothing\n", sums, 1, &err));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(an_address_has_an_owner, make_map, free_map),
      cmocka_unit_test(a_source_is_told_by_where_it_lies),
      cmocka_unit_test(a_map_that_lacks_something_is_refused),
      cmocka_unit_test_setup_teardown(instructions_are_added_up_by_owner, make_map, free_map),
      cmocka_unit_test_setup_teardown(a_profile_that_is_not_as_it_should_be_is_refused, make_map, free_map),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
