// Records the baseline of this host. `record --help` and docs/baselines.md say more.
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perf/baseline/deposit.h"
#include "perf/baseline/record.h"
#include "perf/baseline/series.h"
#include "perf/baseline/tree.h"
#include "perf/process/runfiles.h"
#include "perf/report/run_log.h"

static const char help[] =
    "usage: record [OPTION...] [REPORT...]\n"
    "       record --series N [--gap SECONDS] [OPTION...]\n"
    "\n"
    "Records baselines/hosts/LABEL.json: the median of every row over at least three distinct readable runs of the\n"
    "current clean revision in one environment. The runs are the REPORTs (report.json of `gates --full`), those of a\n"
    "series that it measures, or, with neither, the deposited runs since the series was started.\n"
    "\n"
    "  --host LABEL         of this host (default: TLSGATE_PERF_HOST)\n"
    "  --series N           measure N times (3 to 64) and record these\n"
    "  --gap SECONDS        idle time between two runs of a series (default 180, 0 to 3600)\n"
    "  --fresh-samples      start a new series of deposited runs; without --series nothing is recorded. What is\n"
    "                       deposited stays in the window that allowances come from\n"
    "  --disable ROW=WHY    record the row as null: its bound is deliberately disabled\n"
    "  --enable ROW         record a disabled row again\n"
    "  --narrow ROW         take the allowance that history gives, though it is narrower than the carried one\n"
    "  --deposits DIR       folder of the deposited runs (default: reports/deposits)\n"
    "  --baselines DIR      folder of the baselines (default: baselines/hosts)\n"
    "  --gates PROGRAM      that a series measures with (default: the gates of this build)\n"
    "  --tree DIR           the source tree that the runs were built from (default: that of this build)\n"
    "  --help               this text\n"
    "\n"
    "Exit status: 0 recorded (or a series started), 1 refused or failed with the old file untouched, 2 usage.\n";

struct options {
  const char *host;
  const char *deposits;
  const char *baselines;
  const char *gates;
  const char *tree;
  size_t series;  // 0: none
  unsigned gap_s;
  bool gap_given;
  bool fresh;
  struct tg_record_wish wishes[TG_RECORD_WISHES_MAX];
  size_t num_wishes;
  char **reports;
  size_t num_reports;
};

enum parsed { PARSED_RUN, PARSED_DONE, PARSED_USAGE };

static enum parsed complain(const char *what, const char *value) {
  fprintf(stderr, "record: %s%s%s; --help lists the options\n", what, value != NULL ? " " : "",
          value != NULL ? value : "");
  return PARSED_USAGE;
}

static bool parse_count(const char *text, unsigned long low, unsigned long high, unsigned long *out) {
  char *end = NULL;
  errno = 0;
  *out = strtoul(text, &end, 10);
  return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && *out >= low && *out <= high;
}

// `text` is ROW, or ROW=WHY to disable; it is cut.
static bool add_wish(struct options *out, enum tg_wish kind, char *text) {
  char *equals = strchr(text, '=');
  const bool has_reason = equals != NULL && equals[1 + strspn(equals + 1, " ")] != '\0';
  if (out->num_wishes == TG_RECORD_WISHES_MAX || has_reason != (kind == TG_WISH_DISABLE)) {
    return false;
  }
  if (equals != NULL) {
    *equals = '\0';
  }
  out->wishes[out->num_wishes++] =
      (struct tg_record_wish){.kind = kind, .row = text, .why = has_reason ? equals + 1 : NULL};
  return true;
}

