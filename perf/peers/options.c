#include "perf/peers/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROUNDS  5
#define DEFAULT_WORKERS 2
#define MOST_WORKERS    1024

static const char *const shipped[] = {"own", "nginx", "haproxy", "h2o", "lighttpd", "openssl"};
#define NUM_SHIPPED (sizeof(shipped) / sizeof(shipped[0]))

static const char help[] =
    "usage: compare [OPTION...] [SERVER...]\n"
    "\n"
    "Compares servers in interleaved rounds with one certificate: latency, throughput, the server's CPU for a "
    "handshake,\n"
    "a request and a MiB, memory and CPU at rest, system calls. A SERVER is a name (own, nginx, haproxy, h2o, "
    "lighttpd,\n"
    "openssl; without any, all of them) or the file of a description (perf/servers/*.json, docs/servers.md), with a / "
    "in\n"
    "it. Servers that are not installed are named and skipped.\n"
    "\n"
    "  --rounds N        1 to 50 (default 5; fewer decide no bar). A round of one server takes some 15 s\n"
    "  --only WORKLOAD   only this one; may be repeated\n"
    "  --list            names the workloads, and no more\n"
    "  --workers N       threads or processes of each server (default 2)\n"
    "  --bars            a bar that is not reached or not measured is exit status 1\n"
    "  --out DIR         folder for report.json and compare.html (default reports/compare-<date>-<pid> in the source\n"
    "                    tree)\n"
    "  --quiet           no progress\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 compared; 1 nothing could be compared or reported (with --bars: or a bar is not reached); 2 "
    "usage;\n"
    "3 undecided: a series could not be read. docs/performance.md says how each figure is measured.\n";

static enum tg_peers_parsed complain(const char *what, const char *value) {
  fprintf(stderr, "compare: %s%s%s; --help lists the options\n", what, value != NULL ? " " : "",
          value != NULL ? value : "");
  return TG_PEERS_WRONG;
}

static bool parse_count(const char *text, long low, long high, long *out) {
  char *end = NULL;
  errno = 0;
  *out = strtol(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && *out >= low && *out <= high;
}

static bool want(struct tg_peers_options *out, const char *name) {
  for (int i = 0; i < TG_PEERS_WORKLOADS; i++) {
    if (strcmp(tg_peers_workload_name((enum tg_peers_workload)i), name) == 0) {
      out->wanted[i] = true;
      return true;
    }
  }
  return false;
}

static void list(void) {
  for (int i = 0; i < TG_PEERS_WORKLOADS; i++) {
    printf("%-10s %s\n", tg_peers_workload_name((enum tg_peers_workload)i),
           tg_peers_workload_what((enum tg_peers_workload)i));
  }
}

static bool is_shipped(const char *name) {
  bool found = false;
  for (size_t i = 0; i < NUM_SHIPPED; i++) {
    found = found || strcmp(shipped[i], name) == 0;
  }
  return found;
}

static enum tg_peers_parsed take_servers(struct tg_peers_options *out, char *const *names, size_t num) {
  for (size_t i = 0; i < num; i++) {
    if (strchr(names[i], '/') == NULL && !is_shipped(names[i])) {
      return complain("a server is own, nginx, haproxy, h2o, lighttpd, openssl, or a file with a / in it, not",
                      names[i]);
    }
    if (i == TG_PEERS_SERVERS_MAX) {
      return complain("at most 16 servers are compared", NULL);
    }
    for (size_t j = 0; j < i; j++) {
      if (strcmp(names[i], names[j]) == 0) {
        return complain("named twice:", names[i]);
      }
    }
    out->servers[out->num_servers++] = names[i];
  }
  for (size_t i = 0; num == 0 && i < NUM_SHIPPED; i++) {
    out->servers[out->num_servers++] = shipped[i];
  }
  return TG_PEERS_GO;
}

enum tg_peers_parsed tg_peers_options_parse(struct tg_peers_options *out, int argc, char **argv) {
  static const struct option options[] = {
      {"rounds", required_argument, NULL, 'r'},
      {"only", required_argument, NULL, 'p'},
      {"list", no_argument, NULL, 'l'},
      {"workers", required_argument, NULL, 'w'},
      {"bars", no_argument, NULL, 'b'},
      {"out", required_argument, NULL, 'o'},
      {"quiet", no_argument, NULL, 'q'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  *out = (struct tg_peers_options){.rounds = DEFAULT_ROUNDS, .workers = DEFAULT_WORKERS};
  static char name[] = "compare";  // what getopt_long calls the program
  argv[0] = name;
  optind = 0;
  bool some = false;
  long number = 0;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
      case 'r':
        if (!parse_count(optarg, 1, TG_PEERS_ROUNDS_MAX, &number)) {
          return complain("--rounds takes 1 to 50, not", optarg);
        }
        out->rounds = (size_t)number;
        break;
      case 'p':
        if (!want(out, optarg)) {
          return complain("--only: --list names the workloads, and none is", optarg);
        }
        some = true;
        break;
      case 'l':
        list();
        return TG_PEERS_DONE;
      case 'w':
        if (!parse_count(optarg, 1, MOST_WORKERS, &number)) {
          return complain("--workers takes 1 to 1024, not", optarg);
        }
        out->workers = (int)number;
        break;
      case 'b':
        out->bars = true;
        break;
      case 'o':
        out->out = optarg;
        break;
      case 'q':
        out->quiet = true;
        break;
      case 'h':
        fputs(help, stdout);
        return TG_PEERS_DONE;
      default:  // getopt_long has said what is wrong
        fprintf(stderr, "compare: --help lists the options\n");
        return TG_PEERS_WRONG;
    }
  }
  for (size_t i = 0; !some && i < TG_PEERS_WORKLOADS; i++) {
    out->wanted[i] = true;
  }
  return take_servers(out, argv + optind, (size_t)(argc - optind));
}
