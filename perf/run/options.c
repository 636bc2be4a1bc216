#include "perf/run/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/exact/gates.h"

#define DEFAULT_BUDGET_S 90.0
#define MAX_BUDGET_S     3600.0

static const char help[] =
    "usage: gates [OPTION...]\n"
    "\n"
    "Starts the release server, loads it with real clients and judges it by the gates of baselines/gates.json.\n"
    "Before that it counts what a connection costs, which is held against baselines/exact.json (docs/exact.md).\n"
    "\n"
    "  --budget SECONDS     how long to measure at the most (default 90, 5 to 3600); a run ends when all is decided\n"
    "  --out DIR            folder for row.json, report.json, samples.json and exact.json (default: the test's "
    "undeclared "
    "outputs,\n"
    "                       else reports/<date>-<pid> in the source tree)\n"
    "  --full               enforce the recorded baseline of this host as well: baselines/hosts/LABEL.json, where "
    "LABEL\n"
    "                       is TLSGATE_PERF_HOST. Without one that was recorded on this machine the exit status is 4\n"
    "  --ratios-only        judge only ratios within the run, physics and exact gates, which hold on any machine: "
    "exit\n"
    "                       status 0 is no acceptance then\n"
    "  --evidence           exit status 0 if the report is complete, whatever its verdict: for collecting runs\n"
    "  --history FILE       read and write the log of runs in FILE as well (created if missing): carries run-to-run\n"
    "                       figures from one checkout to the next\n"
    "  --published          one round of the published suite's own commands and durations, judged by\n"
    "                       baselines/published.json (bounds of a 12-core machine)\n"
    "  --only GATE          a diagnostic: only this gate and what it is held against; may be repeated. The verdict is\n"
    "                       PARTIAL and the exit status never 0. `exact` is all exact gates (baselines/exact.json)\n"
    "  --server FILE        judge the server that FILE describes (docs/servers.md) instead of the project's own. A "
    "relative\n"
    "                       FILE is looked for in the current folder, then in the source tree. What does not apply to\n"
    "                       it is listed as left out, with the reason. Excludes --full, --published, --quickack, "
    "--fault\n"
    "  --quickack MODE      serve with rearm (default), accept or off: the last two stall, and must fail\n"
    "  --fault NAME         plant a fault: burn_cpu, dribble, serialised, throttled_plaintext, exits,\n"
    "                       rearms_in_handshake, sleeps, works\n"
    "  --quiet              no progress\n"
    "  --help               this text\n"
    "\n"
    "Exit status: 0 pass, 1 a gate or the run failed, 2 usage, 3 undecided, 4 UNENFORCED: --full, and no recorded\n"
    "baseline was enforced; a run that did establish something would have needed one, so record it, and do not drop\n"
    "--full or the label. docs/evidence.md describes the report, and what makes a run unreadable.\n"
    "With TLSGATE_UNDECIDED=report in the environment an undecided run gets its budget once more, and is then "
    "reported\n"
    "and exits 0: for shared CI machines.\n";

static bool one_of(const char *value, const char *const *values) {
  for (; *values != NULL; values++) {
    if (strcmp(value, *values) == 0) {
      return true;
    }
  }
  return false;
}

static bool parse_budget(const char *text, double *out) {
  char *end = NULL;
  errno = 0;
  *out = strtod(text, &end);
  return errno == 0 && end != text && *end == '\0' && *out >= 5 && *out <= MAX_BUDGET_S;
}

static enum tg_options_result complain(const char *what, const char *value) {
  fprintf(stderr, "gates: %s%s%s; --help lists the options\n", what, value != NULL ? " " : "",
          value != NULL ? value : "");
  return TG_OPTIONS_USAGE;
}

bool tg_options_are_genuine(const struct tg_gates_options *options) {
  return options->server == NULL && options->fault == NULL && strcmp(options->quickack, "rearm") == 0;
}

