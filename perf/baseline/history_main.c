// Adds a judged run to the history of its CPU model. `history --help` and docs/baselines.md say more.
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/baseline/history_update.h"
#include "perf/process/runfiles.h"

static const char help[] =
    "usage: history update [OPTION...] REPORT\n"
    "\n"
    "Adds the run of REPORT (a report.json, so judged already) to baselines/history/CPU-MODEL.json: the row of a run "
    "that\n"
    "passed joins the medians, one that failed or was undecided is kept apart with its label. Once five rows of a CPU\n"
    "model have passed, `gates` judges each metric also against their median.\n"
    "\n"
    "  --factor F           how many times worse than the median passes (above 1, at most 10; 1.5 where nothing is "
    "set)\n"
    "  --factor METRIC=F    the same for one metric\n"
    "  --history DIR        folder of the histories (default: baselines/history)\n"
    "  --help               this text\n"
    "\n"
    "Exit status: 0 added, or there already; 1 refused or failed with the old file untouched; 2 usage.\n";

enum parsed { PARSED_RUN, PARSED_DONE, PARSED_USAGE };

struct options {
  const char *folder;
  const char *report;
  double factor;
  struct tg_history_value factors[TG_GATES_MAX];
  size_t num_factors;
};

static enum parsed complain(const char *what, const char *value) {
  fprintf(stderr, "history: %s%s%s; --help lists the options\n", what, value != NULL ? " " : "",
          value != NULL ? value : "");
  return PARSED_USAGE;
}

// `text` is F or METRIC=F; it is cut.
static bool add_factor(struct options *out, char *text) {
  char *equals = strchr(text, '=');
  const char *number = equals != NULL ? equals + 1 : text;
  char *end = NULL;
  errno = 0;
  const double factor = strtod(number, &end);
  if (errno != 0 || end == number || *end != '\0' ||
      !(factor >= TG_HISTORY_FACTOR_MIN && factor <= TG_HISTORY_FACTOR_MAX)) {
    return false;
  }
  if (equals == NULL) {
    out->factor = factor;
    return true;
  }
  *equals = '\0';
  if (out->num_factors == TG_GATES_MAX) {
    return false;
  }
  out->factors[out->num_factors++] = (struct tg_history_value){.name = text, .value = factor};
  return true;
}

static enum parsed parse(struct options *out, int argc, char **argv) {
  static const struct option options[] = {
      {"factor", required_argument, NULL, 'f'},
      {"history", required_argument, NULL, 'H'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  static char name[] = "history";  // what getopt_long calls the program
  *out = (struct options){.folder = NULL};
  argv[0] = name;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
      case 'f':
        if (!add_factor(out, optarg)) {
          return complain("--factor takes F or METRIC=F, 1.01 to 10, not", optarg);
        }
        break;
      case 'H':
        out->folder = optarg;
        break;
      case 'h':
        fputs(help, stdout);
        return PARSED_DONE;
      default:  // getopt_long has said what is wrong
        fprintf(stderr, "history: --help lists the options\n");
        return PARSED_USAGE;
    }
  }
  if (optind == argc || strcmp(argv[optind], "update") != 0) {
    return complain("the one thing to do is update, not", optind < argc ? argv[optind] : "nothing");
  }
  if (argc - optind != 2) {
    return complain("update takes one REPORT", NULL);
  }
  out->report = argv[optind + 1];
  return PARSED_RUN;
}

static bool update(const struct options *options, const char *folder, struct tg_error *err) {
  char file[PATH_MAX];
  if (!tg_runfile("baselines/gates.json", file, err)) {
    return false;
  }
  struct tg_manifest *manifest = tg_manifest_load(file, err);
  struct tg_report *report = manifest == NULL ? NULL : tg_report_load(options->report, err);
  bool ok = report != NULL;
  for (size_t i = 0; ok && i < options->num_factors; i++) {
    ok = tg_manifest_gate(manifest, options->factors[i].name) != NULL;
    if (!ok) {
      tg_error_set(err, "--factor %.60s: %s has no metric of that name", options->factors[i].name, file);
    }
  }
  if (ok) {
    struct tg_history_request request = {.folder = folder,
                                         .manifest = manifest,
                                         .report = report,
                                         .factor = options->factor,
                                         .num_factors = options->num_factors};
    memcpy(request.factors, options->factors, sizeof(request.factors));
    ok = tg_history_update(&request, stdout, err);
  }
  tg_report_free(report);
  tg_manifest_free(manifest);
  return ok;
}

int main(int argc, char **argv) {
  struct options options;
  const enum parsed parsed = parse(&options, argc, argv);
  if (parsed != PARSED_RUN) {
    return parsed == PARSED_DONE ? EXIT_SUCCESS : TG_EXIT_USAGE;
  }
  char folder[PATH_MAX];
  if (options.folder != NULL) {
    (void)snprintf(folder, sizeof(folder), "%s", options.folder);
  } else {
    char workspace[PATH_MAX];
    if (!tg_workspace("baselines/gates.json", workspace)) {
      fprintf(stderr, "history: the source tree cannot be found; give --history DIR\n");
      return EXIT_FAILURE;
    }
    (void)snprintf(folder, sizeof(folder), "%.3900s/baselines/history", workspace);
  }
  struct tg_error err;
  if (!update(&options, folder, &err)) {
    (void)fflush(stdout);
    fprintf(stderr, "history: %s\n", err.text);
    return EXIT_FAILURE;
  }
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
