#include "tools/workflows/rules.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/workflows/commands.h"

#define PUSH_TO_MAIN "github.event_name == 'push' && github.ref == 'refs/heads/main'"
#define TO_SUMMARY   " >> \"$GITHUB_STEP_SUMMARY\""
#define UPDATE       "./tlsgate history update"
#define GATES        "./tlsgate gates"

// ClusterFuzzLite, at the commit of its release v1: a tag can be moved.
#define FUZZ         "google/clusterfuzzlite/actions/"
#define FUZZ_COMMIT  "884713a6c30a92e5e8544c39945cd7cb630abcd1"
#define BUILD_ACTION FUZZ "build_fuzzers@" FUZZ_COMMIT
#define RUN_ACTION   FUZZ "run_fuzzers@" FUZZ_COMMIT

// Its runs, and what starts each.
static const struct {
  const char *mode;
  const char *trigger;
} fuzz_runs[] = {
    {"code-change", "pull_request"}, {"batch", "schedule"}, {"prune", "schedule"}, {"coverage", "schedule"}};

// Each in an unconditional job of a workflow that every pull request starts.
static const char *const blocking[] = {"./tlsgate lint", "bazel test //perf:exact", "bazel test //harness/faults:all",
                                       "bazel test //fuzz:all"};

// What the timed gates measure, or are made of.
static const char *const gated_paths[] = {"harness/**", "perf/**", "bazel/**", "WORKSPACE", "baselines/**"};

static const char *const triggers[] = {"pull_request", "push", "schedule", "workflow_dispatch", NULL};
static const char *const actions[] = {"actions/checkout@v4",
                                      "actions/cache@v4",
                                      "actions/upload-artifact@v4",
                                      "actions/download-artifact@v4",
                                      BUILD_ACTION,
                                      RUN_ACTION,
                                      NULL};
static const char *const top_keys[] = {"name", "on", "permissions", "jobs", NULL};
static const char *const job_keys[] = {"runs-on", "container",   "timeout-minutes", "needs", "if", "permissions",
                                       "env",     "concurrency", "strategy",        "steps", NULL};
static const char *const step_keys[] = {"name", "uses", "with", "run", "if", NULL};

struct check {
  const char *file;
  const json_t *commands;
  json_t *problems;
};

