// The check fails what breaks the contract, with one message that says what; and passes what keeps to it.
// usage: contract_test FIXTURE, in the folder of all of them
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fuzz/launcher/files.h"
#include "fuzz/oss-fuzz/check/contract.h"
#include "perf/process/child.h"

static const struct tg_combination address = {"address", "libfuzzer"};
static const struct tg_combination undefined = {"undefined", "libfuzzer"};
static const struct tg_combination memory = {"memory", "libfuzzer"};

// What Bazel links the fixtures with, unlike build.sh.
static const char *const cxx_library[] = {"libstdc++.so.6", "libgcc_s.so.1", NULL};

static char fixtures[PATH_MAX];  // absolute

// A folder OUT with one target, x, that keeps to the contract, made anew for each test.
struct place {
  char top[PATH_MAX];
  char out[PATH_MAX];
  char scratch[PATH_MAX];
  char needed[PATH_MAX];  // the build folder that x may need
};

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void write_beside(const struct place *place, const char *name, const char *text) {
  char path[PATH_MAX];
  tg_path(path, "%s/%s", place->out, name);
  write_file(path, text);
}

static void run_tool(const char *const argv[]) {
  struct tg_child_result result;
  struct tg_error err;
  if (!tg_child_run(argv, 20, &result, &err)) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(result.exit_status, 0);
  tg_child_result_free(&result);
}

static void zip_seed(const struct place *place, const char *seed) {
  char zip[PATH_MAX];
  char file[PATH_MAX];
  tg_path(zip, "%s/x_seed_corpus.zip", place->out);
  tg_path(file, "%s/seed", place->top);
  write_file(file, seed);
  (void)unlink(zip);
  const char *argv[] = {"zip", "-qXj", zip, file, NULL};
  run_tool(argv);
}

// What the fixture's placeholder becomes: a file in the build folder.
static void name_needed(const char *program, const char *path) {
  static const char placeholder[] = "@needed-path@";
  struct stat status;
  FILE *file = fopen(program, "r+e");
  assert_non_null(file);
  assert_int_equal(fstat(fileno(file), &status), 0);
  char *bytes = malloc((size_t)status.st_size);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, (size_t)status.st_size, file), status.st_size);
  const char *at = memmem(bytes, (size_t)status.st_size, placeholder, sizeof(placeholder) - 1);
  assert_non_null(at);
  assert_int_equal(fseek(file, at - bytes, SEEK_SET), 0);
  assert_int_equal(fwrite(path, 1, strlen(path) + 1, file), strlen(path) + 1);
  assert_int_equal(fclose(file), 0);
  free(bytes);
}

static void put_program(struct place *place, const char *fixture) {
  char from[PATH_MAX];
  char to[PATH_MAX];
  struct tg_error err;
  tg_path(from, "%s/%s", fixtures, fixture);
  tg_path(to, "%s/x", place->out);
  if (!tg_files_copy(from, to, &err)) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(chmod(to, 0755), 0);
  if (strcmp(fixture, "needs_folder") == 0) {
    char needed[PATH_MAX];
    tg_path(needed, "%s/fixture", place->needed);
    write_file(needed, "1");
    name_needed(to, needed);
  }
}

static int make(void **state) {
  struct place *place = calloc(1, sizeof(*place));
  struct tg_error err;
  *state = place;
  const char *tmp = getenv("TEST_TMPDIR");
  tg_path(place->top, "%s/contract-XXXXXX", tmp != NULL ? tmp : "/tmp");
  if (mkdtemp(place->top) == NULL) {
    return -1;
  }
  tg_path(place->out, "%s/out", place->top);
  tg_path(place->scratch, "%s/scratch", place->top);
  tg_path(place->needed, "%s/build", place->top);
  if (!tg_files_make_folder(place->out, &err) || !tg_files_make_folder(place->needed, &err)) {
    return -1;
  }
  put_program(place, "good");
  zip_seed(place, "harmless");
  write_beside(place, "x.options", "[libfuzzer]\nmax_len = 100\ndetect_leaks = 0\ndict = x.dict\n");
  write_beside(place, "x.dict", "# tokens\nname=\"GET \"\n\"\\x00\\\\\\\"\"\n");
  return 0;
}

