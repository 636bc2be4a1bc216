#include "perf/probe/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT_S     15.0
#define DEFAULT_SETTLE_S    10.0
#define DEFAULT_CONNECTIONS 2000
#define DEFAULT_WORKERS     2
#define MOST_S              600.0
#define MOST_CONNECTIONS    20000
#define MOST_WORKERS        1024

static const char help[] =
    "usage: probe [OPTION...]\n"
    "\n"
    "Starts a server and misbehaves towards it, one bounded probe after another: does it stay alive, are other "
    "clients\n"
    "served within a second meanwhile, and are threads, descriptors, memory and CPU back where they were afterwards?\n"
    "\n"
    "  --server FILE     description of the server (perf/servers/*.json, docs/servers.md; default: the project's own)\n"
    "  --only PROBE      only this one; may be repeated\n"
    "  --list            names the probes, and no more\n"
    "  --limit SECONDS   how long a probe waits for a deadline of the server's that the description does not promise\n"
    "                    (default 15; 1 to 600)\n"
    "  --settle SECONDS  how long the server has to be back where it was (default 10; 1 to 600)\n"
    "  --connections N   of silent_connections (default 2000; 10 to 20000)\n"
    "  --workers N       threads or processes of the server, as its description uses them (default 2)\n"
    "  --out DIR         folder for report.json (default reports/probe-<date>-<pid> in the source tree)\n"
    "  --quiet           no progress\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 all passed; 1 a probe failed, or there is no report; 2 usage; 3 undecided. docs/servers.md says\n"
    "what each probe does, what it is held to, and how to describe a server.\n";

static enum tg_probe_parsed complain(const char *what, const char *value) {
  fprintf(stderr, "probe: %s%s%s; --help lists the options\n", what, value != NULL ? " " : "",
          value != NULL ? value : "");
  return TG_PROBE_WRONG;
}

static bool parse_number(const char *text, double low, double high, double *out) {
  char *end = NULL;
  errno = 0;
  *out = strtod(text, &end);
  return errno == 0 && end != text && *end == '\0' && *out >= low && *out <= high;
}

static bool parse_count(const char *text, double low, double high, double *out) {
  return parse_number(text, low, high, out) && *out == (double)(long)*out;
}

static bool want(struct tg_probe_options *out, const char *name) {
  size_t num = 0;
  const struct tg_probe *probes = tg_probes(&num);
  for (size_t i = 0; i < num; i++) {
    if (strcmp(probes[i].name, name) == 0) {
      out->wanted[i] = true;
      return true;
    }
  }
  return false;
}

static void list(void) {
  size_t num = 0;
  const struct tg_probe *probes = tg_probes(&num);
  for (size_t i = 0; i < num; i++) {
    printf("%-22s %s\n", probes[i].name, probes[i].what);
  }
}

enum tg_probe_parsed tg_probe_options_parse(struct tg_probe_options *out, int argc, char **argv) {
  static const struct option options[] = {
      {"server", required_argument, NULL, 's'},
      {"only", required_argument, NULL, 'p'},
      {"list", no_argument, NULL, 'l'},
      {"limit", required_argument, NULL, 't'},
      {"settle", required_argument, NULL, 'e'},
      {"connections", required_argument, NULL, 'c'},
      {"workers", required_argument, NULL, 'w'},
      {"out", required_argument, NULL, 'o'},
      {"quiet", no_argument, NULL, 'q'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  *out = (struct tg_probe_options){.limit_s = DEFAULT_LIMIT_S,
                                   .settle_s = DEFAULT_SETTLE_S,
                                   .connections = DEFAULT_CONNECTIONS,
                                   .workers = DEFAULT_WORKERS};
  static char name[] = "probe";  // what getopt_long calls the program
  argv[0] = name;
  optind = 0;
  bool some = false;
  double number = 0;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
      case 's':
        out->server = optarg;
        break;
      case 'p':
        if (!want(out, optarg)) {
          return complain("--only: --list names the probes, and none is", optarg);
        }
        some = true;
        break;
      case 'l':
        list();
        return TG_PROBE_DONE;
      case 't':
        if (!parse_number(optarg, 1, MOST_S, &out->limit_s)) {
          return complain("--limit takes 1 to 600 seconds, not", optarg);
        }
        break;
      case 'e':
        if (!parse_number(optarg, 1, MOST_S, &out->settle_s)) {
          return complain("--settle takes 1 to 600 seconds, not", optarg);
        }
        break;
      case 'c':
        if (!parse_count(optarg, 10, MOST_CONNECTIONS, &number)) {
          return complain("--connections takes 10 to 20000, not", optarg);
        }
        out->connections = (size_t)number;
        break;
      case 'w':
        if (!parse_count(optarg, 1, MOST_WORKERS, &number)) {
          return complain("--workers takes 1 to 1024, not", optarg);
        }
        out->workers = (int)number;
        break;
      case 'o':
        out->out = optarg;
        break;
      case 'q':
        out->quiet = true;
        break;
      case 'h':
        fputs(help, stdout);
        return TG_PROBE_DONE;
      default:  // getopt_long has said what is wrong
        fprintf(stderr, "probe: --help lists the options\n");
        return TG_PROBE_WRONG;
    }
  }
  if (optind < argc) {
    return complain("unexpected argument", argv[optind]);
  }
  for (size_t i = 0; !some && i < TG_PROBES_MAX; i++) {
    out->wanted[i] = true;
  }
  return TG_PROBE_GO;
}