static void complain(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(struct check *check, const char *format, ...) {
  char what[400];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(what, sizeof(what), format, args);
  va_end(args);
  (void)json_array_append_new(check->problems, json_sprintf("%s: %s", check->file, what));
}

static bool one_of(const char *text, const char *const *list) {
  for (; *list != NULL; list++) {
    if (strcmp(text, *list) == 0) {
      return true;
    }
  }
  return false;
}

static bool text_is(const json_t *value, const char *text) {
  return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static bool array_has(const json_t *array, const char *text) {
  for (size_t i = 0; i < json_array_size(array); i++) {
    if (text_is(json_array_get(array, i), text)) {
      return true;
    }
  }
  return false;
}

static void check_keys(struct check *check, const char *place, json_t *object, const char *const *known) {
  const char *key = NULL;
  json_t *value = NULL;
  if (!json_is_object(object)) {
    complain(check, "%s must be a mapping", place);
    return;
  }
  json_object_foreach(object, key, value) {
    if (!one_of(key, known)) {
      complain(check, "%s: the key %s is not allowed%s", place, key,
               strcmp(key, "continue-on-error") == 0 ? ": what fails must block" : "");
    }
  }
}

// "contents: LEVEL" and nothing else.
static bool permits_only(const json_t *permissions, const char *level) {
  return json_object_size(permissions) == 1 && text_is(json_object_get(permissions, "contents"), level);
}

static bool writes(const json_t *job) {
  return json_object_get(job, "permissions") != NULL;
}

// Calls `each` for every line of a step's script that is not blank, without the redirection to the summary.
static void each_line(const json_t *step, void (*each)(void *context, const char *line), void *context) {
  const char *text = json_string_value(json_object_get(step, "run"));
  while (text != NULL && *text != '\0') {
    char line[512];
    size_t len = strcspn(text, "\n");
    (void)snprintf(line, sizeof(line), "%.*s", (int)len, text);
    text += len + (text[len] == '\n' ? 1 : 0);
    size_t end = strlen(line);
    size_t tail = strlen(TO_SUMMARY);
    if (end > tail && strcmp(line + end - tail, TO_SUMMARY) == 0) {
      line[end - tail] = '\0';
    }
    if (line[strspn(line, " ")] != '\0') {
      each(context, line);
    }
  }
}

struct line_check {
  struct check *check;
  const char *job;
  bool may_write;
};

static void check_line(void *context, const char *line) {
  struct line_check *lines = context;
  if (!tg_commands_has(lines->check->commands, line)) {
    complain(lines->check, "job %s: README.md has no command \"%s\"", lines->job, line);
  }
  if (strncmp(line, UPDATE, strlen(UPDATE)) == 0 && !lines->may_write) {
    complain(lines->check, "job %s updates the history, which only a job for a push to main may", lines->job);
  }
}

struct search {
  const char *command;
  bool prefix;  // the command with whatever options
  bool found;
};

static void search_line(void *context, const char *line) {
  struct search *search = context;
  size_t len = strlen(search->command);
  bool same = strncmp(line, search->command, len) == 0 && (line[len] == '\0' || (search->prefix && line[len] == ' '));
  search->found = search->found || same;
}

static bool runs(const json_t *step, const char *command, bool prefix) {
  struct search search = {.command = command, .prefix = prefix};
  each_line(step, search_line, &search);
  return search.found;
}

static bool step_blocks(const json_t *step) {
  for (size_t i = 0; i < sizeof(blocking) / sizeof(blocking[0]); i++) {
    if (runs(step, blocking[i], true)) {
      return true;
    }
  }
  return runs(step, GATES, true);
}

static void check_action(struct check *check, const char *place, const json_t *step, bool may_write) {
  const json_t *uses = json_object_get(step, "uses");
  if (!json_is_string(uses) || !one_of(json_string_value(uses), actions)) {
    complain(check,
             "%s: uses must be one of GitHub's own actions (checkout, cache, upload-artifact, download-artifact), or "
             "build_fuzzers or run_fuzzers of ClusterFuzzLite at the commit " FUZZ_COMMIT,
             place);
    return;
  }
  bool checkout = strncmp(json_string_value(uses), "actions/checkout@", 17) == 0;
  bool keeps = !text_is(json_object_get(json_object_get(step, "with"), "persist-credentials"), "false");
  if (checkout && keeps && !may_write) {
    complain(check, "%s: checkout must have persist-credentials: false", place);
  }
}

static void check_step(struct check *check, const char *job_name, size_t index, json_t *step, bool may_write) {
  char place[160];
  (void)snprintf(place, sizeof(place), "job %.80s, step %zu", job_name, index + 1);
  check_keys(check, place, step, step_keys);
  const json_t *condition = json_object_get(step, "if");
  if (condition != NULL && (!text_is(condition, "always()") || step_blocks(step))) {
    complain(check, "%s: a step has no condition but always(), and none if it blocks", place);
  }
  bool has_run = json_object_get(step, "run") != NULL;
  if (has_run == (json_object_get(step, "uses") != NULL)) {
    complain(check, "%s must have either run or uses", place);
  } else if (has_run) {
    struct line_check lines = {.check = check, .job = job_name, .may_write = may_write};
    each_line(step, check_line, &lines);
  } else {
    check_action(check, place, step, may_write);
  }
}

static void check_environment(struct check *check, const char *name, json_t *env) {
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(env, key, value) {
    if (strncmp(key, "TLSGATE_", 8) != 0) {
      complain(check, "job %s: only TLSGATE_ variables may be set, not %s", name, key);
    }
  }
}

static void check_job(struct check *check, const char *name, json_t *job) {
  char place[128];
  (void)snprintf(place, sizeof(place), "job %.100s", name);
  check_keys(check, place, job, job_keys);
  bool may_write = false;
  if (writes(job)) {
    may_write = permits_only(json_object_get(job, "permissions"), "write") &&
                text_is(json_object_get(job, "if"), PUSH_TO_MAIN) && json_is_string(json_object_get(job, "needs"));
    if (!may_write) {
      complain(check,
               "%s: permissions of a job's own are contents: write, with needs: the job that must have passed, and if: "
               "%s",
               place, PUSH_TO_MAIN);
    }
  } else if (json_object_get(job, "if") != NULL || json_object_get(job, "needs") != NULL) {
    complain(check, "%s: only the job that writes has a condition or waits for another", place);
  }
  check_environment(check, name, json_object_get(job, "env"));
  json_t *steps = json_object_get(job, "steps");
  if (json_array_size(steps) == 0) {
    complain(check, "%s has no steps", place);
  }
  for (size_t i = 0; i < json_array_size(steps); i++) {
    check_step(check, name, i, json_array_get(steps, i), may_write);
  }
}

static bool uses(const json_t *step, const char *action) {
  return text_is(json_object_get(step, "uses"), action);
}

// Whether a job does nothing but build and run fuzzers.
static bool only_fuzzes(const json_t *job) {
  const json_t *steps = json_object_get(job, "steps");
  for (size_t i = 0; i < json_array_size(steps); i++) {
    const json_t *step = json_array_get(steps, i);
    if (!uses(step, BUILD_ACTION) && !uses(step, RUN_ACTION)) {
      return false;
    }
  }
  return true;
}

// A workflow of ClusterFuzzLite alone; only that reads artifacts of earlier runs, and has a schedule.
static bool is_fuzzing(const json_t *workflow) {
  const char *name = NULL;
  json_t *job = NULL;
  json_object_foreach(json_object_get(workflow, "jobs"), name, job) {
    if (!only_fuzzes(job)) {
      return false;
    }
  }
  return true;
}

static bool permits_reading(const json_t *permissions, bool fuzzing) {
  return permits_only(permissions, "read") ||
         (fuzzing && json_object_size(permissions) == 2 && text_is(json_object_get(permissions, "contents"), "read") &&
          text_is(json_object_get(permissions, "actions"), "read"));
}

static void check_file(struct check *check, json_t *workflow) {
  check_keys(check, "the file", workflow, top_keys);
  json_t *on = json_object_get(workflow, "on");
  check_keys(check, "on", on, triggers);
  if (!permits_reading(json_object_get(workflow, "permissions"), is_fuzzing(workflow))) {
    complain(check, "permissions must be contents: read and nothing else, but for actions: read of ClusterFuzzLite");
  }
  if (json_object_get(on, "schedule") != NULL && !is_fuzzing(workflow)) {
    complain(check, "only ClusterFuzzLite runs on a schedule: what blocks must run on the change");
  }
  const char *name = NULL;
  json_t *job = NULL;
  json_object_foreach(json_object_get(workflow, "jobs"), name, job) {
    check_job(check, name, job);
  }
}

// A trigger without any filter: in YAML, a key without a value.
static bool every(const json_t *workflow, const char *trigger) {
  return text_is(json_object_get(json_object_get(workflow, "on"), trigger), "");
}

static bool job_runs(const json_t *job, const char *command, bool prefix) {
  json_t *steps = json_object_get(job, "steps");
  for (size_t i = 0; i < json_array_size(steps); i++) {
    if (runs(json_array_get(steps, i), command, prefix)) {
      return true;
    }
  }
  return false;
}

static bool blocks_every_pull_request(const json_t *files, const char *command) {
  const char *file = NULL;
  json_t *workflow = NULL;
  json_object_foreach((json_t *)files, file, workflow) {
    const char *name = NULL;
    json_t *job = NULL;
    json_object_foreach(json_object_get(workflow, "jobs"), name, job) {
      if (every(workflow, "pull_request") && !writes(job) && job_runs(job, command, false)) {
        return true;
      }
    }
  }
  return false;
}

static bool has_job(const json_t *workflow, const char *command, bool must_write) {
  const char *name = NULL;
  json_t *job = NULL;
  json_object_foreach(json_object_get(workflow, "jobs"), name, job) {
    if (writes(job) == must_write && job_runs(job, command, true)) {
      return true;
    }
  }
  return false;
}

static void check_gates(struct check *check, const json_t *files) {
  const char *file = NULL;
  json_t *workflow = NULL;
  bool found = false;
  bool updated = false;
  json_object_foreach((json_t *)files, file, workflow) {
    updated = updated || has_job(workflow, UPDATE, true);
    if (!has_job(workflow, GATES, false)) {
      continue;
    }
    found = true;
    check->file = file;
    const json_t *paths = json_object_get(json_object_get(json_object_get(workflow, "on"), "pull_request"), "paths");
    for (size_t i = 0; i < sizeof(gated_paths) / sizeof(gated_paths[0]); i++) {
      if (!array_has(paths, gated_paths[i])) {
        complain(check, "the timed gates must run on pull requests that touch %s", gated_paths[i]);
      }
    }
    if (!every(workflow, "push") || !every(workflow, "workflow_dispatch")) {
      complain(check, "the timed gates must run on every push and on dispatch");
    }
  }
  check->file = "workflows";
  if (!found) {
    complain(check, "no workflow runs %s", GATES);
  }
  if (!updated) {
    complain(check, "no job that writes runs %s", UPDATE);
  }
}

// A job that builds for one sanitizer and then runs `mode` on that build.
static bool fuzzes(const json_t *job, const char *mode) {
  const json_t *steps = json_object_get(job, "steps");
  for (size_t i = 1; i < json_array_size(steps); i++) {
    const json_t *built = json_object_get(json_array_get(steps, i - 1), "with");
    const json_t *run = json_object_get(json_array_get(steps, i), "with");
    if (uses(json_array_get(steps, i - 1), BUILD_ACTION) && uses(json_array_get(steps, i), RUN_ACTION) &&
        text_is(json_object_get(run, "mode"), mode) && text_is(json_object_get(built, "language"), "c") &&
        json_object_get(built, "sanitizer") != NULL &&
        json_equal(json_object_get(built, "sanitizer"), json_object_get(run, "sanitizer"))) {
      return true;
    }
  }
  return false;
}

static bool has_fuzz_run(const json_t *files, const char *mode, const char *trigger) {
  const char *file = NULL;
  json_t *workflow = NULL;
  json_object_foreach((json_t *)files, file, workflow) {
    const json_t *filter = json_object_get(json_object_get(workflow, "on"), trigger);
    bool starts = strcmp(trigger, "schedule") == 0 ? json_array_size(filter) > 0 : every(workflow, trigger);
    const char *name = NULL;
    json_t *job = NULL;
    json_object_foreach(json_object_get(workflow, "jobs"), name, job) {
      if (starts && fuzzes(job, mode)) {
        return true;
      }
    }
  }
  return false;
}

json_t *tg_workflows_check(const json_t *files, const json_t *commands) {
  struct check check = {.commands = commands, .problems = json_array()};
  json_t *workflow = NULL;
  json_object_foreach((json_t *)files, check.file, workflow) {
    check_file(&check, workflow);
  }
  check.file = "workflows";
  for (size_t i = 0; i < sizeof(blocking) / sizeof(blocking[0]); i++) {
    if (!blocks_every_pull_request(files, blocking[i])) {
      complain(&check, "\"%s\" does not block every pull request", blocking[i]);
    }
  }
  check_gates(&check, files);
  check.file = "workflows";
  for (size_t i = 0; i < sizeof(fuzz_runs) / sizeof(fuzz_runs[0]); i++) {
    if (!has_fuzz_run(files, fuzz_runs[i].mode, fuzz_runs[i].trigger)) {
      complain(&check, "no job builds for a sanitizer and runs ClusterFuzzLite's %s on it, on %s", fuzz_runs[i].mode,
               fuzz_runs[i].trigger);
    }
  }
  return check.problems;
}
