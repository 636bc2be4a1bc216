#include "perf/probe/probe.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "perf/process/child.h"

// Connecting and a handshake, with the server busy: well above TG_CANARY_SERVED_S, which is what is judged.
#define OPEN_S 5.0
// For the canary and this program's own files.
#define SPARE_FDS 50

static const struct tg_probe kProbes[] = {
    {"silent_connections", "thousands of connections that send nothing", tg_probe_silent, false},
    {"trickled_handshake", "a ClientHello, one byte a second", tg_probe_trickle, false},
    {"partial_record", "half a record, then silence: in the handshake, and after it", tg_probe_partial, false},
    {"segmented_hello", "a handshake in segments of one byte", tg_probe_segments, false},
    {"plain_http", "plain HTTP and garbage on the TLS port", tg_probe_plain_http, false},
    {"reset_mid_response", "a reset after the first bytes of big responses", tg_probe_reset, false},
    {"half_close", "FIN right after the request", tg_probe_half_close, false},
    {"nul_requests", "requests with NUL bytes", tg_probe_nul, false},
    {"oversized_requests", "heads without an end", tg_probe_oversized, false},
    {"renegotiation_flood", "TLS 1.2 ClientHellos on established connections", tg_probe_renegotiation, false},
    {"key_update_flood", "TLS 1.3 KeyUpdates that ask for an answer, unread", tg_probe_key_update, false},
    {"never_reading", "clients that ask for big bodies and never read", tg_probe_never_reading, false},
    {"descriptor_exhaustion", "more clients than the server has descriptors", tg_probe_exhaustion, true},
};

const struct tg_probe *tg_probes(size_t *num) {
  *num = sizeof(kProbes) / sizeof(kProbes[0]);
  return kProbes;
}

void tg_probe_fail(struct tg_probe_seen *seen, const char *format, ...) {
  if (!seen->failed) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(seen->note, sizeof(seen->note), format, args);
    va_end(args);
  }
  seen->failed = true;
}

void tg_probe_undecided(struct tg_probe_seen *seen, const char *format, ...) {
  if (!seen->failed) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(seen->note, sizeof(seen->note), format, args);
    va_end(args);
  }
  seen->undecided = true;
}

void tg_probe_note(struct tg_probe_seen *seen, const char *format, ...) {
  if (!seen->failed && !seen->undecided) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(seen->note, sizeof(seen->note), format, args);
    va_end(args);
  }
}

double tg_probe_wait_s(const struct tg_probe_target *target, double promised_s) {
  return promised_s > 0 ? promised_s + target->late_s : target->limit_s;
}

void tg_probe_ended(struct tg_probe_seen *seen, size_t ended, size_t num, double after_s, double waited_s,
                    double promised_s, const char *what) {
  if (num == 0) {
    return;
  }
  seen->waited_s = waited_s;
  seen->end = ended == num ? TG_PROBE_END_SERVER : TG_PROBE_END_NONE;
  seen->ended_s = after_s;
  if (ended == num) {
    return;
  }
  if (promised_s > 0) {
    tg_probe_fail(seen, "%s: %zu of %zu still open after %.1f s; the description promises %.1f s", what, num - ended,
                  num, waited_s, promised_s);
  } else {
    tg_probe_note(seen, "%s: %zu of %zu still open after %.1f s", what, num - ended, num, waited_s);
  }
}

size_t tg_probe_await_ends(struct tg_wire *wires, size_t num, size_t least, double until, double *last_s) {
  struct pollfd *fds = calloc(num, sizeof(*fds));
  size_t ended = 0;
  for (size_t i = 0; fds != NULL && i < num; i++) {
    // A negative descriptor is ignored by poll(2).
    fds[i] = (struct pollfd){.fd = wires[i].ended ? -1 : wires[i].fd, .events = POLLIN};
    ended += wires[i].ended;
  }
  *last_s = tg_now_s();
  while (fds != NULL && ended < least) {
    double left = until - tg_now_s();
    int got = left <= 0 ? 0 : poll(fds, num, (int)(left * 1000) + 1);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      break;
    }
    for (size_t i = 0; i < num; i++) {
      if (fds[i].fd >= 0 && fds[i].revents != 0 && tg_wire_ended(&wires[i])) {
        fds[i].fd = -1;
        ended++;
        *last_s = tg_now_s();
      }
    }
  }
  free(fds);
  return ended;
}

size_t tg_probe_open_all(const struct tg_probe_target *target, struct tg_wire *wires, size_t num, bool tls,
                         struct tg_probe_seen *seen) {
  struct rlimit limit;
  // Before the others run out of them too.
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < num + SPARE_FDS) {
    tg_probe_undecided(seen, "%zu connections need more descriptors than this process may have: raise ulimit -Hn", num);
    return 0;
  }
  for (size_t i = 0; i < num; i++) {
    double until = tg_now_s() + OPEN_S;
    if (tls ? tg_wire_tls(&wires[i], target->port, until) : tg_wire_open(&wires[i], target->port, until)) {
      continue;
    }
    tg_probe_fail(seen, "connection %zu of %zu could not be made within %.0f s", i + 1, num, OPEN_S);
    return i;
  }
  return num;
}

void tg_probe_close_all(struct tg_wire *wires, size_t num) {
  for (size_t i = 0; i < num; i++) {
    tg_wire_close(&wires[i]);
  }
}
