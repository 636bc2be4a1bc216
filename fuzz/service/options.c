#include "fuzz/service/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"

#define SLICE_S     60.0
#define SLICE_MIN_S 1.0
#define SLICE_MAX_S 3600.0
#define DISK_MB     4096u
#define DISK_MIN_MB 64u
#define RSS_MB      2048u
#define RSS_MIN_MB  256u
#define PRUNE_HOURS 24.0
#define MINIMISE_S  60.0
#define HOURS_MAX   100000.0

static const char usage[] =
    "usage: ./tlsgate fuzzd [OPTION...]\n"
    "Fuzzes all targets until it is told to end, and keeps everything in one folder; docs/fuzzing.md says what is "
    "where.\n"
    "\n"
    "  --dir DIR            that folder (fuzz-out/fuzzd in the current one); a later run goes on where it stopped\n"
    "  --jobs N             engines at once, 1 to the number of targets (one less than there are processors)\n"
    "  --slice S            seconds that one engine runs on one target before time is shared out anew (60)\n"
    "  --engine ENGINE      libfuzzer, afl, or both (both)\n"
    "  --targets A,B        only these targets (all)\n"
    "  --hours H            end after so many hours (0: never)\n"
    "  --max-disk MIB       of DIR: beyond it corpora are pruned, and if that does not help nothing is fuzzed (4096)\n"
    "  --max-rss MIB        of one input, and of a job's processes together half as much again (2048)\n"
    "  --prune-hours H      between prunes of a corpus (24)\n"
    "  --minimise-seconds S at most, to make one finding small (60)\n"
    "  --help               print this text\n"
    "\n"
    "SIGTERM and Ctrl-C end it; everything is kept. Exit status: 0, 1 if it cannot go on, 2 usage or another fuzzd "
    "works\n"
    "in DIR.\n";

void tg_fuzzd_options_help(void) {
  fputs(usage, stdout);
}

static bool read_number(const char *option, const char *text, double low, double high, double *out,
                        struct tg_error *err) {
  char *end;
  *out = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(*out) || *out < low || *out > high) {
    tg_error_set(err, "%s: \"%s\" is not a number from %g to %g", option, text, low, high);
    return false;
  }
  return true;
}

static bool read_whole(const char *option, const char *text, unsigned low, unsigned high, unsigned *out,
                       struct tg_error *err) {
  double value;
  if (!read_number(option, text, low, high, &value, err)) {
    return false;
  }
  *out = (unsigned)value;
  if ((double)*out != value) {
    tg_error_set(err, "%s: \"%s\" is not a whole number", option, text);
    return false;
  }
  return true;
}

static bool read_engine(const char *text, struct tg_fuzzd_options *out, struct tg_error *err) {
  bool both = strcmp(text, "both") == 0;
  bool known = both;
  for (int i = 0; i < TG_FUZZD_ENGINES; i++) {
    bool named = strcmp(text, tg_fuzzd_engine_names[i]) == 0;
    out->engines[i] = both || named;
    known = known || named;
  }
  if (!known) {
    tg_error_set(err, "--engine: \"%s\" is none of libfuzzer, afl and both", text);
  }
  return known;
}

static bool read_targets(const char *text, struct tg_fuzzd_options *out, struct tg_error *err) {
  memset(out->targets, 0, sizeof(out->targets));
  for (const char *at = text;; at++) {
    size_t len = strcspn(at, ",");
    bool known = false;
    for (size_t i = 0; i < tg_num_fuzz_targets; i++) {
      if (strlen(tg_fuzz_targets[i].name) == len && strncmp(tg_fuzz_targets[i].name, at, len) == 0) {
        out->targets[i] = known = true;
      }
    }
    if (!known) {
      tg_error_set(err, "--targets: \"%.*s\" is no fuzz target", (int)len, at);
      return false;
    }
    at += len;
    if (*at == '\0') {
      return true;
    }
  }
}

static bool read_option(const char *option, const char *value, struct tg_fuzzd_options *out, struct tg_error *err) {
  if (strcmp(option, "--dir") == 0) {
    if (value[0] == '\0') {
      tg_error_set(err, "--dir: takes a folder");
      return false;
    }
    tg_path_of_caller(value, out->dir);
    return true;
  }
  if (strcmp(option, "--jobs") == 0) {
    return read_whole(option, value, 1, (unsigned)tg_num_fuzz_targets, &out->jobs, err);
  }
  if (strcmp(option, "--slice") == 0) {
    return read_number(option, value, SLICE_MIN_S, SLICE_MAX_S, &out->slice_s, err);
  }
  if (strcmp(option, "--engine") == 0) {
    return read_engine(value, out, err);
  }
  if (strcmp(option, "--targets") == 0) {
    return read_targets(value, out, err);
  }
  if (strcmp(option, "--hours") == 0) {
    return read_number(option, value, 0, HOURS_MAX, &out->hours, err);
  }
  if (strcmp(option, "--max-disk") == 0) {
    return read_whole(option, value, DISK_MIN_MB, 1u << 30, &out->max_disk_mb, err);
  }
  if (strcmp(option, "--max-rss") == 0) {
    return read_whole(option, value, RSS_MIN_MB, 1u << 30, &out->max_rss_mb, err);
  }
  if (strcmp(option, "--prune-hours") == 0) {
    return read_number(option, value, 0.001, HOURS_MAX, &out->prune_hours, err);
  }
  if (strcmp(option, "--minimise-seconds") == 0) {
    return read_number(option, value, 1, SLICE_MAX_S, &out->minimise_s, err);
  }
  tg_error_set(err, "%s is unknown; --help lists the options", option);
  return false;
}

bool tg_fuzzd_options_parse(int argc, char *const argv[], struct tg_fuzzd_options *out, struct tg_error *err) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned jobs = processors > 2 ? (unsigned)processors - 1 : 1;
  *out = (struct tg_fuzzd_options){
      .jobs = jobs < tg_num_fuzz_targets ? jobs : (unsigned)tg_num_fuzz_targets,
      .slice_s = SLICE_S,
      .engines = {true, true},
      .max_disk_mb = DISK_MB,
      .max_rss_mb = RSS_MB,
      .prune_hours = PRUNE_HOURS,
      .minimise_s = MINIMISE_S,
  };
  tg_path_of_caller("fuzz-out/fuzzd", out->dir);
  for (size_t i = 0; i < tg_num_fuzz_targets; i++) {
    out->targets[i] = true;
  }
  for (int i = 1; i < argc; i++) {
    char option[32];
    const char *equals = strchr(argv[i], '=');
    size_t len = equals != NULL ? (size_t)(equals - argv[i]) : strlen(argv[i]);
    if (strcmp(argv[i], "--help") == 0) {
      out->help = true;
      return true;
    }
    if (strncmp(argv[i], "--", 2) != 0 || len >= sizeof(option)) {
      tg_error_set(err, "unexpected argument %s; --help lists the options", argv[i]);
      return false;
    }
    (void)snprintf(option, sizeof(option), "%.*s", (int)len, argv[i]);
    if (equals == NULL && i + 1 == argc) {
      tg_error_set(err, "%s needs a value", option);
      return false;
    }
    if (!read_option(option, equals != NULL ? equals + 1 : argv[++i], out, err)) {
      return false;
    }
  }
  return true;
}
