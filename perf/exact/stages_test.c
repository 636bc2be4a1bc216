// Parts of a profile and the stages that they are of.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/exact/stages.h"

static const char *const order[] = {"tg_conn_serve",
                                    "tg_exact_measured_begins",
                                    "tg_handshake_step",
                                    "bssl::SSLKeyShare::Accept",
                                    "bssl::tls13_advance_key_schedule",
                                    "bssl::tls13_add_certificate_verify",
                                    "bssl::tls13_add_finished",
                                    "bssl::tls13_advance_key_schedule",
                                    "tg_handshake_step",
                                    "tg_conn_serve",
                                    "tg_conn_serve",
                                    "tg_http_response_head",
                                    "tg_conn_serve",
                                    "tg_conn_drain",
                                    "tg_exact_measured_ends"};
#define NUM (sizeof(order) / sizeof(order[0]))

static struct tg_callgrind_part parts[NUM];
static struct tg_stage_cost stages[TG_STAGES];

// Part i has 2 to the i instructions, so that a sum tells what is in it.
static void make(void) {
  memset(parts, 0, sizeof(parts));
  for (size_t i = 0; i < NUM; i++) {
    (void)snprintf(parts[i].trigger, sizeof(parts[i].trigger), "%s", order[i]);
    parts[i].sums.by_owner[TG_CODE_CRYPTO] = INT64_C(1) << i;
    parts[i].sums.by_owner[TG_CODE_OTHER] = 1000000;
  }
}

static void test_parts_add_up_to_stages(void **state) {
  (void)state;
  static const int64_t wanted[TG_STAGES] = {1 << 2,
                                            1 << 3,
                                            1 << 4,
                                            (1 << 5) + (1 << 7) + (1 << 8),
                                            1 << 6,
                                            (1 << 9) + (1 << 10),
                                            1 << 11,
                                            1 << 12,
                                            (1 << 13) + (1 << 14)};
  struct tg_error err = {""};
  char *text = NULL;
  size_t size = 0;
  make();
  parts[2].calls[TG_CALL_ACCEPT] = 2;
  parts[2].calls[TG_CALL_EPOLL_WAIT] = 7;
  parts[0].calls[TG_CALL_SEND] = 9;
  if (!tg_stages_add_up(parts, NUM, stages, &err)) {
    fail_msg("%s", err.text);
  }
  for (int i = 0; i < TG_STAGES; i++) {
    assert_int_equal(stages[i].instructions[TG_CODE_CRYPTO], wanted[i]);
  }
  FILE *out = open_memstream(&text, &size);
  tg_stages_print(out, stages);
  assert_int_equal(fclose(out), 0);
  assert_non_null(strstr(text, "accept4 x 2\n"));
  assert_null(strstr(text, "epoll_wait x"));
  // What comes before measuring is no stage's.
  assert_null(strstr(text, "send"));
  assert_non_null(strstr(text, "32764\n"));
  free(text);
}

static void test_another_order_is_refused(void **state) {
  (void)state;
  for (size_t i = 1; i < NUM; i++) {
    struct tg_error err = {""};
    make();
    (void)snprintf(parts[i].trigger, sizeof(parts[i].trigger), "another_function");
    assert_false(tg_stages_add_up(parts, NUM, stages, &err));
    assert_non_null(strstr(err.text, i == 1 ? "its end" : "another_function"));
    make();
    assert_false(tg_stages_add_up(parts, i, stages, &err));
  }
}

static const char profile[] =
    "part: 1\ndesc: Trigger: --dump-before=first\nevents: Ir\nob=/x/measure_stripped\nfn=a\n0x10 5\ncfn=__wrap_recv\n"
    "calls=3 0x40\n0x12 100\nsummary: 5\n"
    "part: 2\ndesc: Trigger: --dump-before=bssl::second(int, bssl::Span<char>)\nevents: Ir\nob=/x/measure_stripped\n"
    "fn=b\n0x20 7\ncfn=another\ncalls=1 0x40\n0x22 1\nsummary: 7\n"
    "part: 3\ndesc: Trigger: Program termination\nevents: Ir\nsummary: 0\n";

static void test_a_profile_is_read_part_by_part(void **state) {
  (void)state;
  struct tg_code_range range = {.from = 0x10, .to = 0x30, .owner = TG_CODE_SSL};
  const struct tg_code_map map = {.ranges = &range, .num = 1};
  struct tg_error err = {""};
  size_t num = 0;
  FILE *file = fmemopen((void *)(uintptr_t)profile, sizeof(profile) - 1, "r");
  assert_non_null(file);
  if (!tg_callgrind_parts(file, "_stripped", &map, parts, NUM, &num, &err)) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(num, 2);
  assert_string_equal(parts[0].trigger, "first");
  assert_int_equal(parts[0].sums.by_owner[TG_CODE_SSL], 5);
  assert_int_equal(parts[0].calls[TG_CALL_RECV], 3);
  assert_string_equal(parts[1].trigger, "bssl::second");
  assert_int_equal(parts[1].sums.by_owner[TG_CODE_SSL], 7);
  assert_int_equal(parts[1].calls[TG_CALL_RECV], 0);
  rewind(file);
  assert_false(tg_callgrind_parts(file, "_stripped", &map, parts, 1, &num, &err));
  (void)fclose(file);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parts_add_up_to_stages),
      cmocka_unit_test(test_another_order_is_refused),
      cmocka_unit_test(test_a_profile_is_read_part_by_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
