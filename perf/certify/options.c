#include "perf/certify/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/certify/certificate.h"

static void print_certify_help(void) {
  printf(
      "usage: ./tlsgate certify [--minutes M] [--out DIR]\n\n"
      "Certifies the commit that the tree is at: builds every variant, runs unit and conformance tests, replays the\n"
      "corpora, tries the fault catalogue, fuzzes for M minutes, runs the exact and the timed gates with their "
      "negative\n"
      "control, and enforces the recorded baseline of this host (TLSGATE_PERF_HOST=LABEL). The tree must be clean.\n\n"
      "  --minutes M  of fresh fuzzing, shared by all targets and both engines, 1 to %d (%d)\n"
      "  --out DIR    folder of the certificate (reports/certify-COMMIT in the source tree). A certification that was\n"
      "               interrupted goes on there; parts that failed are run again, and their failures stay listed\n"
      "  --help       print this text\n\n"
      "Leaves certificate.json, certificate.html and raw files, which ./tlsgate verify DIR checks.\n"
      "Exit status: 0 pass, 1 a part failed, 2 usage or a tree that is not clean, 3 undecided, 4 not enforced.\n",
      TG_MINUTES_MAX, TG_MINUTES_DEFAULT);
}

static void print_verify_help(void) {
  printf(
      "usage: ./tlsgate verify DIR\n\n"
      "Draws every verdict of the certificate in DIR again, from its raw files and from the certified commit, which "
      "this\n"
      "clone must have. Finds a changed file, a missing part, an edited verdict; hashes are no signature, and do not "
      "say\n"
      "who made the certificate.\n\n"
      "Exit status: 0 it verifies, whatever its verdict is, 1 something differs, 2 usage.\n");
}

// Paths are those of the caller's folder, which programs may leave.
static bool make_absolute(const char *path, char out[PATH_MAX]) {
  char here[PATH_MAX];
  if (path[0] == '/') {
    return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
  }
  return getcwd(here, sizeof(here)) != NULL && snprintf(out, PATH_MAX, "%s/%s", here, path) < PATH_MAX;
}

static bool parse_minutes(const char *text, long long *out) {
  char *end;
  errno = 0;
  *out = strtoll(text, &end, 10);
  return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *out >= 1 && *out <= TG_MINUTES_MAX;
}

int tg_certify_options_parse(struct tg_certify_options *out, int argc, char **argv) {
  static const struct option options[] = {{"minutes", required_argument, NULL, 'm'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  *out = (struct tg_certify_options){.minutes = TG_MINUTES_DEFAULT};
  optind = 1;
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (c == 'h') {
      print_certify_help();
      return 0;
    }
    if (c == '?') {
      fprintf(stderr, "certify: %s is unknown or lacks its value; --help lists the options\n", argv[optind - 1]);
      return 2;
    }
    if (c == 'm' && !parse_minutes(optarg, &out->minutes)) {
      fprintf(stderr, "certify: --minutes: \"%s\" is not a whole number from 1 to %d\n", optarg, TG_MINUTES_MAX);
      return 2;
    }
    if (c == 'o' && (optarg[0] == '\0' || !make_absolute(optarg, out->out))) {
      fprintf(stderr, "certify: --out: \"%s\" cannot be a folder\n", optarg);
      return 2;
    }
  }
  if (optind < argc) {
    fprintf(stderr, "certify: unexpected argument %s; --help lists the options\n", argv[optind]);
    return 2;
  }
  return -1;
}

int tg_verify_options_parse(char folder[PATH_MAX], int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    print_verify_help();
    return 0;
  }
  if (argc != 2 || argv[1][0] == '-' || argv[1][0] == '\0') {
    fprintf(stderr, "verify: needs the folder of a certificate and nothing else; --help says more\n");
    return 2;
  }
  if (make_absolute(argv[1], folder) && access(folder, X_OK) == 0) {
    return -1;
  }
  fprintf(stderr, "verify: %s: no such folder\n", argv[1]);
  return 2;
}
