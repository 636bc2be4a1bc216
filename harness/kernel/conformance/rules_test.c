// The model against its own recorded predictions, whole and with each rule taken out. No kernel is asked.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the above.
#include <cmocka.h>

#include "harness/kernel/conformance/corpus.h"
#include "harness/kernel/conformance/generate.h"
#include "harness/kernel/conformance/model_run.h"

#define SCHEDULES_MIN     300u
#define STALL_PERCENT_MIN 40u

static const char *const rule_names[TG_TCP_RULES] = {
    "nagle",
    "minshall",
    "pingpong",
    "quick",
    "ato",
    "frame_ack",
    "drain_ack",
    "quickack_flush",
    "quickack_even",
    "piggyback",
    "delack_leaves_pingpong",
    "window_ack",
    "fin_passes",
    "cwnd",
    "probe",
    "fin_pingpong",
    "rcv_mss",
    "idle_quick",
    "delack_inflates",
    "delack_keeps",
    "grow_window",
    "loss_probe",
};

static struct tg_corpus corpus;

static bool same(const struct tg_outcome *a, const struct tg_outcome *b) {
  return strcmp(a->waits, b->waits) == 0 && a->delayed_acks == b->delayed_acks;
}

static void the_model_predicts_what_is_recorded(void **state) {
  (void)state;
  size_t differ = 0;
  for (size_t i = 0; i < corpus.num_cases; i++) {
    const struct tg_case *of = &corpus.cases[i];
    struct tg_outcome outcome;
    bool counts_agree;
    bool agree = tg_model_predict(&of->schedule, TG_TCP_RULES_ALL, &outcome, &counts_agree);
    if (!agree || !counts_agree || !same(&outcome, &of->predicted)) {
      differ++;
      print_message("%s: recorded %s %" PRIu64 ", now %s %" PRIu64 "%s\n", of->name, of->predicted.waits,
                    of->predicted.delayed_acks, outcome.waits, outcome.delayed_acks,
                    agree && counts_agree ? "" : ", and it depends on the clock's phase");
    }
  }
  assert_int_equal(differ, 0);
}

static void there_are_enough_and_enough_of_them_stall(void **state) {
  (void)state;
  size_t stalling = 0;
  for (size_t i = 0; i < corpus.num_cases; i++) {
    stalling += tg_case_stalls(&corpus.cases[i]);
  }
  print_message("%zu schedules, %zu stall\n", corpus.num_cases, stalling);
  assert_true(corpus.num_cases >= SCHEDULES_MIN);
  assert_true(100 * stalling >= STALL_PERCENT_MIN * corpus.num_cases);
}

static void no_schedule_is_there_twice(void **state) {
  (void)state;
  for (size_t i = 0; i < corpus.num_cases; i++) {
    for (size_t j = i + 1; j < corpus.num_cases; j++) {
      const struct tg_case *a = &corpus.cases[i];
      const struct tg_case *b = &corpus.cases[j];
      assert_string_not_equal(a->name, b->name);
      assert_memory_not_equal(&a->schedule, &b->schedule, sizeof(a->schedule));
    }
  }
}

static void the_generator_makes_the_generated_ones_again(void **state) {
  (void)state;
  size_t generated = 0;
  for (size_t i = 0; i < corpus.num_cases; i++) {
    const struct tg_case *of = &corpus.cases[i];
    unsigned long seed;
    unsigned long number;
    if (sscanf(of->name, "%lu/%lu", &seed, &number) != 2) {
      continue;
    }
    static struct tg_case again;
    assert_true(tg_generate(seed, number, &again.schedule, &again.predicted));
    char text[TG_SCHEDULE_TEXT_MAX];
    char recorded[TG_SCHEDULE_TEXT_MAX];
    tg_schedule_print(&again.schedule, text);
    tg_schedule_print(&of->schedule, recorded);
    assert_string_equal(text, recorded);
    generated++;
  }
  assert_true(generated >= SCHEDULES_MIN);
}

static bool is_of(const struct tg_case *of, const char *rule) {
  size_t len = strlen(rule);
  return strncmp(of->name, rule, len) == 0 && of->name[len] == '/';
}

static void each_rule_matters_to_a_schedule_of_its_own(void **state) {
  (void)state;
  for (unsigned rule = 0; rule < TG_TCP_RULES; rule++) {
    size_t differ = 0;
    const char *first = NULL;
    for (size_t i = 0; i < corpus.num_cases; i++) {
      const struct tg_case *of = &corpus.cases[i];
      struct tg_outcome outcome;
      bool counts_agree;
      bool agree = tg_model_predict(&of->schedule, TG_TCP_RULES_ALL & ~(1u << rule), &outcome, &counts_agree);
      if (!agree || !same(&outcome, &of->predicted)) {
        differ++;
        first = first == NULL && is_of(of, rule_names[rule]) ? of->name : first;
      }
    }
    print_message("without %-23s %3zu of %zu differ, such as %s\n", rule_names[rule], differ, corpus.num_cases,
                  first != NULL ? first : "none of its own");
    assert_non_null(first);
  }
}

int main(int argc, char **argv) {
  char error[512];
  for (int i = 1; i < argc; i++) {
    if (!tg_corpus_read(&corpus, argv[i], error, sizeof(error))) {
      fprintf(stderr, "rules_test: %s\n", error);
      return 1;
    }
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_model_predicts_what_is_recorded),
      cmocka_unit_test(there_are_enough_and_enough_of_them_stall),
      cmocka_unit_test(no_schedule_is_there_twice),
      cmocka_unit_test(the_generator_makes_the_generated_ones_again),
      cmocka_unit_test(each_rule_matters_to_a_schedule_of_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
