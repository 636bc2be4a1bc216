// rtt_client: how long a client without TCP_NODELAY waits for the first byte of a response. See tls_client.h for why.
#include <signal.h>
#include <stdio.h>

#include "harness/client/json_file.h"
#include "harness/client/rtt_options.h"
#include "harness/client/rtt_report.h"
#include "harness/client/rtt_run.h"
#include "harness/client/tls_client.h"

enum { EXIT_FINE = 0, EXIT_RUN_FAILED = 1, EXIT_USAGE = 2 };

static int complain(const struct tg_error *err, int status) {
  (void)fprintf(stderr, "rtt_client: %s\n", err->text);
  return status;
}

static int run(struct tg_client *client, const struct tg_rtt_options *options) {
  struct tg_error err;
  struct tg_rtt_result result;
  const bool ok = tg_rtt_run(client, options, &result, &err);
  if (!ok) {
    (void)complain(&err, EXIT_RUN_FAILED);
  }
  json_t *json = ok ? tg_rtt_report(&result) : tg_rtt_report_failure(&err);
  if (ok) {
    tg_rtt_result_free(&result);
  }
  struct tg_error write_err;
  if (!tg_json_write(json, options->json_file, &write_err)) {
    return complain(&write_err, EXIT_RUN_FAILED);
  }
  return ok ? EXIT_FINE : EXIT_RUN_FAILED;
}

int main(int argc, char **argv) {
  struct tg_error err;
  struct tg_rtt_options options;
  switch (tg_rtt_options_parse(argc, argv, &options, &err)) {
    case TG_RTT_HELP:
      tg_rtt_options_help(stdout);
      return EXIT_FINE;
    case TG_RTT_WRONG:
      return complain(&err, EXIT_USAGE);
    case TG_RTT_RUN:
      break;
  }
  (void)signal(SIGPIPE, SIG_IGN);
  struct tg_client *client = tg_client_create(&options.client, &err);
  if (client == NULL) {
    return complain(&err, EXIT_USAGE);
  }
  const int status = run(client, &options);
  tg_client_destroy(client);
  return status;
}
