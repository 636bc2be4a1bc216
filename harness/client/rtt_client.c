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

static int run(struct tg_client *const clients[], const struct tg_rtt_options *options) {
  struct tg_rtt_failure failure;
  struct tg_rtt_result result;
  const bool ok = tg_rtt_run(clients, options, &result, &failure);
  if (!ok) {
    (void)complain(&failure.error, EXIT_RUN_FAILED);
  }
  json_t *json = ok ? tg_rtt_report(&result, options->clients) : tg_rtt_report_failure(&failure);
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
  struct tg_client *clients[TG_RTT_CLIENTS_MAX];
  uint32_t made = 0;
  while (made < options.clients && (clients[made] = tg_client_create(&options.client, &err)) != NULL) {
    made++;
  }
  const int status = made == options.clients ? run(clients, &options) : complain(&err, EXIT_USAGE);
  for (uint32_t i = 0; i < made; i++) {
    tg_client_destroy(clients[i]);
  }
  return status;
}
