// The fault catalogue: every planted fault is caught. The raw files are the records of the runs.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/faults/runner/record.h"
#include "perf/certify/parts_internal.h"

#define PATCHES "harness/faults/patches"
#define SUFFIX  ".patch"

typedef bool each_fault(const char *name, void *context, struct tg_error *err);

// Calls `each` for every fault of the commit: a patch each.
static bool for_each_fault(const struct tg_source *source, each_fault *each, void *context, struct tg_error *err) {
  char *text;
  enum tg_source_found found = tg_source_list(source, PATCHES, false, &text, err);
  if (found != TG_SOURCE_FOUND) {
    if (found == TG_SOURCE_MISSING) {
      tg_error_set(err, "commit %s has no " PATCHES, source->commit);
    }
    return false;
  }
  bool ok = true;
  char *rest = text;
  for (char *name; ok && (name = strsep(&rest, "\n")) != NULL;) {
    size_t len = strlen(name);
    if (len > strlen(SUFFIX) && strcmp(name + len - strlen(SUFFIX), SUFFIX) == 0) {
      name[len - strlen(SUFFIX)] = '\0';
      ok = each(name, context, err);
    }
  }
  free(text);
  return ok;
}

static bool keep_record(const char *name, void *context, struct tg_error *err) {
  const struct tg_part_run *run = context;
  char from[PATH_MAX];
  char to[256];
  (void)snprintf(from, sizeof(from), "%.2000s/bazel-bin/harness/faults/%.200s_record.json", run->source->workspace,
                 name);
  (void)snprintf(to, sizeof(to), "records/%.200s.json", name);
  return tg_raw_copy(run, from, to, err);
}

bool tg_faults_run(const struct tg_part_run *run, struct tg_error *err) {
  char folder[PATH_MAX];
  tg_raw_path(folder, run, "records");
  if (!tg_tests_run(run, err)) {
    return false;
  }
  if (mkdir(folder, 0777) != 0) {
    tg_error_set(err, "%s: %s", folder, strerror(errno));
    return false;
  }
  return for_each_fault(run->source, keep_record, (void *)run, err);
}

struct score {
  const char *folder;
  size_t caught;
  json_t *faults;
};

static bool count(const char *name, void *context, struct tg_error *err) {
  struct score *score = context;
  char path[PATH_MAX];
  struct tg_fault_record record;
  (void)snprintf(path, sizeof(path), "%.3800s/records/%.200s.json", score->folder, name);
  if (!tg_fault_record_load(path, &record, err)) {
    return false;
  }
  if (strcmp(record.fault, name) != 0) {
    tg_error_set(err, "%s: is the record of %s", path, record.fault);
    return false;
  }
  score->caught += record.caught;
  return json_array_append_new(
             score->faults,
             json_pack("{s:s, s:b, s:s, s:s, s:s, s:I}", "name", name, "caught", record.caught, "check", record.check,
                       "said", record.said, "how", record.how, "executions", (json_int_t)record.executions)) == 0;
}

bool tg_faults_judge(const struct tg_part *part, const struct tg_evidence *evidence, struct tg_part_verdict *out,
                     struct tg_error *err) {
  struct tg_part_verdict tests = {.figures = NULL};
  struct score score = {.folder = evidence->folder, .faults = json_array()};
  bool ok = tg_tests_judge(part, evidence, &tests, err) && for_each_fault(evidence->source, count, &score, err);
  if (ok) {
    size_t num = json_array_size(score.faults);
    bool all = num > 0 && score.caught == num;
    out->outcome = all ? tests.outcome : TG_OUTCOME_FAIL;
    (void)snprintf(out->message, sizeof(out->message), "caught %zu of %zu; %.300s", score.caught, num, tests.message);
    out->figures = json_pack("{s:I, s:I, s:O, s:O}", "caught", (json_int_t)score.caught, "planted", (json_int_t)num,
                             "tests", tests.figures, "faults", score.faults);
  }
  json_decref(score.faults);
  json_decref(tests.figures);
  return ok;
}
