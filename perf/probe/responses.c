// Clients that do not take their responses as they should.
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "perf/probe/probe.h"
#include "perf/probe/resources.h"
#include "perf/process/child.h"

#define QUICK_S 5.0

// Asked at once, so that the responses do not fit the kernel's buffers (tcp_wmem, 4 MiB by default at the most).
enum { PIPELINED = 32, RESETS = 20, UNREAD = 16, HALVES = 16 };

// A canary's connection and what is being opened when it is looked at.
#define OTHER_FDS 4

static bool ask_for_much(struct tg_wire *wire, const char *path, size_t times) {
  char requests[PIPELINED * 300];
  size_t len = 0;
  for (size_t i = 0; i < times; i++) {
    len += (size_t)snprintf(requests + len, sizeof(requests) - len, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
  }
  return tg_wire_write(wire, requests, len, tg_now_s() + QUICK_S);
}

void tg_probe_reset(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  for (size_t i = 0; i < RESETS; i++) {
    struct tg_wire wire;
    char first[16];
    double until = tg_now_s() + QUICK_S;
    if (!tg_wire_tls(&wire, target->port, until)) {
      tg_probe_fail(seen, "handshake %zu of %d failed after %zu resets", i + 1, RESETS, i);
      return;
    }
    bool begun =
        ask_for_much(&wire, target->description->big.path, 4) && tg_wire_read(&wire, first, sizeof(first), until) > 0;
    tg_wire_reset(&wire);
    if (!begun) {
      tg_probe_fail(seen, "no response began within %.0f s on connection %zu of %d", QUICK_S, i + 1, RESETS);
    }
  }
  tg_probe_note(seen, "%d connections reset", RESETS);
}

// What is in flight to a client that does not read hides the server's end, so its descriptors tell: when all that these
// clients cost are back, the connections are gone.
void tg_probe_never_reading(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  struct tg_wire wires[UNREAD];
  struct tg_resources before;
  struct tg_resources now;
  double promised = target->description->response_deadline_s;
  double wait = tg_probe_wait_s(target, promised);
  size_t opened = 0;
  (void)tg_resources_read(target->pid, &before);
  double begun = tg_now_s();
  for (; opened < UNREAD; opened++) {
    struct tg_wire *wire = &wires[opened];
    if (!tg_wire_open_small(wire, target->port, tg_now_s() + QUICK_S)) {
      break;
    }
    if (!tg_wire_handshake(wire, TLS1_2_VERSION, TLS1_3_VERSION, TG_WIRE_WHOLE, tg_now_s() + QUICK_S) ||
        !ask_for_much(wire, target->description->big.path, PIPELINED)) {
      tg_wire_close(wire);
      break;
    }
  }
  if (opened < UNREAD) {
    tg_probe_fail(seen, "only %zu of %d clients could connect and ask", opened, UNREAD);
  }
  bool gone = false;
  while (!gone && tg_now_s() < begun + wait && tg_resources_read(target->pid, &now)) {
    (void)usleep(200000);
    gone = now.fds <= before.fds + OTHER_FDS;
  }
  tg_probe_ended(seen, gone ? opened : 0, opened, tg_now_s() - begun, wait, promised, "clients that never read");
  tg_probe_close_all(wires, opened);
}

// Closes the client's half: as TLS would, and without a word.
static void close_half(struct tg_wire *wire, bool politely) {
  if (politely) {
    (void)SSL_shutdown(wire->ssl);
    (void)tg_wire_flush(wire, TG_WIRE_WHOLE, tg_now_s() + 1);
  }
  (void)shutdown(wire->fd, SHUT_WR);
}

void tg_probe_half_close(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  const struct tg_server_route *const routes[] = {&target->description->small, &target->description->big};
  size_t answered[2] = {0, 0};  // without close_notify, with
  double longest = 0;
  for (size_t i = 0; i < HALVES; i++) {
    bool politely = i % 2 == 1;
    struct tg_wire wire;
    struct tg_answer answer;
    double last = 0;
    double begun = tg_now_s();
    // Without a promise it is the limit that bounds the whole probe, not each client.
    double until = begun + (target->limit_s < QUICK_S ? target->limit_s : QUICK_S);
    if (!tg_wire_tls(&wire, target->port, until)) {
      tg_probe_fail(seen, "handshake %zu of %d failed", i + 1, HALVES);
      return;
    }
    const struct tg_server_route *route = routes[i / 2 % 2];
    (void)tg_wire_get(&wire, route->path, until);
    close_half(&wire, politely);
    tg_wire_answer(&wire, &answer, until);
    answered[politely] += answer.status == 200 && answer.whole;
    if (answer.status != 0 && !answer.whole) {
      tg_probe_fail(seen, "a response was cut: %llu of %llu bytes of %s%s", (unsigned long long)answer.body,
                    (unsigned long long)answer.length, route->path, politely ? ", after close_notify" : "");
    }
    if (tg_probe_await_ends(&wire, 1, 1, until, &last) == 0) {
      tg_probe_fail(seen, "a half-closed connection was still open after %.1f s", until - begun);
    }
    longest = last - begun > longest ? last - begun : longest;
    tg_wire_close(&wire);
  }
  seen->end = seen->failed ? TG_PROBE_END_NONE : TG_PROBE_END_SERVER;
  seen->ended_s = longest;
  seen->waited_s = QUICK_S;
  tg_probe_note(seen, "answered: %zu of %d after close_notify, %zu of %d after a bare FIN", answered[1], HALVES / 2,
                answered[0], HALVES / 2);
}
