// https_server: see --help.
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/server/counters_json.h"
#include "harness/server/options.h"
#include "harness/server/server.h"

#define EXIT_USAGE 2

// A descriptor of these that is closed would go to the next file that is opened: a socket would be given the server's
// output. In place of standard output comes one that cannot be written, so that its absence shows: the ready line is
// how the ports are known.
static bool fill_standard_descriptors(void) {
  static const int flags[] = {[STDIN_FILENO] = O_RDONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    // open(2) returns the lowest that is free.
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd) {
      return false;
    }
  }
  return true;
}

static int refuse(const struct tg_error *err) {
  fprintf(stderr, "https_server: %s\n", err->text);
  return EXIT_FAILURE;
}

// Each connection takes a descriptor. Best effort: with few, the accept path pauses and resumes.
static void raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

// Blocked from the start, so that threads inherit it and a signal that comes early waits to be taken.
static void block_stop_signals(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGTERM);
  sigaddset(set, SIGINT);
  sigprocmask(SIG_BLOCK, set, NULL);
  signal(SIGPIPE, SIG_IGN);
}

static void complain_of_output(void) {
  fprintf(stderr, "https_server: cannot write to standard output: %s\n", strerror(errno));
}

static bool print_ready(const struct tg_server *server) {
  uint16_t http_port = tg_server_http_port(server);
  json_t *ready = json_pack("{s:i, s:o, s:i, s:i}", "tls_port", (int)tg_server_tls_port(server), "http_port",
                            http_port == 0 ? json_null() : json_integer(http_port), "pid", (int)getpid(), "shards",
                            (int)tg_server_shards(server));
  bool printed = ready != NULL && json_dumpf(ready, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF;
  json_decref(ready);
  return printed && fflush(stdout) == 0;
}

static bool print_counters(const struct tg_server *server) {
  struct tg_counters counters;
  tg_server_counters(server, &counters);
  char text[TG_COUNTERS_JSON_SIZE];
  return tg_counters_json(text, &counters) > 0 && printf("%s\n", text) > 0 && fflush(stdout) == 0;
}

static void wait_for_stop(const sigset_t *stop_signals) {
  int number;
  sigwait(stop_signals, &number);
  // From now on a signal of either kind ends the process at once.
  signal(SIGTERM, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, stop_signals, NULL);
}

static int serve(const struct tg_options *options, const sigset_t *stop_signals) {
  struct tg_error err;
  struct tg_server *server = tg_server_create(options, &err);
  if (server == NULL) {
    return refuse(&err);
  }
  if (!tg_server_start(server, &err)) {
    tg_server_destroy(server);
    return refuse(&err);
  }
  bool ok = print_ready(server);
  if (ok) {
    wait_for_stop(stop_signals);
  } else {
    complain_of_output();
  }
  ok &= tg_server_stop(server);
  ok &= print_counters(server);
  tg_server_destroy(server);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char *argv[]) {
  if (!fill_standard_descriptors()) {
    fprintf(stderr, "https_server: cannot open /dev/null for a closed standard descriptor: %s\n", strerror(errno));
    return EXIT_FAILURE;
  }
  struct tg_options options;
  struct tg_error err;
  switch (tg_options_parse(argc, argv, &options, &err)) {
    case TG_OPTIONS_WRONG:
      fprintf(stderr, "https_server: %s (see --help)\n", err.text);
      return EXIT_USAGE;
    case TG_OPTIONS_HELP:
      tg_options_help(stdout);
      if (fflush(stdout) != 0) {
        complain_of_output();
        return EXIT_FAILURE;
      }
      return EXIT_SUCCESS;
    case TG_OPTIONS_RUN:
      break;
  }
  sigset_t stop_signals;
  block_stop_signals(&stop_signals);
  raise_descriptor_limit();
  return serve(&options, &stop_signals);
}
