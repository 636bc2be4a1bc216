// Fresh fuzzing: every target with both engines, from the seeds of the commit alone, for an equal share of the minutes.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/launcher/files.h"
#include "fuzz/launcher/summary.h"
#include "perf/certify/parts_internal.h"

#define TARGETS_MAX 64

// Beyond its time: AFL++ measures every seed first and merges what it has found at the end (fuzz/launcher/afl.c).
#define GRACE_S 600.0

static const char *const engines[] = {"libfuzzer", "afl"};
#define NUM_ENGINES (sizeof(engines) / sizeof(engines[0]))

// The targets of the commit: the folders of corpora/. Those named bare_... are what others are held against
// (//fuzz:stats), and have nothing of the accept path in them.
struct targets {
  char *text;
  const char *names[TARGETS_MAX];
  size_t num;
};

static bool find_targets(struct targets *out, const struct tg_source *source, struct tg_error *err) {
  *out = (struct targets){.num = 0};
  enum tg_source_found found = tg_source_list(source, "corpora", true, &out->text, err);
  if (found == TG_SOURCE_MISSING) {
    tg_error_set(err, "commit %s has no corpora/", source->commit);
  }
  if (found != TG_SOURCE_FOUND) {
    return false;
  }
  char *rest = out->text;
  for (char *name; (name = strsep(&rest, "\n")) != NULL;) {
    if (name[0] != '\0' && strncmp(name, "bare_", strlen("bare_")) != 0 && out->num < TARGETS_MAX) {
      out->names[out->num++] = name;
    }
  }
  return true;
}

// Of each run: an equal share, at least one.
static unsigned share_s(long long minutes, size_t num_targets) {
  long long share = minutes * 60 / (long long)(num_targets * NUM_ENGINES);
  return share > 0 ? (unsigned)share : 1u;
}

bool tg_fuzz_binaries(const struct tg_part_run *run, json_t *paths, struct tg_error *err) {
  static const char *const kinds[] = {"run", "libfuzzer", "afl", "afl_cmplog"};
  struct targets targets;
  bool ok = find_targets(&targets, run->source, err);
  for (size_t i = 0; ok && i < targets.num; i++) {
    for (size_t j = 0; j < sizeof(kinds) / sizeof(kinds[0]); j++) {
      char path[PATH_MAX];
      (void)snprintf(path, sizeof(path), "bazel-bin/fuzz/%.200s_%s", targets.names[i], kinds[j]);
      (void)json_array_append_new(paths, json_string(path));
    }
  }
  free(targets.text);
  return ok;
}

// The inputs of findings stay. What is merely new in a corpus does not: it is fuzzing's to keep, not a certificate's.
static bool keep_findings(const struct tg_part_run *run, const char *scratch, const char *name, struct tg_error *err) {
  char from[PATH_MAX];
  char to[PATH_MAX];
  (void)snprintf(from, sizeof(from), "%s-findings", scratch);
  struct tg_file_list list = {0};
  bool ok = tg_files_add(&list, from, err);
  for (size_t i = 0; ok && i < list.num; i++) {
    const char *slash = strrchr(list.paths[i], '/');
    (void)snprintf(to, sizeof(to), "%.3500s/findings/%.100s", run->folder, name);
    ok = tg_files_make_folder(to, err);
    (void)snprintf(to, sizeof(to), "%.3500s/findings/%.100s/%.255s", run->folder, name, slash + 1);
    ok = ok && tg_files_copy(list.paths[i], to, err);
  }
  tg_files_free(&list);
  return ok;
}

static bool fuzz_one(const struct tg_part_run *run, const char *target, const char *engine, unsigned seconds,
                     const char *scratch, struct tg_error *err) {
  char program[PATH_MAX];
  char name[128];
  char log[160];
  char corpus[PATH_MAX];
  char summary_name[160];
  char summary[PATH_MAX];
  char seconds_text[32];
  (void)snprintf(name, sizeof(name), "%.64s-%s", target, engine);
  (void)snprintf(program, sizeof(program), "bazel-bin/fuzz/%.200s_run", target);
  (void)snprintf(log, sizeof(log), "%s.log", name);
  (void)snprintf(corpus, sizeof(corpus), "%.3800s/%s", scratch, name);
  (void)snprintf(summary_name, sizeof(summary_name), "%s.json", name);
  tg_raw_path(summary, run, summary_name);
  (void)snprintf(seconds_text, sizeof(seconds_text), "%u", seconds);
  const char *const argv[] = {program,        "--engine", engine,      "--timeout_secs", seconds_text,
                              "--corpus_dir", corpus,     "--summary", summary,          NULL};
  int status = tg_part_command(run, argv, log, seconds + GRACE_S, err);
  if (status < 0) {
    return false;
  }
  // 1 is a finding, which the summary has; with 2 the engine could not run.
  if (status > 1) {
    tg_error_set(err, "%s could not fuzz (exit status %d): %s says why", name, status, log);
    return false;
  }
  return keep_findings(run, corpus, name, err);
}

