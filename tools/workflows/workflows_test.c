// The workflow files themselves, and what becomes of them when somebody lets something off.
// usage: workflows_test README TLSGATE WORKFLOW... -- FIXTURE...
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/workflows/commands.h"
#include "tools/workflows/rules.h"
#include "tools/workflows/yaml_tree.h"

#define FILES_MAX 16
#define TEXT_MAX  (1u << 20)

struct text {
  const char *name;  // of the file, without its folder
  char *bytes;
};

static struct text workflows[FILES_MAX];
static size_t num_workflows;
static struct text fixtures[FILES_MAX];
static size_t num_fixtures;
static char *tlsgate;
static json_t *commands;

static char *read_file(const char *path) {
  FILE *file = fopen(path, "re");
  char *text = malloc(TEXT_MAX);
  if (file == NULL || text == NULL) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  text[fread(text, 1, TEXT_MAX - 1, file)] = '\0';
  (void)fclose(file);
  return text;
}

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static json_t *parse(const char *name, const char *text) {
  struct tg_error err;
  json_t *tree = tg_yaml_parse(name, text, strlen(text), &err);
  if (tree == NULL) {
    fail_msg("%s", err.text);
  }
  return tree;
}

// All workflows, with `text` in the place of the one called `name`; or beside them if none is.
static json_t *trees_with(const char *name, const char *text) {
  json_t *trees = json_object();
  for (size_t i = 0; i < num_workflows; i++) {
    (void)json_object_set_new(trees, workflows[i].name, parse(workflows[i].name, workflows[i].bytes));
  }
  if (name != NULL) {
    (void)json_object_set_new(trees, name, parse(name, text));
  }
  return trees;
}

static bool is_said(const json_t *problems, const char *words) {
  for (size_t i = 0; i < json_array_size(problems); i++) {
    if (strstr(json_string_value(json_array_get(problems, i)), words) != NULL) {
      return true;
    }
  }
  return false;
}

static void the_workflows_keep_to_the_rules(void **state) {
  (void)state;
  assert_true(num_workflows >= 2);
  json_t *trees = trees_with(NULL, NULL);
  json_t *problems = tg_workflows_check(trees, commands);
  for (size_t i = 0; i < json_array_size(problems); i++) {
    print_error("%s\n", json_string_value(json_array_get(problems, i)));
  }
  assert_int_equal(json_array_size(problems), 0);
  json_decref(problems);
  json_decref(trees);
}

// README could name a command that is not there.
static void the_commands_of_tlsgate_exist(void **state) {
  (void)state;
  size_t num = 0;
  for (size_t i = 0; i < num_workflows; i++) {
    for (const char *at = workflows[i].bytes; (at = strstr(at, "./tlsgate ")) != NULL; num++) {
      char line[64];
      at += strlen("./tlsgate ");
      (void)snprintf(line, sizeof(line), "\n  %.*s ", (int)strcspn(at, " \n"), at);
      if (strstr(tlsgate, line) == NULL) {
        fail_msg("%s calls ./tlsgate%s, which the help of ./tlsgate does not list", workflows[i].name, line + 1);
      }
    }
  }
  assert_true(num >= 4);
}

// The first line of a fixture is "# must say: WORDS".
static void each_fixture_is_red(void **state) {
  (void)state;
  static const char head[] = "# must say: ";
  assert_true(num_fixtures >= 3);
  for (size_t i = 0; i < num_fixtures; i++) {
    char words[256];
    assert_int_equal(strncmp(fixtures[i].bytes, head, strlen(head)), 0);
    const char *text = fixtures[i].bytes + strlen(head);
    (void)snprintf(words, sizeof(words), "%.*s", (int)strcspn(text, "\n"), text);
    json_t *trees = trees_with(fixtures[i].name, fixtures[i].bytes);
    json_t *problems = tg_workflows_check(trees, commands);
    // Nothing else is wrong with it.
    if (json_array_size(problems) != 1 || !is_said(problems, words) || !is_said(problems, fixtures[i].name)) {
      char *said = json_dumps(problems, JSON_INDENT(1));
      fail_msg("%s: \"%s\" was wanted, and nothing else: %s", fixtures[i].name, words, said);
    }
    json_decref(problems);
    json_decref(trees);
  }
}