static enum parsed parse(struct options *out, int argc, char **argv) {
  static const struct option options[] = {
      {"host", required_argument, NULL, 'H'},
      {"series", required_argument, NULL, 's'},
      {"gap", required_argument, NULL, 'g'},
      {"fresh-samples", no_argument, NULL, 'f'},
      {"disable", required_argument, NULL, 'd'},
      {"enable", required_argument, NULL, 'e'},
      {"narrow", required_argument, NULL, 'n'},
      {"deposits", required_argument, NULL, 'D'},
      {"baselines", required_argument, NULL, 'B'},
      {"gates", required_argument, NULL, 'G'},
      {"tree", required_argument, NULL, 'T'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  static char name[] = "record";  // what getopt_long calls the program
  *out = (struct options){.host = getenv("TLSGATE_PERF_HOST"), .gap_s = TG_SERIES_GAP_S};
  unsigned long number = 0;
  argv[0] = name;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
      case 'H':
        out->host = optarg;
        break;
      case 's':
        if (!parse_count(optarg, TG_SAMPLES_MIN, TG_RECORDED_RUNS_MAX, &number)) {
          return complain("--series takes 3 to 64 runs, not", optarg);
        }
        out->series = number;
        break;
      case 'g':
        if (!parse_count(optarg, 0, TG_SERIES_GAP_MAX_S, &number)) {
          return complain("--gap takes 0 to 3600 seconds, not", optarg);
        }
        out->gap_s = (unsigned)number;
        out->gap_given = true;
        break;
      case 'f':
        out->fresh = true;
        break;
      case 'd':
        if (!add_wish(out, TG_WISH_DISABLE, optarg)) {
          return complain("--disable takes ROW=WHY, not", optarg);
        }
        break;
      case 'e':
      case 'n':
        if (!add_wish(out, option == 'e' ? TG_WISH_ENABLE : TG_WISH_NARROW, optarg)) {
          return complain("--enable and --narrow take a ROW, not", optarg);
        }
        break;
      case 'D':
        out->deposits = optarg;
        break;
      case 'B':
        out->baselines = optarg;
        break;
      case 'G':
        out->gates = optarg;
        break;
      case 'T':
        out->tree = optarg;
        break;
      case 'h':
        fputs(help, stdout);
        return PARSED_DONE;
      default:  // getopt_long has said what is wrong
        fprintf(stderr, "record: --help lists the options\n");
        return PARSED_USAGE;
    }
  }
  out->reports = argv + optind;
  out->num_reports = (size_t)(argc - optind);
  if (out->series > 0 && out->num_reports > 0) {
    return complain("a series measures its own reports; leave out", out->reports[0]);
  }
  if (out->gap_given && out->series == 0) {
    return complain("--gap is that of a series; give --series as well", NULL);
  }
  if (out->fresh && out->num_reports > 0) {
    return complain("--fresh-samples is about deposited runs; leave out", out->reports[0]);
  }
  if ((out->host == NULL || out->host[0] == '\0') && (!out->fresh || out->series > 0)) {
    return complain("no label; set TLSGATE_PERF_HOST, or give --host LABEL", NULL);
  }
  return PARSED_RUN;
}

// Reports that were loaded for this recording. Deposits are not among them.
struct loaded {
  struct tg_report **reports;
  size_t num;
};

static bool load(struct loaded *out, const char *path, struct tg_error *err) {
  struct tg_report *report = tg_report_load(path, err);
  if (report == NULL) {
    return false;
  }
  out->reports[out->num++] = report;
  return true;
}

static bool measure(struct loaded *out, const struct options *options, const char *workspace, struct tg_error *err) {
  char program[PATH_MAX];
  char folder[PATH_MAX];
  char date[32];
  if (options->gates != NULL) {
    (void)snprintf(program, sizeof(program), "%s", options->gates);
  } else if (!tg_runfile("perf/gates_run", program, err)) {
    return false;
  }
  const time_t now = time(NULL);
  struct tm utc;
  (void)gmtime_r(&now, &utc);
  (void)strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &utc);
  (void)snprintf(folder, sizeof(folder), "%.3900s/reports", workspace);
  struct tg_run_series series = {
      .program = program, .folder = folder, .label = options->host, .runs = options->series, .gap_s = options->gap_s};
  char(*paths)[PATH_MAX] = calloc(options->series, sizeof(*paths));
  if (paths == NULL) {
    tg_error_set(err, "out of memory");
    return false;
  }
  (void)snprintf(folder, sizeof(folder), "%.3900s/reports/series-%s-%ld", workspace, date, (long)getpid());
  bool ok = tg_run_series_measure(&series, paths, err);
  for (size_t i = 0; ok && i < options->series; i++) {
    ok = load(out, paths[i], err);
  }
  free(paths);
  return ok;
}

static bool record_from(const struct loaded *samples, const struct tg_deposits *deposits, const struct options *options,
                        const char *commit, const char *baselines, struct tg_error *err) {
  char manifest_file[PATH_MAX];
  char date[32];
  if (!tg_runfile("baselines/gates.json", manifest_file, err)) {
    return false;
  }
  struct tg_manifest *manifest = tg_manifest_load(manifest_file, err);
  if (manifest == NULL) {
    return false;
  }
  tg_time_text(date);
  struct tg_record_request request = {.folder = baselines,
                                      .label = options->host,
                                      .revision = commit,
                                      .date = date,
                                      .manifest = manifest,
                                      .reports = samples->reports,
                                      .num_reports = samples->num,
                                      .deposits = deposits->reports,
                                      .num_deposits = deposits->num,
                                      .num_wishes = options->num_wishes};
  memcpy(request.wishes, options->wishes, sizeof(request.wishes));
  const bool ok = tg_record(&request, stdout, err);
  tg_manifest_free(manifest);
  return ok;
}

