// The command line of `compare`.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "perf/peers/options.h"

static struct tg_peers_options options;

static enum tg_peers_parsed parse(const char *const *arguments) {
  static char texts[32][64];
  char *argv[34] = {texts[0]};
  int argc = 1;
  for (; arguments[argc - 1] != NULL; argc++) {
    (void)strncpy(texts[argc], arguments[argc - 1], sizeof(texts[0]) - 1);
    argv[argc] = texts[argc];
  }
  return tg_peers_options_parse(&options, argc, argv);
}

static void test_defaults(void **state) {
  (void)state;
  assert_int_equal(parse((const char *const[]){NULL}), TG_PEERS_GO);
  assert_int_equal(options.rounds, 5);
  assert_int_equal(options.workers, 2);
  assert_int_equal(options.num_servers, 6);
  assert_string_equal(options.servers[0], "own");
  assert_string_equal(options.servers[5], "openssl");
  assert_false(options.bars);
  for (int i = 0; i < TG_PEERS_WORKLOADS; i++) {
    assert_true(options.wanted[i]);
  }
}

static void test_what_is_asked_for(void **state) {
  (void)state;
  assert_int_equal(parse((const char *const[]){"--rounds", "7", "nginx", "--only", "rtt", "--only", "idle", "./my.json",
                                               "--bars", "--workers", "4", "--out", "there", NULL}),
                   TG_PEERS_GO);
  assert_int_equal(options.rounds, 7);
  assert_int_equal(options.workers, 4);
  assert_true(options.bars);
  assert_string_equal(options.out, "there");
  assert_int_equal(options.num_servers, 2);
  assert_string_equal(options.servers[0], "nginx");
  assert_string_equal(options.servers[1], "./my.json");
  assert_true(options.wanted[TG_PEERS_RTT] && options.wanted[TG_PEERS_IDLE]);
  assert_false(options.wanted[TG_PEERS_CHURN]);
}

static void test_what_is_wrong(void **state) {
  (void)state;
  static const char *const table[][3] = {
      {"--rounds", "0"},     {"--rounds", "51"}, {"--rounds", "2.5"}, {"--rounds", ""}, {"--only", "nothing"},
      {"--workers", "1025"}, {"apache"},         {"own", "own"},      {"--nothing"},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    if (parse(table[i]) != TG_PEERS_WRONG) {
      fail_msg("%s is taken", table[i][0]);
    }
  }
}

static void test_help_and_list(void **state) {
  (void)state;
  assert_int_equal(parse((const char *const[]){"--help", NULL}), TG_PEERS_DONE);
  assert_int_equal(parse((const char *const[]){"--list", NULL}), TG_PEERS_DONE);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_what_is_asked_for),
      cmocka_unit_test(test_what_is_wrong),
      cmocka_unit_test(test_help_and_list),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