// One place of a real file, and what must be said of it if it is changed.
static const struct change {
  const char *file;
  const char *from;
  const char *to;
  const char *words;
} changes[] = {
    {"checks.yml", "run: ./tlsgate lint", "run: ./tlsgate lint || true", "\"./tlsgate lint\" does not block"},
    {"checks.yml", "run: bazel test //fuzz:all", "run: bazel test //fuzz:accept_schedule",
     "\"bazel test //fuzz:all\" does not block"},
    {"checks.yml", "run: bazel test //perf:exact", "run: echo bazel test //perf:exact",
     "\"bazel test //perf:exact\" does not block"},
    {"checks.yml", "        run: bazel test //harness/faults:all",
     "        if: always()\n        run: bazel test //harness/faults:all", "none if it blocks"},
    {"checks.yml", "        run: bazel test //harness/faults:all",
     "        shell: bash {0} || true\n        run: bazel test //harness/faults:all", "the key shell is not allowed"},
    {"checks.yml", "  lint:\n", "  lint:\n    if: github.event_name == 'push'\n", "has a condition"},
    {"checks.yml", "  lint:\n", "  lint:\n    continue-on-error: true\n", "continue-on-error is not allowed"},
    {"checks.yml", "  lint:\n", "  lint:\n    env:\n      PATH: .\n", "only TLSGATE_ variables"},
    {"checks.yml", "  pull_request:\n", "  pull_request:\n    paths:\n      - harness/**\n", "does not block every"},
    {"checks.yml", "  pull_request:\n", "  pull_request:\n    branches:\n      - main\n", "does not block every"},
    {"checks.yml", "  pull_request:\n", "", "does not block every"},
    {"checks.yml", "  pull_request:\n", "  pull_request:\n  pull_request_target:\n", "pull_request_target is not"},
    {"checks.yml", "contents: read", "contents: write", "must be contents: read"},
    {"checks.yml", "contents: read", "contents: read\n  pull-requests: write", "must be contents: read"},
    {"checks.yml", "permissions:\n  contents: read\n", "permissions: read-all\n", "must be contents: read"},
    {"checks.yml", "permissions:\n  contents: read\n", "", "must be contents: read"},
    {"checks.yml", "persist-credentials: false", "fetch-depth: 0", "persist-credentials"},
    {"checks.yml", "actions/cache@v4", "somebody/cache@main", "GitHub's own actions"},
    {"checks.yml", "  pull_request:\n", "  pull_request:\n  schedule:\n    - cron: '0 0 * * *'\n",
     "only ClusterFuzzLite runs on a schedule"},
    {"checks.yml", "contents: read", "contents: read\n  actions: read", "must be contents: read"},
    {"fuzz_change.yml", "mode: code-change", "mode: batch",
     "runs ClusterFuzzLite's code-change on it, on pull_request"},
    {"fuzz_change.yml", "  pull_request:\n", "  pull_request:\n    paths:\n      - fuzz/**\n",
     "runs ClusterFuzzLite's code-change"},
    {"fuzz_change.yml", "build_fuzzers@884713a6c30a92e5e8544c39945cd7cb630abcd1", "build_fuzzers@v1",
     "at the commit 884713a6"},
    {"fuzz_change.yml", "actions: read", "actions: write", "must be contents: read"},
    {"fuzz_batch.yml", "mode: batch", "mode: prune", "runs ClusterFuzzLite's batch on it, on schedule"},
    {"fuzz_batch.yml", "  schedule:\n    - cron: '17 */6 * * *'\n", "", "runs ClusterFuzzLite's batch"},
    {"fuzz_daily.yml", "mode: prune", "mode: batch", "runs ClusterFuzzLite's prune"},
    {"fuzz_daily.yml", "          language: c\n          sanitizer: coverage",
     "          language: c\n          sanitizer: address", "runs ClusterFuzzLite's coverage"},
    {"gates.yml", "      - harness/**\n", "", "touch harness/**"},
    {"gates.yml", "      - WORKSPACE\n", "", "touch WORKSPACE"},
    {"gates.yml", "  push:\n", "  push:\n    branches:\n      - main\n", "on every push and on dispatch"},
    {"gates.yml", "  workflow_dispatch:\n", "", "on every push and on dispatch"},
    {"gates.yml", "run: ./tlsgate gates --out reports/ci", "run: ./tlsgate install",
     "no workflow runs ./tlsgate gates"},
    {"gates.yml", "    needs: gates\n", "", "needs: the job that must have passed"},
    {"gates.yml", "github.event_name == 'push' && github.ref == 'refs/heads/main'", "github.event_name == 'push'",
     "permissions of a job's own"},
    {"gates.yml", "    permissions:\n      contents: write\n", "", "which only a job for a push to main may"},
    {"gates.yml", "      contents: write\n", "      contents: write\n      actions: write\n",
     "permissions of a job's own"},
};

