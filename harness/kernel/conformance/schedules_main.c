// Schedules from the command line:
//
//   schedules generate SEED COUNT   prints COUNT schedules of a seed, with predictions, half of them with a stall
//   schedules predict FILE          prints the file's schedules with predictions as the model makes them now
//   schedules explain TEXT          shows what the model does with one
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/kernel/conformance/corpus.h"
#include "harness/kernel/conformance/generate.h"
#include "harness/kernel/conformance/model_run.h"

static bool number_of(const char *text, uint64_t most, uint64_t *out) {
  char *end;
  errno = 0;
  *out = strtoull(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && text[0] != '-' && *out <= most;
}

static int generate(const char *seed_text, const char *count_text) {
  uint64_t seed;
  uint64_t count;
  if (!number_of(seed_text, UINT32_MAX, &seed) || !number_of(count_text, TG_CORPUS_MAX, &count)) {
    fprintf(stderr, "schedules: generate SEED COUNT: a seed up to %u and a count up to %u\n", UINT32_MAX,
            TG_CORPUS_MAX);
    return 2;
  }
  printf("# Written by: schedules generate %" PRIu64 " %" PRIu64 "\n", seed, count);
  uint64_t left_stalling = (count + 1) / 2;
  uint64_t left_others = count / 2;
  for (uint64_t number = 0; left_stalling + left_others > 0; number++) {
    static struct tg_case made;
    if (!tg_generate(seed, number, &made.schedule, &made.predicted)) {
      continue;
    }
    uint64_t *left = tg_case_stalls(&made) ? &left_stalling : &left_others;
    if (*left > 0) {
      --*left;
      char name[32];
      snprintf(name, sizeof(name), "%" PRIu64 "/%" PRIu64, seed, number);
      tg_corpus_write_case(stdout, name, &made.predicted, &made.schedule);
    }
  }
  return 0;
}

static int predict(const char *path) {
  static struct tg_corpus corpus;
  char error[512];
  if (!tg_corpus_read(&corpus, path, error, sizeof(error))) {
    fprintf(stderr, "schedules: %s\n", error);
    return 1;
  }
  int status = 0;
  for (size_t i = 0; i < corpus.num_cases; i++) {
    struct tg_outcome outcome;
    bool counts_agree;
    bool agree = tg_model_predict(&corpus.cases[i].schedule, TG_TCP_RULES_ALL, &outcome, &counts_agree);
    if (!agree || !counts_agree) {
      fprintf(stderr, "schedules: %s depends on the clock's phase or on how long a call takes\n", corpus.cases[i].name);
      status = 1;
    }
    tg_corpus_write_case(stdout, corpus.cases[i].name, &outcome, &corpus.cases[i].schedule);
  }
  return status;
}

static int explain(const char *text) {
  static struct tg_schedule schedule;
  static const struct tg_circumstances circumstances = {100000, 60000, 20000, 2000};
  struct tg_outcome outcome;
  char error[512];
  if (!tg_schedule_parse(&schedule, text, error, sizeof(error))) {
    fprintf(stderr, "schedules: %s\n", error);
    return 2;
  }
  tg_model_run(&schedule, TG_TCP_RULES_ALL, &circumstances, stdout, &outcome);
  printf("waits %s, delayed ACKs %" PRIu64 "\n", outcome.waits, outcome.delayed_acks);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "generate") == 0) {
    return generate(argv[2], argv[3]);
  }
  if (argc == 3 && strcmp(argv[1], "predict") == 0) {
    return predict(argv[2]);
  }
  if (argc == 3 && strcmp(argv[1], "explain") == 0) {
    return explain(argv[2]);
  }
  fprintf(stderr, "usage: schedules generate SEED COUNT | predict FILE | explain TEXT\n");
  return 2;
}
