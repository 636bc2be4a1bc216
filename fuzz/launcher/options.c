#include "fuzz/launcher/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/launcher/files.h"

#define DEFAULT_SECONDS 60u
#define SECONDS_MAX     604800u

void tg_fuzz_options_help(const char *name) {
  printf(
      "usage: %s_run [OPTION...] [FILE...]\n\n"
      "Fuzzes the target %s, or replays inputs.\n\n"
      "  --engine libfuzzer|afl  the engine (libfuzzer)\n"
      "  --timeout_secs N        fuzz for N seconds, 1 to %u (%u)\n"
      "  --corpus_dir DIR        what is found is kept here; both engines start from it and from the seeds\n"
      "                          (fuzz-out/%s/corpus in the caller's folder)\n"
      "  --summary FILE          write what came of the fuzzing to FILE, as JSON\n"
      "  --regression            replay the seeds, the regressions and DIR, or only the FILEs\n"
      "  --test                  a short run with a fixed seed that must reach the target's floors\n"
      "  --help                  print this text\n\n"
      "Exit status: 0 nothing was found, 1 a finding or a floor not reached, 2 usage or an engine that cannot run.\n",
      name, name, SECONDS_MAX, DEFAULT_SECONDS, name);
}

static bool parse_seconds(const char *text, unsigned *out, struct tg_error *err) {
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value == 0 || value > SECONDS_MAX) {
    tg_error_set(err, "--timeout_secs: \"%s\" is not a whole number from 1 to %u", text, SECONDS_MAX);
    return false;
  }
  *out = (unsigned)value;
  return true;
}

static bool parse_engine(const char *text, enum tg_fuzz_engine *out, struct tg_error *err) {
  if (strcmp(text, "libfuzzer") == 0) {
    *out = TG_ENGINE_LIBFUZZER;
  } else if (strcmp(text, "afl") == 0) {
    *out = TG_ENGINE_AFL;
  } else {
    tg_error_set(err, "--engine: \"%s\" is neither libfuzzer nor afl", text);
    return false;
  }
  return true;
}

bool tg_fuzz_options_parse(const char *name, int argc, char *const argv[], struct tg_fuzz_options *out,
                           struct tg_error *err) {
  enum { ENGINE = 1, TIMEOUT, CORPUS, SUMMARY, REGRESSION, TEST, HELP };
  static const struct option kOptions[] = {{"engine", required_argument, NULL, ENGINE},
                                           {"timeout_secs", required_argument, NULL, TIMEOUT},
                                           {"corpus_dir", required_argument, NULL, CORPUS},
                                           {"summary", required_argument, NULL, SUMMARY},
                                           {"regression", no_argument, NULL, REGRESSION},
                                           {"test", no_argument, NULL, TEST},
                                           {"help", no_argument, NULL, HELP},
                                           {NULL, 0, NULL, 0}};
  *out = (struct tg_fuzz_options){.mode = TG_MODE_FUZZ, .timeout_secs = DEFAULT_SECONDS};
  char folder[PATH_MAX];
  tg_path(folder, "fuzz-out/%s/corpus", name);
  tg_path_of_caller(folder, out->corpus_dir);
  optind = 1;
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, "", kOptions, NULL)) != -1;) {
    bool ok = true;
    switch (c) {
      case ENGINE:
        ok = parse_engine(optarg, &out->engine, err);
        break;
      case TIMEOUT:
        ok = parse_seconds(optarg, &out->timeout_secs, err);
        break;
      case CORPUS:
        if (optarg[0] == '\0') {
          tg_error_set(err, "--corpus_dir: takes a folder");
          ok = false;
          break;
        }
        tg_path_of_caller(optarg, out->corpus_dir);
        break;
      case SUMMARY:
        tg_path_of_caller(optarg, out->summary);
        break;
      case REGRESSION:
        out->mode = TG_MODE_REGRESSION;
        break;
      case TEST:
        out->mode = TG_MODE_TEST;
        break;
      case HELP:
        out->mode = TG_MODE_HELP;
        break;
      default:
        tg_error_set(err, "%s is unknown or lacks its value; --help lists the options", argv[optind - 1]);
        ok = false;
    }
    if (!ok) {
      return false;
    }
  }
  out->files = argv + optind;
  out->num_files = argc - optind;
  if (out->num_files > 0 && out->mode != TG_MODE_REGRESSION) {
    tg_error_set(err, "%s: files are only taken with --regression", argv[optind]);
    return false;
  }
  if (out->summary[0] != '\0' && out->mode != TG_MODE_FUZZ) {
    tg_error_set(err, "--summary: only a run that fuzzes has one");
    return false;
  }
  return true;
}