static int clear(void **state) {
  struct place *place = *state;
  tg_files_remove_folder(place->top);
  free(place);
  return 0;
}

static bool check(const struct place *place, const struct tg_combination *combination, char *said, size_t size) {
  const struct tg_contract contract = {
      .combination = combination, .out = place->out, .scratch = place->scratch, .more = cxx_library};
  struct tg_contract_result result;
  FILE *lines = tmpfile();
  assert_non_null(lines);
  bool good = tg_contract_check(&contract, lines, &result);
  rewind(lines);
  size_t len = fread(said, 1, size - 1, lines);
  said[len] = '\0';
  (void)fclose(lines);
  return good;
}

static void must_say_under(const struct place *place, const struct tg_combination *combination, const char *words) {
  char said[4096];
  assert_false(check(place, combination, said, sizeof(said)));
  // One line, with the target's name at its head.
  if (strstr(said, words) == NULL || strncmp(said, "  BAD   x: ", 11) != 0 || strchr(said, '\n')[1] != '\0') {
    fail_msg("\"%s\" was wanted: %s", words, said);
  }
}

static void must_say(const struct place *place, const char *words) {
  must_say_under(place, &address, words);
}

static void what_keeps_to_the_contract_passes(void **state) {
  const struct place *place = *state;
  char said[4096];
  // The service's own files are no targets.
  write_beside(place, "llvm-symbolizer", "#!/bin/sh\n");
  if (!check(place, &address, said, sizeof(said))) {
    fail_msg("%s", said);
  }
  assert_int_equal(strncmp(said, "  good  x (", 11), 0);
}

static void a_program_must_be_instrumented(void **state) {
  struct place *place = *state;
  put_program(place, "no_edges");
  must_say(place, "not instrumented: ");
  put_program(place, "no_sanitizer");
  must_say(place, "not compiled with ASan: ");
  put_program(place, "good");
  must_say_under(place, &undefined, "compiled with ASan, which SANITIZER=undefined does not ask for");
  must_say_under(place, &memory, "compiled with ASan, which SANITIZER=memory");
  const struct tg_combination afl = {"address", "afl"};
  must_say_under(place, &afl, "not instrumented: 0 edges counted by afl");
  const struct tg_combination coverage = {"coverage", "libfuzzer"};
  must_say_under(place, &coverage, "not instrumented: 0 edges counted by Clang's coverage");
}

static void a_program_needs_no_library(void **state) {
  struct place *place = *state;
  put_program(place, "needs_library");
  must_say(place, "needs libjansson.so.4, which the service's machines do not have");
  put_program(place, "good");
  const struct tg_contract contract = {.combination = &address, .out = place->out, .scratch = place->scratch};
  struct tg_error err = {.text = ""};
  assert_false(tg_contract_target(&contract, "x", &err));
  assert_string_equal(err.text,
                      "x: needs libstdc++.so.6, which the service's machines do not have: link it statically");
}

static void a_program_must_start(void **state) {
  struct place *place = *state;
  put_program(place, "crashes");
  must_say(place, "does not start (exit status ");
  char path[PATH_MAX];
  tg_path(path, "%s/x", place->out);
  write_file(path, "#!/bin/sh\n");
  char said[4096];
  assert_false(check(place, &address, said, sizeof(said)));
  assert_non_null(strstr(said, "has no program with LLVMFuzzerTestOneInput"));
}

static void seeds_must_be_there_and_harmless(void **state) {
  const struct place *place = *state;
  write_beside(place, "x_seed_corpus.zip", "PK no zip at all");
  must_say(place, "x_seed_corpus.zip cannot be unpacked");
  char path[PATH_MAX];
  tg_path(path, "%s/x_seed_corpus.zip", place->out);
  assert_int_equal(unlink(path), 0);
  must_say(place, "x_seed_corpus.zip cannot be read: No such file");
  zip_seed(place, "crash");
  must_say(place, "fails on its seeds or soon after");
  char longest[102] = "";
  memset(longest, 'a', sizeof(longest) - 1);
  zip_seed(place, longest);
  must_say(place, "has 101 bytes, and max_len is 100");
}

