// Writes the seeds of gate_inputs: the files and outputs that the tests of //perf keep, each behind its letter.
// usage: record FOLDER
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/process/runfiles.h"

#define TOOLS "perf/tools/testdata/"

static const struct {
  char kind;
  const char *name;
  const char *first;   // a runfile, or a text that begins with "="
  const char *second;  // what follows the NUL byte; NULL: nothing
} kSeeds[] = {
    {'m', "manifest_gates", "baselines/gates.json", NULL},
    {'m', "manifest_published", "baselines/published.json", NULL},
    {'m', "manifest_small", "fuzz/gates/testdata/small.json", NULL},
    {'r', "replay_small", "fuzz/gates/testdata/small.json", "fuzz/gates/testdata/row.json"},
    {'r', "replay_published", "baselines/published.json", "fuzz/gates/testdata/published_row.json"},
    {'a', "ab_ok", TOOLS "ab_ok.txt", TOOLS "ab_ok.stderr"},
    {'a', "ab_keepalive", TOOLS "ab_keepalive.txt", NULL},
    {'a', "ab_length", TOOLS "ab_length.txt", NULL},
    {'a', "ab_non2xx", TOOLS "ab_non2xx.txt", NULL},
    {'a', "ab_short", TOOLS "ab_short.txt", NULL},
    {'a', "ab_refused", TOOLS "ab_refused.txt", TOOLS "ab_refused.stderr"},
    {'a', "ab_timeout", TOOLS "ab_timeout.txt", TOOLS "ab_timeout.stderr"},
    {'a', "ab_tls_refused", TOOLS "ab_tls_refused.txt", TOOLS "ab_tls_refused.stderr"},
    {'w', "wrk_ok", TOOLS "wrk_ok.txt", NULL},
    {'w', "wrk_big", TOOLS "wrk_big.txt", NULL},
    {'w', "wrk_empty", TOOLS "wrk_empty.txt", NULL},
    {'w', "wrk_non2xx", TOOLS "wrk_non2xx.txt", NULL},
    {'w', "wrk_reads", TOOLS "wrk_reads.txt", NULL},
    {'w', "wrk_slow", TOOLS "wrk_slow.txt", NULL},
    {'w', "wrk_timeout", TOOLS "wrk_timeout.txt", NULL},
    {'w', "wrk_refused", "=", TOOLS "wrk_refused.stderr"},
    {'h', "hyperfine_ok", TOOLS "hyperfine_ok.json", NULL},
    {'h', "hyperfine_one_run", TOOLS "hyperfine_one_run.json", NULL},
    {'h', "hyperfine_failed", TOOLS "hyperfine_failed.json", NULL},
    {'q', "quantity_seconds", "=12.34ms", NULL},
    {'q', "quantity_bytes", "=1.05GB", NULL},
    {'q', "quantity_count", "=54291", NULL},
    {'e', "report_complete", "fuzz/gates/testdata/report.json", NULL},
    {'e', "report_error", "fuzz/gates/testdata/report_error.json", NULL},
    {'b', "baseline_held", "fuzz/gates/testdata/baseline.json", "fuzz/gates/testdata/report.json"},
    {'b', "baseline_alone", "fuzz/gates/testdata/baseline.json", NULL},
    {'y', "history_held", "fuzz/gates/testdata/history.json", "fuzz/gates/testdata/report.json"},
    {'y', "history_alone", "fuzz/gates/testdata/history.json", NULL},
};

static bool append(FILE *out, const char *source, struct tg_error *err) {
  if (source[0] == '=') {
    return fputs(source + 1, out) >= 0;
  }
  char path[PATH_MAX];
  if (!tg_runfile(source, path, err)) {
    return false;
  }
  FILE *in = fopen(path, "re");
  if (in == NULL) {
    tg_error_set(err, "%s: cannot be read", path);
    return false;
  }
  char buffer[65536];
  size_t len = fread(buffer, 1, sizeof(buffer), in);
  fclose(in);
  return fwrite(buffer, 1, len, out) == len;
}

static bool record(const char *folder, size_t index, struct tg_error *err) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s", folder, kSeeds[index].name);
  FILE *out = fopen(path, "we");
  if (out == NULL) {
    tg_error_set(err, "%s: cannot be written: name a folder that exists", path);
    return false;
  }
  tg_error_set(err, "%s: writing failed", path);
  bool ok = fputc(kSeeds[index].kind, out) != EOF && append(out, kSeeds[index].first, err);
  if (ok && kSeeds[index].second != NULL) {
    ok = fputc('\0', out) != EOF && append(out, kSeeds[index].second, err);
  }
  return fclose(out) == 0 && ok;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: record FOLDER\n");
    return 2;
  }
  for (size_t i = 0; i < sizeof(kSeeds) / sizeof(kSeeds[0]); i++) {
    struct tg_error err;
    if (!record(argv[1], i, &err)) {
      fprintf(stderr, "record: %s\n", err.text);
      return 1;
    }
  }
  printf("%zu seeds in %s\n", sizeof(kSeeds) / sizeof(kSeeds[0]), argv[1]);
  return 0;
}