static void each_way_to_let_something_off_is_red(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
    const struct change *change = &changes[i];
    const char *text = NULL;
    for (size_t j = 0; j < num_workflows; j++) {
      text = strcmp(workflows[j].name, change->file) == 0 ? workflows[j].bytes : text;
    }
    const char *at = text == NULL ? NULL : strstr(text, change->from);
    if (at == NULL) {
      fail_msg("%s has no \"%s\" that could be changed", change->file, change->from);
      return;
    }
    static char changed[TEXT_MAX];
    (void)snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, change->to, at + strlen(change->from));
    json_t *trees = trees_with(change->file, changed);
    json_t *problems = tg_workflows_check(trees, commands);
    if (!is_said(problems, change->words)) {
      char *said = json_dumps(problems, JSON_INDENT(1));
      fail_msg("%s with \"%s\": \"%s\" is not said: %s", change->file, change->to, change->words, said);
    }
    json_decref(problems);
    json_decref(trees);
  }
}

static void what_is_not_plain_yaml_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *words;
  } cases[] = {
      {"a: 1\na: 2\n", "f.yml:2: this key is there twice"},
      {"a: &x 1\nb: *x\n", "f.yml:1: anchors"},
      {"a: 1\nb: *x\n", "f.yml:2: anchors"},
      {"a: !!str 1\n", "anchors, aliases and tags"},
      {"a:\n  <<: {b: 1}\n", "merge keys"},
      {"? [a, b]\n: 1\n", "a key must be"},
      {"a: 1\n---\nb: 2\n", "second document"},
      {"a: [1\n", "f.yml:"},
      {"", "is empty"},
      {"a: \xff\n", "f.yml:"},
      {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", "nested too deeply"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tg_error err = {.text = ""};
    json_t *tree = tg_yaml_parse("f.yml", cases[i].text, strlen(cases[i].text), &err);
    if (tree != NULL || strstr(err.text, cases[i].words) == NULL) {
      fail_msg("%s: \"%s\" is not in \"%s\"", cases[i].text, cases[i].words, err.text);
    }
  }
  json_t *tree = parse("f.yml", "on:\n  push:\nrun: |\n  a\n  b\nlist: [true, 1]\n");
  char *text = json_dumps(tree, JSON_COMPACT);
  assert_string_equal(text, "{\"on\":{\"push\":\"\"},\"run\":\"a\\nb\\n\",\"list\":[\"true\",\"1\"]}");
  free(text);
  json_decref(tree);
}

static void commands_are_the_lines_of_indented_blocks(void **state) {
  (void)state;
  json_t *found = tg_commands_of("text\n    one two   # why\n    three # four\n   no\n`five`\n    \n    six");
  char *text = json_dumps(found, JSON_COMPACT);
  assert_string_equal(text, "[\"one two\",\"three # four\",\"six\"]");
  free(text);
  json_decref(found);
}

int main(int argc, char **argv) {
  int i = 1;
  if (argc > 3) {
    char *readme = read_file(argv[i++]);
    commands = tg_commands_of(readme);
    free(readme);
    tlsgate = read_file(argv[i++]);
  }
  for (; i < argc && strcmp(argv[i], "--") != 0 && num_workflows < FILES_MAX; i++) {
    workflows[num_workflows++] = (struct text){.name = name_of(argv[i]), .bytes = read_file(argv[i])};
  }
  for (i++; i < argc && num_fixtures < FILES_MAX; i++) {
    fixtures[num_fixtures++] = (struct text){.name = name_of(argv[i]), .bytes = read_file(argv[i])};
  }
  if (num_workflows == 0 || num_fixtures == 0) {
    fprintf(stderr, "usage: workflows_test README TLSGATE WORKFLOW... -- FIXTURE...\n");
    return 2;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_workflows_keep_to_the_rules),
      cmocka_unit_test(the_commands_of_tlsgate_exist),
      cmocka_unit_test(each_fixture_is_red),
      cmocka_unit_test(each_way_to_let_something_off_is_red),
      cmocka_unit_test(what_is_not_plain_yaml_is_refused),
      cmocka_unit_test(commands_are_the_lines_of_indented_blocks),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  for (size_t j = 0; j < num_workflows; j++) {
    free(workflows[j].bytes);
  }
  for (size_t j = 0; j < num_fixtures; j++) {
    free(fixtures[j].bytes);
  }
  free(tlsgate);
  json_decref(commands);
  return failed;
}
