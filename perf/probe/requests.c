// Requests that no server should take.
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "perf/probe/probe.h"
#include "perf/process/child.h"

// More than the kernel holds for a connection at its default limits (tcp_rmem and tcp_wmem, 6 and 4 MiB), and than any
// head needs (RFC 9110, 5.4): who takes that, takes any.
#define HEAD_LIMIT (16u << 20)
#define CHUNK      16384

enum { NUL_ROUNDS = 4, OVERSIZED_ROUNDS = 2 };

void tg_probe_nul(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  static const struct {
    const char *text;
    size_t len;
  } texts[] = {
      {"GET /a\0b HTTP/1.1\r\nHost: localhost\r\n\r\n", 38},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nX\0y: a\r\n\r\n", 44},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nX-a: a\0b\r\n\r\n", 46},
      {"G\0T / HTTP/1.1\r\nHost: localhost\r\n\r\n", 35},
      {"\0\0\0\0\0\0\0\0\r\n\r\n", 12},
  };
  enum { TEXTS = sizeof(texts) / sizeof(texts[0]), CLIENTS = TEXTS * NUL_ROUNDS };
  size_t refused = 0;
  size_t accepted = 0;
  size_t ended = 0;
  double longest = 0;
  double share = target->limit_s / CLIENTS;
  for (size_t i = 0; i < CLIENTS; i++) {
    struct tg_wire wire;
    struct tg_answer answer;
    double begun = tg_now_s();
    if (!tg_wire_tls(&wire, target->port, begun + 5)) {
      tg_probe_fail(seen, "handshake %zu of %d failed", i + 1, CLIENTS);
      return;
    }
    (void)tg_wire_write(&wire, texts[i % TEXTS].text, texts[i % TEXTS].len, begun + 5);
    tg_wire_answer(&wire, &answer, tg_now_s() + (share < 1 ? 1 : share));
    refused += answer.status >= 400;
    accepted += answer.status >= 200 && answer.status < 300;
    ended += answer.status != 0 || answer.closed;
    longest = tg_now_s() - begun > longest ? tg_now_s() - begun : longest;
    tg_wire_close(&wire);
  }
  tg_probe_ended(seen, ended, CLIENTS, longest, share < 1 ? 1 : share, 0, "requests with NUL");
  tg_probe_note(seen, "%zu of %d refused with a status, %zu accepted, the rest ended without a word", refused, CLIENTS,
                accepted);
}

static bool has_answer(const struct tg_wire *wire) {
  struct pollfd poll_fd = {.fd = wire->fd, .events = POLLIN};
  return poll(&poll_fd, 1, 0) > 0;
}

// Sends without end until the server answers, ends it, or takes no more. Returns how much it took.
static size_t send_endlessly(struct tg_wire *wire, const char *begin, const char *piece, double until) {
  char chunk[CHUNK];
  size_t sent = strlen(begin);
  size_t len = strlen(piece);
  for (size_t i = 0; i < sizeof(chunk); i++) {
    chunk[i] = piece[i % len];
  }
  if (!tg_wire_write(wire, begin, sent, until)) {
    return 0;
  }
  while (sent < HEAD_LIMIT && !has_answer(wire) && tg_wire_write(wire, chunk, sizeof(chunk), until)) {
    sent += sizeof(chunk);
  }
  return sent;
}

void tg_probe_oversized(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  static const struct {
    const char *what;
    const char *begin;
    const char *piece;
  } kinds[] = {
      {"request line", "GET /", "a"},
      {"field", "GET / HTTP/1.1\r\nHost: localhost\r\nX-a: ", "a"},
      {"list of fields", "GET / HTTP/1.1\r\nHost: localhost\r\n", "X-abc: a\r\nX-ab: \r\n"},
  };
  enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), CLIENTS = KINDS * OVERSIZED_ROUNDS };
  size_t ended = 0;
  size_t most = 0;
  int status = 0;
  double longest = 0;
  double share = target->limit_s / CLIENTS < 2 ? 2 : target->limit_s / CLIENTS;
  for (size_t i = 0; i < CLIENTS; i++) {
    struct tg_wire wire;
    struct tg_answer answer;
    double begun = tg_now_s();
    if (!tg_wire_tls(&wire, target->port, begun + 5)) {
      tg_probe_fail(seen, "handshake %zu of %d failed", i + 1, CLIENTS);
      return;
    }
    size_t took = send_endlessly(&wire, kinds[i % KINDS].begin, kinds[i % KINDS].piece, begun + share);
    tg_wire_answer(&wire, &answer, begun + share);
    if (took >= HEAD_LIMIT) {
      tg_probe_fail(seen, "took %zu KiB of a %s without an end", took >> 10, kinds[i % KINDS].what);
    }
    most = took > most ? took : most;
    status = answer.status != 0 ? answer.status : status;
    ended += answer.status != 0 || answer.closed;
    longest = tg_now_s() - begun > longest ? tg_now_s() - begun : longest;
    tg_wire_close(&wire);
  }
  tg_probe_ended(seen, ended, CLIENTS, longest, share, 0, "endless heads");
  tg_probe_note(seen, "at most %zu KiB were taken%s%.0d", most >> 10, status != 0 ? "; last status " : "", status);
}
