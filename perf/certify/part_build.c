// The first part: the tests of //:certification and the programs that later parts run by themselves are built, in every
// variant, and the plan says which test belongs to which part.
#include <stdlib.h>
#include <string.h>

#include "perf/certify/parts_internal.h"
#include "perf/certify/plan.h"
#include "perf/manifest/strict_json.h"
#include "perf/process/child.h"

// On a machine with an empty cache BoringSSL is built in eight variants.
#define BUILD_LIMIT_S 14400.0
#define QUERY_LIMIT_S 600.0

#define CERTIFICATION "tests(//:certification)"
#define OTHERS        "tests(//...) except attr(tags, '\\bmanual\\b', tests(//...)) except " CERTIFICATION
#define PROGRAMS      "labels(srcs, //:certified)"

// Returns what `bazel query` printed, to be freed, or NULL with `err`.
static char *query(const char *expression, struct tg_error *err) {
  const char *const argv[] = {"bazel", "query", "--noshow_progress", "--order_output=full", expression, NULL};
  struct tg_child_result result;
  if (!tg_child_run(argv, QUERY_LIMIT_S, &result, err)) {
    return NULL;
  }
  char *out = NULL;
  if (result.exit_status == 0) {
    out = strdup(result.out);
  } else {
    const char *error = strstr(result.err, "ERROR");
    tg_error_set(err, "bazel query failed: %.*s", error != NULL ? (int)strcspn(error, "\n") : 0,
                 error != NULL ? error : "");
  }
  tg_child_result_free(&result);
  return out;
}

static json_t *make_plan(struct tg_error *err) {
  char *certification = query(CERTIFICATION, err);
  char *others = certification != NULL ? query(OTHERS, err) : NULL;
  json_t *plan = others != NULL ? tg_plan_new(certification, others, err) : NULL;
  free(certification);
  free(others);
  return plan;
}

// Each by its own label: Bazel lays out the files that a program needs beside it only if it is asked for the program
// itself.
static json_t *find_programs(struct tg_error *err) {
  char *printed = query(PROGRAMS, err);
  json_t *programs = printed != NULL ? tg_plan_labels(printed, err) : NULL;
  free(printed);
  return programs;
}

static int build(const struct tg_part_run *run, const json_t *programs, struct tg_error *err) {
  static const char *const first[] = {"bazel",      "build",       "--keep_going",    "--show_progress_rate_limit=10",
                                      "--color=no", "--curses=no", "--show_result=0", "//:certification"};
  const size_t num_first = sizeof(first) / sizeof(first[0]);
  const char **argv = calloc(num_first + json_array_size(programs) + 1, sizeof(*argv));
  if (argv == NULL) {
    tg_error_set(err, "out of memory");
    return -1;
  }
  for (size_t i = 0; i < num_first; i++) {
    argv[i] = first[i];
  }
  for (size_t i = 0; i < json_array_size(programs); i++) {
    argv[num_first + i] = json_string_value(json_array_get(programs, i));
  }
  int status = tg_part_command(run, argv, "bazel.log", BUILD_LIMIT_S, err);
  free(argv);
  return status;
}

bool tg_build_run(const struct tg_part_run *run, struct tg_error *err) {
  json_t *plan = make_plan(err);
  bool ok = plan != NULL && tg_raw_write(run, TG_PLAN_FILE, plan, err);
  json_decref(plan);
  json_t *programs = ok ? find_programs(err) : NULL;
  if (programs == NULL) {
    return false;
  }
  int status = build(run, programs, err);
  json_decref(programs);
  json_t *built = json_pack("{s:i, s:i}", "schema", 1, "exit_status", status);
  ok = status >= 0 && tg_raw_write(run, "build.json", built, err);
  json_decref(built);
  return ok;
}

bool tg_build_judge(const struct tg_part *part, const struct tg_evidence *evidence, struct tg_part_verdict *out,
                    struct tg_error *err) {
  (void)part;
  char path[PATH_MAX];
  struct tg_json_place root;
  long long status = -1;
  (void)snprintf(path, sizeof(path), "%.4000s/build.json", evidence->folder);
  json_t *plan = tg_plan_load(evidence->folder, err);
  json_t *built = plan != NULL ? tg_json_load(path, err) : NULL;
  bool ok = built != NULL && tg_json_open(&root, path, built, err) && tg_json_schema(&root, 1) &&
            tg_json_integer(&root, "exit_status", 0, 255, &status) && tg_json_close(&root);
  if (ok) {
    const json_t *unplanned = json_object_get(plan, "unplanned");
    size_t num = 0;
    const char *name;
    json_t *labels;
    json_object_foreach(json_object_get(plan, "tests"), name, labels) {
      num += json_array_size(labels);
    }
    bool whole = json_array_size(unplanned) == 0;
    out->outcome = status == 0 && whole ? TG_OUTCOME_PASS : TG_OUTCOME_FAIL;
    if (status != 0) {
      (void)snprintf(out->message, sizeof(out->message), "Bazel ended with %lld: bazel.log says why", status);
    } else if (!whole) {
      (void)snprintf(out->message, sizeof(out->message),
                     "%zu tests are in no part, %s the first: add their packages to //:certification",
                     json_array_size(unplanned), json_string_value(json_array_get(unplanned, 0)));
    } else {
      (void)snprintf(out->message, sizeof(out->message), "%zu tests, and the programs that are run by themselves", num);
    }
    out->figures = json_pack("{s:I, s:O}", "tests", (json_int_t)num, "unplanned", unplanned);
  }
  json_decref(plan);
  json_decref(built);
  return ok;
}