static void options_must_be_known(void **state) {
  const struct place *place = *state;
  static const struct {
    const char *text;
    const char *words;
  } cases[] = {
      {"max_len = 1\n", "x.options:1: no section above the key \"max_len\""},
      {"[libfuzzer]\nmax_length = 1\n", "x.options:2: its section has no key \"max_length\""},
      {"[libfuzzer]\nmax_len = long\n", "x.options:2: a number is wanted, not \"long\""},
      {"[honggfuzz]\n", "x.options:1: ClusterFuzz knows no section \"honggfuzz\""},
      {"[libfuzzer\n", "x.options:1: a section must end with ]"},
      {"# c\n[env]\nPATH = /\n", "x.options:3: its section has no key \"PATH\""},
      {"[asan]\nnonsense\n", "x.options:2: neither [section] nor key = value"},
      {"[libfuzzer]\ndict = ../x\n", "x.options:2: dict must be the name of a file beside this one"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    write_beside(place, "x.options", cases[i].text);
    must_say(place, cases[i].words);
  }
  char path[PATH_MAX];
  tg_path(path, "%s/x.options", place->out);
  assert_int_equal(unlink(path), 0);
  must_say(place, "x.options cannot be read: No such file");
}

static void a_dictionary_must_be_there_and_parse(void **state) {
  const struct place *place = *state;
  static const struct {
    const char *text;
    const char *words;
  } cases[] = {
      {"GET\n", "x.dict:1: not name=\"token\""},
      {"\"a\"\n\"b\\q\"\n", "x.dict:2: a token is empty, or has an escape"},
      {"a b=\"c\"\n", "x.dict:1: not name=\"token\""},
      {"\"\"\n", "x.dict:1: a token is empty"},
      {"# none\n", "x.dict has no token"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    write_beside(place, "x.dict", cases[i].text);
    must_say(place, cases[i].words);
  }
  char path[PATH_MAX];
  tg_path(path, "%s/x.dict", place->out);
  assert_int_equal(unlink(path), 0);
  must_say(place, "x.dict cannot be read: No such file");
}

static void a_program_must_not_need_its_build_folder(void **state) {
  struct place *place = *state;
  put_program(place, "needs_folder");
  char said[4096];
  if (!check(place, &address, said, sizeof(said))) {
    fail_msg("with its folder: %s", said);
  }
  // In a process of its own: the folder stays hidden for the rest of its life.
  pid_t pid = fork();
  if (pid == 0) {
    const char *hidden[] = {place->needed};
    struct tg_error err;
    if (!tg_contract_hide(hidden, 1, &err)) {
      print_error("%s\n", err.text);
      _exit(1);
    }
    bool good = check(place, &address, said, sizeof(said));
    if (good || strstr(said, "does not start (exit status 3): ERROR: a file of the build folder is missing") == NULL) {
      print_error("without its folder: %s\n", said);
      _exit(1);
    }
    _exit(0);
  }
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

int main(int argc, char **argv) {
  if (argc != 2 || realpath(argv[1], fixtures) == NULL) {
    (void)fprintf(stderr, "usage: contract_test FIXTURE\n");
    return 2;
  }
  *strrchr(fixtures, '/') = '\0';
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_keeps_to_the_contract_passes, make, clear),
      cmocka_unit_test_setup_teardown(a_program_must_be_instrumented, make, clear),
      cmocka_unit_test_setup_teardown(a_program_needs_no_library, make, clear),
      cmocka_unit_test_setup_teardown(a_program_must_start, make, clear),
      cmocka_unit_test_setup_teardown(seeds_must_be_there_and_harmless, make, clear),
      cmocka_unit_test_setup_teardown(options_must_be_known, make, clear),
      cmocka_unit_test_setup_teardown(a_dictionary_must_be_there_and_parse, make, clear),
      cmocka_unit_test_setup_teardown(a_program_must_not_need_its_build_folder, make, clear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
