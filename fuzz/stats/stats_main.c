// Figures of all fuzz targets: speed, corpus, edges, line coverage, and the bars of throughput.
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/files.h"
#include "fuzz/launcher/targets.h"
#include "fuzz/stats/coverage.h"
#include "fuzz/stats/ratio.h"

#define DEFAULT_SECONDS 10
#define SEED            1

// The bars. A target that keeps below them is too slow to find much, or leaves code untried.
#define ACCEPT_LINES_BAR 0.95

static const struct {
  const char *target;
  const char *bare;
  enum tg_ratio_unit unit;
  double bar;
  const char *what;
} kRatios[] = {
    {"handshake_bytes", "bare_accept", TG_RATIO_EXECUTIONS, 0.7, "executions"},
    {"accept_schedule", "bare_pair", TG_RATIO_HANDSHAKES, 0.6, "handshakes"},
};

#define RATIO_ROUNDS  5
#define RATIO_SECONDS 1.0

struct options {
  unsigned seconds;
  bool engines;
  bool coverage;
  bool ratios;
  char out[PATH_MAX];
};

static const char kUsage[] =
    "usage: stats [OPTION...]\n\n"
    "Runs every fuzz target for a short time with each engine, replays its corpus with line coverage, and holds\n"
    "throughput against bare targets.\n\n"
    "  --seconds N   of each target and engine, 1 to 3600 (10)\n"
    "  --only PART   engines, coverage or ratios; may be given again\n"
    "  --out DIR     for the HTML report and the list of uncovered lines (fuzz-out/stats in the caller's folder)\n"
    "  --help        this text\n\n"
    "Exit status: 0 every bar is reached, 1 one is not, 2 usage or a program that cannot run.\n";

static int fail(const struct tg_error *err) {
  fprintf(stderr, "stats: %s\n", err->text);
  return 2;
}

static const struct tg_fuzz_target *find(const char *name) {
  for (size_t i = 0; i < tg_num_fuzz_targets; i++) {
    if (strcmp(tg_fuzz_targets[i].name, name) == 0) {
      return &tg_fuzz_targets[i];
    }
  }
  return NULL;
}

static bool corpus_size(const struct tg_fuzz_target *target, size_t *files, uint64_t *bytes, struct tg_error *err) {
  char seeds[PATH_MAX];
  struct tg_file_list list = {0};
  bool ok = tg_engine_seeds(target, seeds, err) && tg_files_add(&list, seeds, err);
  *files = list.num;
  *bytes = 0;
  for (size_t i = 0; i < list.num; i++) {
    struct stat status;
    if (stat(list.paths[i], &status) == 0) {
      *bytes += (uint64_t)status.st_size;
    }
  }
  tg_files_free(&list);
  return ok;
}

// Runs one engine in a folder of its own, so that the corpora of others do not help it.
static bool run_engine(const struct tg_fuzz_target *target, bool afl, double seconds, const char *scratch,
                       struct tg_engine_result *out, struct tg_error *err) {
  struct tg_engine_run run = {.target = target, .seconds = seconds, .seed = SEED};
  tg_path(run.scratch, "%s/%s-%s", scratch, target->name, afl ? "afl" : "libfuzzer");
  tg_path(run.corpus, "%s/corpus", run.scratch);
  tg_path(run.findings, "%s/findings", run.scratch);
  *out = (struct tg_engine_result){0};
  return tg_files_make_folder(run.corpus, err) && tg_files_make_folder(run.findings, err) &&
         (afl ? tg_engine_afl(&run, out, err) : tg_engine_libfuzzer(&run, out, err));
}

