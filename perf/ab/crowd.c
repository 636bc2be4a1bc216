#include "perf/ab/crowd.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "perf/process/child.h"

#define TIMEOUT_S 60

bool tg_crowd_run(const char *client, const struct tg_server *server, unsigned clients, unsigned count, double *rate,
                  struct tg_error *err) {
  assert(clients >= 1 && clients <= TG_CROWD_MAX);
  char port[16];
  char count_text[16];
  (void)snprintf(port, sizeof(port), "%u", server->tls_port);
  (void)snprintf(count_text, sizeof(count_text), "%u", count);
  const char *argv[] = {client, "--port", port, "--count", count_text, "--tls", "1.3", "--json", "/dev/null", NULL};
  pid_t pids[TG_CROWD_MAX];
  int fds[TG_CROWD_MAX];
  unsigned started = 0;
  double start = tg_now_s();
  while (started < clients && (pids[started] = tg_child_start(argv, NULL, NULL, &fds[started], err)) > 0) {
    started++;
  }
  bool ok = started == clients;
  for (unsigned i = 0; i < started; i++) {
    bool killed = false;
    int status = tg_child_wait(pids[i], TIMEOUT_S, &killed);
    close(fds[i]);
    if (ok && status != 0) {
      tg_error_set(err, "client %u of %u at server %s ended with status %d; its message is above", i + 1, clients,
                   server->name, status);
      ok = false;
    }
  }
  *rate = clients * (double)count / (tg_now_s() - start);
  return ok;
}
