#include "harness/faults/runner/run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/faults/runner/finding.h"
#include "harness/faults/runner/folder.h"
#include "perf/process/child.h"

// How long one program may run. A run is bounded by executions: this is for one that hangs, on a slow machine.
static const double kTimeLimit_s = 300;

// One run of a program.
struct outcome {
  bool failed;
  struct tg_finding finding;
  long long executions;
  double seconds;
  char input[160];
};

struct command {
  const char **argv;
  size_t len;
};

static void add(struct command *command, const char *argument) {
  command->argv[command->len++] = argument;
  command->argv[command->len] = NULL;
}

// What a failed program said, which is somewhere in either of its outputs.
static void read_finding(const struct tg_child_result *result, struct outcome *out) {
  if (!tg_finding_first(result->err, &out->finding) && !tg_finding_first(result->out, &out->finding)) {
    (void)snprintf(out->finding.name, sizeof(out->finding.name), "exit status %d", result->exit_status);
  }
}

static void read_executions(const struct tg_child_result *result, struct outcome *out) {
  char text[64];
  if (tg_finding_last_line(result->err, "stat::number_of_executed_units: ", text, sizeof(text))) {
    out->executions = strtoll(text, NULL, 10);
  }
  unsigned replayed = tg_finding_count(result->err, "Running: ");
  if (replayed > 0) {
    out->executions = replayed;
    (void)tg_finding_last_line(result->err, "Running: ", out->input, sizeof(out->input));
  }
}

static bool run(const struct command *command, struct outcome *out, struct tg_error *err) {
  struct tg_child_result result;
  if (!tg_child_run(command->argv, kTimeLimit_s, &result, err)) {
    return false;
  }
  *out = (struct outcome){.failed = result.exit_status != 0, .seconds = result.wall_s, .executions = 1};
  read_executions(&result, out);
  if (out->failed) {
    read_finding(&result, out);
  }
  tg_child_result_free(&result);
  return true;
}

// The parts of a run. Each folder is made for one program and removed after it.
enum part { PART_TEST, PART_CORPUS, PART_FUZZING, PART_INPUT };

static const char *const kPartNames[] = {"test", "corpus", "fuzzing", "fuzzing"};

static bool do_part(enum part part, const struct tg_fault_plan *plan, const struct tg_fault_program *program,
                    const char *input, struct tg_folder *artifacts, struct outcome *out, struct tg_error *err) {
  char prefix[96];
  char runs[40];
  char max_len[40];
  struct tg_folder seeds = {""};
  (void)snprintf(prefix, sizeof(prefix), "-artifact_prefix=%s/", artifacts->path);
  (void)snprintf(runs, sizeof(runs), "-runs=%lld", part == PART_FUZZING ? plan->runs : 1);
  (void)snprintf(max_len, sizeof(max_len), "-max_len=%lld", plan->max_len);
  struct command command = {.argv = calloc(plan->num_corpus + TG_FAULT_ARGUMENTS_MAX + 16, sizeof(char *))};
  if (command.argv == NULL) {
    tg_error_set(err, "no memory for a command line");
    return false;
  }
  add(&command, program->path);
  for (size_t i = 0; i < program->num_arguments; i++) {
    add(&command, program->arguments[i]);
  }
  if (part != PART_TEST) {
    add(&command, "-seed=1");
    add(&command, "-timeout=60");
    add(&command, "-print_final_stats=1");
    add(&command, prefix);
    add(&command, runs);
  }
  bool ok = true;
  if (part == PART_CORPUS) {
    for (size_t i = 0; i < plan->num_corpus; i++) {
      add(&command, plan->corpus[i]);
    }
  } else if (part == PART_FUZZING) {
    ok = tg_folder_make(&seeds, err) && tg_folder_link(&seeds, plan->corpus, plan->num_corpus, err);
    // Only here: a longer file would be cut short in a replay.
    add(&command, max_len);
    // The first folder takes what is new: so not the one of links.
    add(&command, artifacts->path);
    add(&command, seeds.path);
  } else if (part == PART_INPUT) {
    add(&command, input);
  }
  ok = ok && run(&command, out, err);
  if (seeds.path[0] != '\0') {
    tg_folder_remove(&seeds);
  }
  free(command.argv);
  return ok;
}

// Does a part with the unpatched program, which must pass.
static bool clean_passes(enum part part, const struct tg_fault_plan *plan, const char *input,
                         struct tg_fault_record *out, bool *passes, struct tg_error *err) {
  struct tg_folder folder;
  struct outcome outcome;
  if (!tg_folder_make(&folder, err)) {
    return false;
  }
  bool ok = do_part(part, plan, &plan->clean, input, &folder, &outcome, err);
  tg_folder_remove(&folder);
  *passes = ok && !outcome.failed;
  if (ok && outcome.failed) {
    (void)snprintf(out->line, sizeof(out->line), "the unpatched build fails the same run: %.*s %.*s", 60,
                   outcome.finding.name, 120, outcome.finding.line);
  }
  return ok;
}

static bool expected(const struct tg_fault_plan *plan, const char *said) {
  for (size_t i = 0; i < plan->num_caught_by; i++) {
    if (strcmp(plan->caught_by[i], said) == 0) {
      return true;
    }
  }
  return false;
}

static void take(const struct outcome *outcome, enum part part, struct tg_fault_record *out) {
  out->executions += outcome->executions;
  out->seconds += outcome->seconds;
  if (outcome->failed) {
    (void)snprintf(out->said, sizeof(out->said), "%s", outcome->finding.name);
    (void)snprintf(out->how, sizeof(out->how), "%s", kPartNames[part]);
    (void)snprintf(out->line, sizeof(out->line), "%s", outcome->finding.line);
    (void)snprintf(out->input, sizeof(out->input), "%s", outcome->input);
  }
}

// Does a part with the patched program and, if it says something, the same with the unpatched one.
static bool judge_part(enum part part, const struct tg_fault_plan *plan, struct tg_fault_record *out,
                       struct tg_error *err) {
  struct tg_folder folder;
  struct outcome outcome;
  if (!tg_folder_make(&folder, err)) {
    return false;
  }
  bool ok = do_part(part, plan, &plan->patched, NULL, &folder, &outcome, err);
  if (ok) {
    take(&outcome, part, out);
  }
  bool passes = true;
  if (ok && outcome.failed) {
    out->caught = expected(plan, out->said);
    // The same run: of the corpus, what the patched program has seen.
    struct tg_fault_plan same = *plan;
    if (part == PART_CORPUS && outcome.executions < (long long)same.num_corpus) {
      same.num_corpus = (size_t)outcome.executions;
    }
    ok = clean_passes(part, &same, NULL, out, &passes, err);
    char input[160];
    if (ok && passes && part == PART_FUZZING && tg_folder_find(&folder, "crash-", input, sizeof(input))) {
      ok = clean_passes(PART_INPUT, plan, input, out, &passes, err);
    }
    out->caught = out->caught && passes;
  }
  tg_folder_remove(&folder);
  return ok;
}

bool tg_fault_run(const struct tg_fault_plan *plan, struct tg_fault_record *out, struct tg_error *err) {
  *out = (struct tg_fault_record){0};
  (void)snprintf(out->fault, sizeof(out->fault), "%s", plan->fault);
  (void)snprintf(out->check, sizeof(out->check), "%s", plan->check);
  if (plan->runs == 0) {
    return judge_part(PART_TEST, plan, out, err);
  }
  return judge_part(PART_CORPUS, plan, out, err) && (out->said[0] != '\0' || judge_part(PART_FUZZING, plan, out, err));
}
