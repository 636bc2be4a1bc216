#include "fuzz/service/slice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/files.h"
#include "fuzz/service/layout.h"

// "#193	INITED cov: 4211 ft: 9000 ..." once it has read the corpus, and lines like it from then on.
static uint64_t libfuzzer_yield(FILE *log, uint64_t *before) {
  char line[512];
  uint64_t after = 0;
  while (fgets(line, sizeof(line), log) != NULL) {
    const char *coverage = strstr(line, " cov: ");
    if (line[0] != '#' || coverage == NULL) {
      continue;
    }
    after = strtoull(coverage + strlen(" cov: "), NULL, 10);
    if (strstr(line, "INITED") != NULL) {
      *before = after;
    }
  }
  return *before > 0 && after > *before ? after - *before : 0;
}

// "MERGE-OUTER: 1 new files with 8 new features added; 8 new coverage edges"
static uint64_t merge_yield(FILE *log) {
  static const char kMark[] = " new features added; ";
  char line[512];
  uint64_t edges = 0;
  while (fgets(line, sizeof(line), log) != NULL) {
    const char *mark = strstr(line, kMark);
    if (mark != NULL) {
      edges = strtoull(mark + strlen(kMark), NULL, 10);
    }
  }
  return edges;
}

uint64_t tg_fuzzd_slice_yield(const char *work, enum tg_fuzzd_engine engine, uint64_t *before) {
  char path[PATH_MAX];
  tg_path(path, "%s/%s", work, engine == TG_FUZZD_AFL ? "merge.log" : "libfuzzer.log");
  FILE *log = fopen(path, "re");
  *before = 0;
  if (log == NULL) {
    return 0;
  }
  uint64_t edges = engine == TG_FUZZD_AFL ? merge_yield(log) : libfuzzer_yield(log, before);
  fclose(log);
  return edges;
}

// Two slices never share a folder: AFL++ numbers its findings.
static bool make_findings(const char *root, const char *target, char out[PATH_MAX], struct tg_error *err) {
  char name[64];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  (void)snprintf(name, sizeof(name), "%lld-%ld", (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000, (long)getpid());
  tg_layout(out, root, "incoming", target, name);
  return tg_files_make_folder(out, err);
}

void tg_fuzzd_slice(const char *root, const struct tg_fuzz_target *target, enum tg_fuzzd_engine engine, double seconds,
                    unsigned memory_mb, const char *work, struct tg_fuzzd_slice_result *out) {
  struct tg_engine_run run = {
      .target = target, .seconds = seconds, .memory_mb = memory_mb, .keep_entries = true, .show_progress = false};
  struct tg_engine_result result = {0};
  struct tg_error err;
  tg_layout(run.corpus, root, "corpus", target->name, NULL);
  tg_path(run.scratch, "%s", work);
  bool ok = make_findings(root, target->name, run.findings, &err) &&
            (engine == TG_FUZZD_AFL ? tg_engine_afl(&run, &result, &err) : tg_engine_libfuzzer(&run, &result, &err));
  // Where there is none, nothing is left of its folder.
  (void)rmdir(run.findings);
  *out = (struct tg_fuzzd_slice_result){
      .ran = result.executions > 0 || result.finding[0] != '\0',
      .finding = result.finding[0] != '\0',
      .early = result.seconds < seconds / 10,
      .executions = result.executions,
      .edges = result.edges,
  };
  out->new_edges = tg_fuzzd_slice_yield(work, engine, &out->edges_before);
  if (!ok) {
    (void)snprintf(out->error, sizeof(out->error), "%.255s", err.text);
  } else {
    tg_files_remove_folder(work);
  }
}
