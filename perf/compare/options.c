#include "perf/compare/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/stats/bootstrap.h"

#define DEFAULT_ROUNDS   8
#define DEFAULT_BUDGET_S 300.0
#define SERIES_BUDGET_S  840.0  // a quarter of an hour with what comes on top
#define DEFAULT_ALLOW    5.0    // per cent
#define MAX_BUDGET_S     7200.0
#define MIN_ALLOW        0.1
#define MAX_ALLOW        100.0

static const char help[] =
    "usage: ab BASE CANDIDATE [OPTION...]\n"
    "       ab --series [OPTION...]\n"
    "\n"
    "Compares two server binaries: rounds in the order ABBA on the same clients, each metric's ratio with a bootstrap\n"
    "interval against the regression that is allowed. A failure that is suspected is confirmed by a second set of "
    "rounds\n"
    "before it is reported. ./tlsgate ab also takes git revisions, and builds them.\n"
    "--series instead compares the server with itself (10 times), and with itself with 5 % and 10 % more CPU a "
    "handshake\n"
    "(5 times each), and prints what came of it, in at most 15 minutes.\n"
    "\n"
    "  --allow PERCENT          how much worse the candidate may be (default 5; 0.1 to 100)\n"
    "  --rounds N               rounds of a set (default 8; 5 to 200); a round takes about 4 s\n"
    "  --budget SECONDS         no round begins after this long (default 300, of --series 840; 10 to 7200)\n"
    "  --out DIR                folder for report.json (default reports/ab-<date>-<pid> in the source tree)\n"
    "  --record FILE            also write the first set's rounds alone, for //perf/compare:error_rates_test\n"
    "  --base-commit COMMIT     what BASE was built from, for the report; --candidate-commit likewise\n"
    "  --quiet                  no progress\n"
    "  --help                   this text\n"
    "\n"
    "Exit status: 0 pass; 1 a confirmed regression, or the comparison failed; 2 usage; 3 undecided.\n"
    "Of --series: 0 if no comparison with itself failed and every one with 10 % more did; 1 if one with itself "
    "failed,\n"
    "one with 10 % more passed, or the series failed; 3 otherwise.\n";

static enum tg_compare_parsed complain(const char *what, const char *value) {
  fprintf(stderr, "ab: %s%s%s; --help lists the options\n", what, value != NULL ? " " : "", value != NULL ? value : "");
  return TG_COMPARE_WRONG;
}

static bool parse_number(const char *text, double low, double high, double *out) {
  char *end = NULL;
  errno = 0;
  *out = strtod(text, &end);
  return errno == 0 && end != text && *end == '\0' && *out >= low && *out <= high;
}

static bool is_program(const char *path) {
  struct stat there;
  return stat(path, &there) == 0 && S_ISREG(there.st_mode) && access(path, X_OK) == 0;
}

static enum tg_compare_parsed check(struct tg_compare_options *out, int num, char *const *arguments) {
  if (out->budget_s == 0) {
    out->budget_s = out->series ? SERIES_BUDGET_S : DEFAULT_BUDGET_S;
  }
  if (out->series) {
    if (num > 0) {
      return complain("--series takes no servers, not", arguments[0]);
    }
    if (out->record != NULL || out->commits[TG_BASE] != NULL || out->commits[TG_CANDIDATE] != NULL) {
      return complain("--series has neither --record nor commits", NULL);
    }
    return TG_COMPARE_GO;
  }
  if (num != TG_COMPARE_SIDES) {
    return complain("takes two servers: BASE CANDIDATE", NULL);
  }
  for (int side = 0; side < TG_COMPARE_SIDES; side++) {
    if (!is_program(arguments[side])) {
      fprintf(stderr, "ab: %s %s is not a program that can be run; give the path of a server's binary\n",
              tg_compare_side_names[side], arguments[side]);
      return TG_COMPARE_WRONG;
    }
    out->programs[side] = arguments[side];
  }
  return TG_COMPARE_GO;
}

enum tg_compare_parsed tg_compare_options_parse(struct tg_compare_options *out, int argc, char **argv) {
  static const struct option options[] = {
      {"series", no_argument, NULL, 's'},
      {"allow", required_argument, NULL, 'a'},
      {"rounds", required_argument, NULL, 'r'},
      {"budget", required_argument, NULL, 'b'},
      {"out", required_argument, NULL, 'o'},
      {"record", required_argument, NULL, 'k'},
      {"base-commit", required_argument, NULL, '1'},
      {"candidate-commit", required_argument, NULL, '2'},
      {"quiet", no_argument, NULL, 'q'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  *out = (struct tg_compare_options){.rounds = DEFAULT_ROUNDS, .allow = DEFAULT_ALLOW / 100};
  static char name[] = "ab";  // what getopt_long calls the program
  argv[0] = name;
  optind = 0;
  double number = 0;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
      case 's':
        out->series = true;
        break;
      case 'a':
        if (!parse_number(optarg, MIN_ALLOW, MAX_ALLOW, &number)) {
          return complain("--allow takes 0.1 to 100 per cent, not", optarg);
        }
        out->allow = number / 100;
        break;
      case 'r':
        if (!parse_number(optarg, TG_BOOTSTRAP_LEAST, TG_COMPARE_ROUNDS_MAX, &number) ||
            number != (double)(size_t)number) {
          return complain("--rounds takes a whole number from 5 to 200, not", optarg);
        }
        out->rounds = (size_t)number;
        break;
      case 'b':
        if (!parse_number(optarg, 10, MAX_BUDGET_S, &out->budget_s)) {
          return complain("--budget takes 10 to 7200 seconds, not", optarg);
        }
        break;
      case 'o':
        out->out = optarg;
        break;
      case 'k':
        out->record = optarg;
        break;
      case '1':
        out->commits[TG_BASE] = optarg;
        break;
      case '2':
        out->commits[TG_CANDIDATE] = optarg;
        break;
      case 'q':
        out->quiet = true;
        break;
      case 'h':
        fputs(help, stdout);
        return TG_COMPARE_HELPED;
      default:  // getopt_long has said what is wrong
        fprintf(stderr, "ab: --help lists the options\n");
        return TG_COMPARE_WRONG;
    }
  }
  return check(out, argc - optind, argv + optind);
}