static bool print_engines(const struct options *options, const char *scratch, bool *clean, struct tg_error *err) {
  printf("%-20s %-10s %12s %10s %8s %14s\n", "target", "engine", "executions", "exec/s", "edges", "corpus");
  for (size_t i = 0; i < tg_num_fuzz_targets; i++) {
    const struct tg_fuzz_target *target = &tg_fuzz_targets[i];
    size_t files = 0;
    uint64_t bytes = 0;
    if (!corpus_size(target, &files, &bytes, err)) {
      return false;
    }
    for (int afl = 0; afl <= 1; afl++) {
      struct tg_engine_result result;
      if (!run_engine(target, afl != 0, options->seconds, scratch, &result, err)) {
        return false;
      }
      printf("%-20s %-10s %12" PRIu64 " %10.0f %8" PRIu64 " %5zu, %3" PRIu64 " KiB%s\n", target->name,
             afl ? "afl" : "libfuzzer", result.executions, (double)result.executions / result.seconds, result.edges,
             files, (bytes + 1023) / 1024, result.finding[0] != '\0' ? "  FINDING" : "");
      fflush(stdout);
      if (result.finding[0] != '\0') {
        printf("  %s\n", result.finding);
        *clean = false;
      }
    }
  }
  return true;
}

static void print_lines(const char *name, const struct tg_coverage *coverage) {
  printf("%-20s", name);
  for (int i = 0; i < TG_COVERED_FOLDERS; i++) {
    if (coverage->lines[i] == 0) {
      printf(" %24s", "-");
      continue;
    }
    char cell[64];
    snprintf(cell, sizeof(cell), "%.1f %% (%zu of %zu)",
             100.0 * (double)coverage->covered[i] / (double)coverage->lines[i], coverage->covered[i],
             coverage->lines[i]);
    printf(" %24s", cell);
  }
  printf("\n");
  fflush(stdout);
}

static bool print_coverage(const struct options *options, const char *scratch, bool *reached, struct tg_error *err) {
  struct tg_coverage coverage;
  printf("\n%-20s %24s %24s\n", "lines covered by", tg_coverage_folder(TG_COVERED_ACCEPT),
         tg_coverage_folder(TG_COVERED_SERVER));
  for (size_t i = 0; i < tg_num_fuzz_targets; i++) {
    const struct tg_fuzz_target *target = &tg_fuzz_targets[i];
    if (!tg_coverage_run(target, scratch, err) || !tg_coverage_read(target, 1, scratch, NULL, &coverage, err)) {
      return false;
    }
    print_lines(target->name, &coverage);
  }
  char list[PATH_MAX];
  tg_path(list, "%s/uncovered.txt", options->out);
  FILE *uncovered = tg_files_make_folder(options->out, err) ? fopen(list, "we") : NULL;
  if (uncovered == NULL) {
    tg_error_set(err, "%s: cannot be written", list);
    return false;
  }
  bool ok = tg_coverage_read(tg_fuzz_targets, tg_num_fuzz_targets, scratch, uncovered, &coverage, err);
  ok = fclose(uncovered) == 0 && ok;
  if (!ok) {
    return false;
  }
  print_lines("all together", &coverage);
  const char *sources = getenv("BUILD_WORKSPACE_DIRECTORY");
  if (sources != NULL) {
    char html[PATH_MAX];
    tg_path(html, "%s/html", options->out);
    if (chdir(sources) != 0) {
      tg_error_set(err, "%s: cannot be entered", sources);
      return false;
    }
    if (!tg_coverage_html(tg_fuzz_targets, tg_num_fuzz_targets, scratch, html, err)) {
      return false;
    }
    printf("  every line: %s/index.html\n", html);
  }
  printf("  lines that none covers: %s\n", list);
  size_t lines = coverage.lines[TG_COVERED_ACCEPT];
  bool enough = lines > 0 && (double)coverage.covered[TG_COVERED_ACCEPT] >= ACCEPT_LINES_BAR * (double)lines;
  printf("  bar: %.0f %% of %s: %s\n", 100 * ACCEPT_LINES_BAR, tg_coverage_folder(TG_COVERED_ACCEPT),
         enough ? "reached" : "NOT REACHED");
  *reached = *reached && enough;
  return true;
}