// Takes the deposited runs of the revision since the series was started. They stay the deposits'.
static bool take_deposits(struct loaded *out, const struct tg_deposits *deposits, const char *folder,
                          const char *commit, struct tg_error *err) {
  char started[32];
  if (!tg_series_started(started, folder, err)) {
    return false;
  }
  for (size_t i = 0; i < deposits->num; i++) {
    const struct tg_report *run = deposits->reports[i];
    const bool of_revision = run->environment.commit != NULL && strcmp(run->environment.commit, commit) == 0;
    if (of_revision && strcmp(run->start, started) >= 0) {
      out->reports[out->num++] = deposits->reports[i];
    }
  }
  return true;
}

static bool record(const struct options *options, const char *workspace, const char *folder, const char *baselines,
                   struct tg_error *err) {
  char commit[72];
  struct tg_deposits deposits = {.num = 0};
  const bool from_deposits = options->series == 0 && options->num_reports == 0;
  const size_t room = TG_DEPOSITS_MAX + options->num_reports + options->series;
  struct loaded samples = {.reports = calloc(room, sizeof(struct tg_report *))};
  bool ok = samples.reports != NULL && tg_tree_clean_commit(commit, workspace, err);
  if (ok && options->series > 0) {
    ok = measure(&samples, options, workspace, err);
  }
  for (size_t i = 0; ok && i < options->num_reports; i++) {
    ok = load(&samples, options->reports[i], err);
  }
  ok = ok && tg_deposits_read(&deposits, folder, err);
  for (size_t i = 0; ok && i < deposits.num_problems; i++) {
    printf("not looked at: %s\n", deposits.problems[i]);
  }
  if (ok && from_deposits) {
    ok = take_deposits(&samples, &deposits, folder, commit, err);
  }
  ok = ok && record_from(&samples, &deposits, options, commit, baselines, err);
  for (size_t i = 0; i < samples.num && !from_deposits; i++) {
    tg_report_free(samples.reports[i]);
  }
  free((void *)samples.reports);
  tg_deposits_release(&deposits);
  return ok;
}

int main(int argc, char **argv) {
  struct options options;
  const enum parsed parsed = parse(&options, argc, argv);
  if (parsed != PARSED_RUN) {
    return parsed == PARSED_DONE ? EXIT_SUCCESS : TG_EXIT_USAGE;
  }
  char workspace[PATH_MAX];
  char deposits[PATH_MAX];
  char baselines[PATH_MAX];
  struct tg_error err;
  if (options.tree != NULL) {
    (void)snprintf(workspace, sizeof(workspace), "%s", options.tree);
  } else if (!tg_workspace("baselines/gates.json", workspace)) {
    fprintf(stderr, "record: the source tree cannot be found; name it with --tree\n");
    return EXIT_FAILURE;
  }
  (void)snprintf(deposits, sizeof(deposits), "%.3900s/%s", workspace, TG_DEPOSITS_FOLDER);
  (void)snprintf(baselines, sizeof(baselines), "%.3900s/baselines/hosts", workspace);
  const char *folder = options.deposits != NULL ? options.deposits : deposits;
  const char *to = options.baselines != NULL ? options.baselines : baselines;
  if (options.fresh) {
    if (!tg_series_start(folder, &err)) {
      fprintf(stderr, "record: %s\n", err.text);
      return EXIT_FAILURE;
    }
    printf("a new series of samples begins now; the window of history in %s stays as it is\n", folder);
    if (options.series == 0) {
      return EXIT_SUCCESS;
    }
  }
  if (!record(&options, workspace, folder, to, &err)) {
    (void)fflush(stdout);
    fprintf(stderr, "record: %s\nrecord: nothing was recorded\n", err.text);
    return EXIT_FAILURE;
  }
  printf(
      "recorded %s/%s.json. That changes no verdict: commit it, then a fresh full run must exit 0 with \"enforced\": "
      "true:\n    TLSGATE_PERF_HOST=%s ./tlsgate gates --full\n",
      to, options.host, options.host);
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
