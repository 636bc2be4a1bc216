// replay: judge one row of metrics, measured some time somewhere, against the bounds of a manifest.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/manifest/manifest.h"
#include "perf/manifest/row.h"
#include "perf/verdict/table.h"
#include "perf/verdict/verdict.h"

static const char kUsage[] =
    "usage: replay --manifest FILE [--set NAME] --row FILE_OR_NAME\n"
    "\n"
    "Judges one row of metrics by plain comparison with the bounds of a manifest.\n"
    "\n"
    "  --manifest FILE  gates and bounds, such as baselines/published.json\n"
    "  --set NAME       replace bounds by those of a named set of the manifest\n"
    "  --row NAME       a row of the manifest, or a row.json that a run wrote\n"
    "  --help           this text\n"
    "\n"
    "Exit: 0 all gates pass, 1 one fails or an input is wrong, 2 usage, 3 undecided.\n";

static int usage_error(const char *what, const char *value) {
  fprintf(stderr, "replay: %s%s; see replay --help\n", what, value);
  return 2;
}

static int input_error(const struct tg_error *err) {
  fprintf(stderr, "replay: %s\n", err->text);
  return 1;
}

static int judge(const struct tg_manifest *manifest, const struct tg_row *row) {
  struct tg_verdict *verdict = tg_verdict_replay(manifest, row);
  tg_table_print(stdout, verdict, tg_table_wants_colour(stdout));
  const int code = tg_verdict_exit_code(verdict);
  tg_verdict_free(verdict);
  if (fflush(stdout) != 0) {
    perror("replay: standard output");
    return 1;
  }
  return code;
}

static int replay(const char *manifest_file, const char *set, const char *row_name) {
  struct tg_error err;
  struct tg_manifest *manifest = tg_manifest_load(manifest_file, &err);
  if (manifest == NULL) return input_error(&err);
  int code = 0;
  const struct tg_row *row = tg_manifest_row(manifest, row_name);
  if (set != NULL && !tg_manifest_use_set(manifest, set, &err)) {
    code = input_error(&err);
  } else if (row != NULL) {
    code = judge(manifest, row);
  } else {
    struct tg_row_file *file = tg_row_load(row_name, &err);
    code = file == NULL ? input_error(&err) : judge(manifest, &file->row);
    tg_row_free(file);
  }
  tg_manifest_free(manifest);
  return code;
}

int main(int argc, char **argv) {
  static const struct option options[] = {{"manifest", required_argument, NULL, 'm'},
                                          {"set", required_argument, NULL, 's'},
                                          {"row", required_argument, NULL, 'r'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  const char *manifest = NULL;
  const char *set = NULL;
  const char *row = NULL;
  int option = 0;
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
    switch (option) {
      case 'm':
        manifest = optarg;
        break;
      case 's':
        set = optarg;
        break;
      case 'r':
        row = optarg;
        break;
      case 'h':
        fputs(kUsage, stdout);
        return 0;
      case ':':
        return usage_error("a value is missing after ", argv[optind - 1]);
      default:
        return usage_error("unknown option ", argv[optind - 1]);
    }
  }
  if (optind < argc) return usage_error("unexpected argument ", argv[optind]);
  if (manifest == NULL) return usage_error("--manifest FILE", " is required");
  if (row == NULL) return usage_error("--row FILE_OR_NAME", " is required");
  return replay(manifest, set, row);
}