static bool print_ratios(const char *scratch, bool *reached, struct tg_error *err) {
  printf("\n%-44s %10s %10s %7s %6s\n", "throughput against a bare target", "target", "bare", "ratio", "bar");
  for (size_t i = 0; i < sizeof(kRatios) / sizeof(kRatios[0]); i++) {
    const struct tg_fuzz_target *target = find(kRatios[i].target);
    const struct tg_fuzz_target *bare = find(kRatios[i].bare);
    if (target == NULL || bare == NULL) {
      tg_error_set(err, "there is no target %s", target == NULL ? kRatios[i].target : kRatios[i].bare);
      return false;
    }
    struct tg_ratio ratio;
    if (!tg_ratio_measure(target, bare, kRatios[i].unit, RATIO_ROUNDS, RATIO_SECONDS, scratch, &ratio, err)) {
      return false;
    }
    char name[64];
    snprintf(name, sizeof(name), "%s / %s, %s/s", target->name, bare->name, kRatios[i].what);
    bool enough = ratio.ratio >= kRatios[i].bar;
    printf("%-44s %10.0f %10.0f %7.2f %6.2f  %s\n", name, ratio.target, ratio.bare, ratio.ratio, kRatios[i].bar,
           enough ? "reached" : "NOT REACHED");
    fflush(stdout);
    *reached = *reached && enough;
  }
  return true;
}

static bool usage_error(struct tg_error *err, const char *what) {
  tg_error_set(err, "%s; --help lists the options", what);
  return false;
}

static bool parse(int argc, char **argv, struct options *out, bool *help, struct tg_error *err) {
  enum { SECONDS = 1, ONLY, OUT, HELP };
  static const struct option kOptions[] = {{"seconds", required_argument, NULL, SECONDS},
                                           {"only", required_argument, NULL, ONLY},
                                           {"out", required_argument, NULL, OUT},
                                           {"help", no_argument, NULL, HELP},
                                           {NULL, 0, NULL, 0}};
  *out = (struct options){.seconds = DEFAULT_SECONDS};
  tg_path_of_caller("fuzz-out/stats", out->out);
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, "", kOptions, NULL)) != -1;) {
    char *end = NULL;
    unsigned long seconds = 0;
    switch (c) {
      case SECONDS:
        seconds = strtoul(optarg, &end, 10);
        if (optarg[0] < '0' || optarg[0] > '9' || *end != '\0' || seconds == 0 || seconds > 3600) {
          return usage_error(err, "--seconds takes a whole number from 1 to 3600");
        }
        out->seconds = (unsigned)seconds;
        break;
      case ONLY:
        if (strcmp(optarg, "engines") == 0) {
          out->engines = true;
        } else if (strcmp(optarg, "coverage") == 0) {
          out->coverage = true;
        } else if (strcmp(optarg, "ratios") == 0) {
          out->ratios = true;
        } else {
          return usage_error(err, "--only takes engines, coverage or ratios");
        }
        break;
      case OUT:
        tg_path_of_caller(optarg, out->out);
        break;
      case HELP:
        *help = true;
        return true;
      default:
        return usage_error(err, "an option is unknown or lacks its value");
    }
  }
  if (optind < argc) {
    return usage_error(err, "there are no arguments");
  }
  if (!out->engines && !out->coverage && !out->ratios) {
    out->engines = out->coverage = out->ratios = true;
  }
  return true;
}

int main(int argc, char **argv) {
  struct tg_error err;
  struct options options;
  bool help = false;
  if (!parse(argc, argv, &options, &help, &err)) {
    return fail(&err);
  }
  if (help) {
    fputs(kUsage, stdout);
    return 0;
  }
  char scratch[PATH_MAX] = "/tmp/tlsgate-stats-XXXXXX";
  if (mkdtemp(scratch) == NULL) {
    tg_error_set(&err, "cannot make a folder in /tmp");
    return fail(&err);
  }
  bool reached = true;
  bool ok = (!options.engines || print_engines(&options, scratch, &reached, &err)) &&
            (!options.coverage || print_coverage(&options, scratch, &reached, &err)) &&
            (!options.ratios || print_ratios(scratch, &reached, &err));
  tg_files_remove_folder(scratch);
  if (!ok) {
    return fail(&err);
  }
  return reached ? 0 : 1;
}