enum tg_options_result tg_gates_options_parse(struct tg_gates_options *out, int argc, char **argv) {
  static const char *const modes[] = {"rearm", "accept", "off", NULL};
  static const char *const faults[] = {
      "burn_cpu", "dribble", "serialised", "throttled_plaintext", "exits", "rearms_in_handshake",
      "sleeps",   "works",   NULL};
  static const struct option options[] = {
      {"budget", required_argument, NULL, 'b'}, {"out", required_argument, NULL, 'o'},
      {"full", no_argument, NULL, 'u'},         {"ratios-only", no_argument, NULL, 'r'},
      {"evidence", no_argument, NULL, 'e'},     {"history", required_argument, NULL, 'y'},
      {"published", no_argument, NULL, 'p'},    {"only", required_argument, NULL, 'g'},
      {"server", required_argument, NULL, 's'}, {"quickack", required_argument, NULL, 'm'},
      {"fault", required_argument, NULL, 'f'},  {"quiet", no_argument, NULL, 'q'},
      {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
  };
  *out = (struct tg_gates_options){.quickack = "rearm", .budget_s = DEFAULT_BUDGET_S, .size = TG_SIZE_SHORT};
  static char name[] = "gates";  // what getopt_long calls the program
  size_t num_only = 0;
  bool full = false;
  bool quickack = false;
  bool ratios_only = false;
  argv[0] = name;
  optind = 0;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
      case 'b':
        if (!parse_budget(optarg, &out->budget_s)) {
          return complain("--budget takes 5 to 3600 seconds, not", optarg);
        }
        break;
      case 'o':
        out->out = optarg;
        break;
      case 'u':
        full = true;
        break;
      case 'r':
        ratios_only = true;
        break;
      case 'e':
        out->evidence = true;
        break;
      case 'y':
        if (optarg[0] == '\0') {
          return complain("--history takes the name of a file", NULL);
        }
        out->history = optarg;
        break;
      case 'p':
        out->size = TG_SIZE_PUBLISHED;
        break;
      case 'g':
        if (num_only == TG_ONLY_MAX) {
          return complain("too many --only", NULL);
        }
        out->only[num_only++] = optarg;
        break;
      case 's':
        if (optarg[0] == '\0') {
          return complain("--server takes the name of a file", NULL);
        }
        out->server = optarg;
        break;
      case 'm':
        if (!one_of(optarg, modes)) {
          return complain("--quickack takes rearm, accept or off, not", optarg);
        }
        out->quickack = optarg;
        quickack = true;
        break;
      case 'f':
        if (!one_of(optarg, faults)) {
          return complain("--fault does not know", optarg);
        }
        out->fault = optarg;
        break;
      case 'q':
        out->quiet = true;
        break;
      case 'h':
        fputs(help, stdout);
        return TG_OPTIONS_DONE;
      default:  // getopt_long has said what is wrong
        fprintf(stderr, "gates: --help lists the options\n");
        return TG_OPTIONS_USAGE;
    }
  }
  if (optind < argc) {
    return complain("unexpected argument", argv[optind]);
  }
  if (out->size == TG_SIZE_PUBLISHED && (num_only > 0 || full || ratios_only)) {
    return complain("--published excludes --only, --full and --ratios-only", NULL);
  }
  for (size_t i = 0; i < num_only; i++) {
    if (strcmp(out->only[i], TG_EXACT_GROUP) == 0 && !tg_options_are_genuine(out)) {
      return complain("--only exact counts the server that ships, not one with --server, --quickack or --fault", NULL);
    }
  }
  if (out->server != NULL && (full || quickack || out->size == TG_SIZE_PUBLISHED || out->fault != NULL)) {
    return complain("--server excludes --full, --published, --quickack and --fault, which are of the project's own",
                    NULL);
  }
  if (full && ratios_only) {
    return complain("--full and --ratios-only exclude each other", NULL);
  }
  out->mode = num_only > 0 ? TG_MODE_ONLY : full ? TG_MODE_FULL : ratios_only ? TG_MODE_RATIOS_ONLY : TG_MODE_GATES;
  return TG_OPTIONS_RUN;
}
