// Writes the seeds of the targets that drive the accept path, or says where those that are there differ.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/launcher/files.h"
#include "fuzz/record/exchange.h"
#include "fuzz/record/requests.h"
#include "fuzz/record/seeds.h"
#include "fuzz/record/tape.h"
#include "fuzz/world/world.h"

// Bazel starts programs and tests in the tree of their runfiles.
#define EXCHANGES "fuzz/record/exchanges"

static const char kUsage[] =
    "usage: record [--out DIR] [--exchanges DIR] [--check]\n\n"
    "Records the seeds of accept_schedule, teardown_schedule, exhaustion, handshake_bytes and request_bytes from the\n"
    "exchanges in fuzz/record/exchanges and the requests in fuzz/record/requests.c.\n\n"
    "  --out DIR        the folder with a folder for each target (the workspace's corpora)\n"
    "  --exchanges DIR  the folder with the exchanges (those that it was built with)\n"
    "  --check          write nothing: name each file in DIR that differs, is missing, or is not recorded any more\n"
    "  --help           print this text\n\n"
    "Exit status: 0 done, 1 a difference or an exchange that cannot be recorded, 2 usage.\n";

struct options {
  char folder[PATH_MAX];
  char exchanges[PATH_MAX];
  bool check;
};

// Returns the exit status if the program is to end, else -1.
static int parse(int argc, char **argv, struct options *out) {
  enum { OUT = 1, EXCHANGES_DIR, CHECK, HELP };
  static const struct option kOptions[] = {{"out", required_argument, NULL, OUT},
                                           {"exchanges", required_argument, NULL, EXCHANGES_DIR},
                                           {"check", no_argument, NULL, CHECK},
                                           {"help", no_argument, NULL, HELP},
                                           {NULL, 0, NULL, 0}};
  *out = (struct options){.exchanges = EXCHANGES};
  for (int c; (c = getopt_long(argc, argv, "", kOptions, NULL)) != -1;) {
    switch (c) {
      case OUT:
        tg_path_of_caller(optarg, out->folder);
        break;
      case EXCHANGES_DIR:
        tg_path_of_caller(optarg, out->exchanges);
        break;
      case CHECK:
        out->check = true;
        break;
      case HELP:
        fputs(kUsage, stdout);
        return 0;
      default:
        fputs(kUsage, stderr);
        return 2;
    }
  }
  if (optind < argc) {
    fputs(kUsage, stderr);
    return 2;
  }
  const char *workspace = getenv("BUILD_WORKSPACE_DIRECTORY");
  if (out->folder[0] == '\0' && workspace == NULL) {
    fprintf(stderr, "record: not started by `bazel run`, so say where the corpora are: --out DIR\n");
    return 2;
  }
  if (out->folder[0] == '\0') {
    tg_path(out->folder, "%s/corpora", workspace);
  }
  return -1;
}

static bool record_exchanges(const char *folder, struct tg_seeds *seeds, struct tg_error *err) {
  struct tg_file_list files = {.paths = NULL};
  bool ok = tg_files_add(&files, folder, err);
  if (ok && files.num == 0) {
    tg_error_set(err, "%s: no exchange is there: start the program with Bazel, or give --exchanges DIR", folder);
    ok = false;
  }
  for (size_t i = 0; ok && i < files.num; i++) {
    struct tg_exchange exchange;
    ok = tg_exchange_read(files.paths[i], &exchange, err);
    ok = ok && tg_tape_record(&exchange, seeds, err);
    // If the next one breaks a property, the process ends.
    fflush(stdout);
  }
  tg_files_free(&files);
  return ok;
}

static int finish(const struct options *options, const struct tg_seeds *seeds, struct tg_error *err) {
  size_t written = 0;
  if (!options->check && !tg_seeds_write(seeds, options->folder, &written, err)) {
    return -1;
  }
  const int differences = tg_seeds_differences(seeds, options->folder, err);
  if (differences >= 0) {
    printf("%zu seeds, %zu written, %d differences from %s\n", seeds->num, written, differences, options->folder);
  }
  return differences;
}

int main(int argc, char **argv) {
  struct options options;
  const int status = parse(argc, argv, &options);
  if (status >= 0) {
    return status;
  }
  struct tg_seeds seeds = {.all = NULL};
  struct tg_error err;
  tg_world_init();
  int differences = -1;
  if (record_exchanges(options.exchanges, &seeds, &err) && tg_requests_record(&seeds, &err)) {
    differences = finish(&options, &seeds, &err);
  }
  if (differences < 0) {
    fprintf(stderr, "record: %s\n", err.text);
  }
  tg_seeds_free(&seeds);
  return differences == 0 ? 0 : 1;
}