bool tg_fuzz_run(const struct tg_part_run *run, struct tg_error *err) {
  struct targets targets;
  char scratch[] = "/tmp/tlsgate-certify-XXXXXX";
  bool ok = find_targets(&targets, run->source, err);
  if (ok && mkdtemp(scratch) == NULL) {
    tg_error_set(err, "cannot make a folder %s: %s", scratch, strerror(errno));
    ok = false;
  } else if (ok) {
    unsigned seconds = share_s(run->minutes, targets.num);
    for (size_t i = 0; ok && i < targets.num * NUM_ENGINES; i++) {
      ok = fuzz_one(run, targets.names[i / NUM_ENGINES], engines[i % NUM_ENGINES], seconds, scratch, err);
    }
    tg_files_remove_folder(scratch);
  }
  free(targets.text);
  return ok;
}

// Sums over all runs, and what a table of them shows.
struct sums {
  size_t runs;
  size_t findings;
  double executions;
  double seconds;
  json_t *runs_json;
};

// A run counts only if it was as long as its share; one with a finding ends with it.
static bool judge_one(const struct tg_evidence *evidence, const char *target, const char *engine, unsigned seconds,
                      struct sums *sums, struct tg_error *err) {
  char path[PATH_MAX];
  char input[PATH_MAX];
  struct tg_fuzz_summary summary;
  (void)snprintf(path, sizeof(path), "%.3800s/%.64s-%s.json", evidence->folder, target, engine);
  if (!tg_fuzz_summary_load(path, &summary, err)) {
    return false;
  }
  if (strcmp(summary.target, target) != 0 || strcmp(summary.engine, engine) != 0) {
    tg_error_set(err, "%s: is about %s with %s", path, summary.target, summary.engine);
    return false;
  }
  if (summary.asked_s < seconds || (!summary.has_finding && summary.elapsed_s < 0.9 * seconds)) {
    tg_error_set(err, "%s: %.0f of %u s: too short for this certificate's minutes", path, summary.elapsed_s, seconds);
    return false;
  }
  (void)snprintf(input, sizeof(input), "%.3500s/findings/%.64s-%s/%s", evidence->folder, target, engine,
                 summary.finding);
  struct stat there;
  if (summary.has_finding && stat(input, &there) != 0) {
    tg_error_set(err, "%s: the input of the finding is missing", input);
    return false;
  }
  sums->runs++;
  sums->findings += summary.has_finding;
  sums->executions += (double)summary.executions;
  sums->seconds += summary.elapsed_s;
  return json_array_append_new(
             sums->runs_json,
             json_pack("{s:s, s:s, s:f, s:I, s:I, s:I, s:o}", "target", target, "engine", engine, "seconds",
                       summary.elapsed_s, "executions", (json_int_t)summary.executions, "edges",
                       (json_int_t)summary.edges, "new_entries", (json_int_t)summary.new_entries, "finding",
                       summary.has_finding ? json_string(summary.finding) : json_null())) == 0;
}

bool tg_fuzz_judge(const struct tg_part *part, const struct tg_evidence *evidence, struct tg_part_verdict *out,
                   struct tg_error *err) {
  (void)part;
  struct targets targets;
  struct sums sums = {.runs_json = json_array()};
  bool ok = find_targets(&targets, evidence->source, err);
  for (size_t i = 0; ok && i < targets.num * NUM_ENGINES; i++) {
    ok = judge_one(evidence, targets.names[i / NUM_ENGINES], engines[i % NUM_ENGINES],
                   share_s(evidence->minutes, targets.num), &sums, err);
  }
  if (ok) {
    out->outcome = sums.findings == 0 ? TG_OUTCOME_PASS : TG_OUTCOME_FAIL;
    (void)snprintf(out->message, sizeof(out->message),
                   "%.0f executions in %.0f s on %zu targets and %zu engines; %zu %s", sums.executions, sums.seconds,
                   targets.num, NUM_ENGINES, sums.findings, sums.findings == 1 ? "finding" : "findings");
    out->figures = json_pack("{s:f, s:f, s:I, s:O}", "executions", sums.executions, "seconds", sums.seconds, "findings",
                             (json_int_t)sums.findings, "runs", sums.runs_json);
  }
  json_decref(sums.runs_json);
  free(targets.text);
  return ok;
}
