// Handshakes that stop, crawl, come in crumbs, or are none.
#include <openssl/ssl.h>

#include "perf/probe/probe.h"
#include "perf/process/child.h"

#define HELLO_SIZE 4096
// A quick exchange on loopback, on a busy machine.
#define QUICK_S 5.0

enum { TRICKLERS = 8, PARTIALS = 8, SEGMENTED = 8, ROUNDS = 4 };

static size_t hello_of(struct tg_wire *wire, uint8_t out[HELLO_SIZE]) {
  return tg_wire_hello(wire, TLS1_2_VERSION, TLS1_3_VERSION, out, HELLO_SIZE);
}

void tg_probe_trickle(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  struct tg_wire wires[TRICKLERS];
  uint8_t hello[HELLO_SIZE];
  double promised = target->description->handshake_deadline_s;
  double wait = tg_probe_wait_s(target, promised);
  double last = 0;
  double begun = tg_now_s();
  size_t opened = tg_probe_open_all(target, wires, TRICKLERS, false, seen);
  size_t len = opened > 0 ? hello_of(&wires[0], hello) : 0;
  size_t ended = 0;
  for (size_t sent = 0; sent < len && ended < opened && tg_now_s() < begun + wait; sent++) {
    for (size_t i = 0; i < opened; i++) {
      // One that the server has ended cannot be sent to, which await_ends will see.
      (void)tg_wire_send(&wires[i], hello + sent, 1, tg_now_s());
    }
    double next = tg_now_s() + 1;
    ended = tg_probe_await_ends(wires, opened, opened, next < begun + wait ? next : begun + wait, &last);
  }
  tg_probe_ended(seen, ended, opened, last - begun, wait, promised, "trickled handshakes");
  tg_probe_close_all(wires, opened);
}

// The head of an application record whose rest never comes, after a request that was answered.
static double silence_after_handshake(const struct tg_probe_target *target, double wait) {
  static const uint8_t head[] = {0x17, 0x03, 0x03, 0x01, 0x00, 0xaa};
  struct tg_wire wire;
  struct tg_answer answer;
  double last = 0;
  double begun = tg_now_s();
  size_t ended = 0;
  if (!tg_wire_tls(&wire, target->port, begun + QUICK_S)) {
    return -1;
  }
  if (tg_wire_get(&wire, target->description->small.path, begun + QUICK_S)) {
    tg_wire_answer(&wire, &answer, begun + QUICK_S);
    begun = tg_now_s();
    (void)tg_wire_send(&wire, head, sizeof(head), begun + 1);
    ended = tg_probe_await_ends(&wire, 1, 1, begun + wait, &last);
  }
  tg_wire_close(&wire);
  return ended == 1 ? last - begun : 0;
}

void tg_probe_partial(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  struct tg_wire wires[PARTIALS];
  uint8_t hello[HELLO_SIZE];
  double promised = target->description->handshake_deadline_s;
  double wait = tg_probe_wait_s(target, promised);
  double last = 0;
  double begun = tg_now_s();
  size_t opened = tg_probe_open_all(target, wires, PARTIALS, false, seen);
  for (size_t i = 0; i < opened; i++) {
    size_t len = hello_of(&wires[i], hello);
    (void)tg_wire_send(&wires[i], hello, len / 2, tg_now_s() + 1);
  }
  size_t ended = tg_probe_await_ends(wires, opened, opened, tg_now_s() + wait, &last);
  tg_probe_ended(seen, ended, opened, last - begun, wait, promised, "half ClientHellos");
  tg_probe_close_all(wires, opened);
  double after = silence_after_handshake(target, target->limit_s / 3);
  if (after < 0) {
    tg_probe_fail(seen, "no handshake for the second half of the probe");
  } else if (after > 0) {
    tg_probe_note(seen, "after the handshake: ended after %.1f s", after);
  } else {
    tg_probe_note(seen, "after the handshake: none within %.1f s", target->limit_s / 3);
  }
}

void tg_probe_segments(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  for (size_t i = 0; i < SEGMENTED; i++) {
    struct tg_wire wire;
    struct tg_answer answer = {.status = 0};
    double until = tg_now_s() + QUICK_S;
    uint16_t version = i % 2 == 0 ? TLS1_3_VERSION : TLS1_2_VERSION;
    if (!tg_wire_open(&wire, target->port, until)) {
      tg_probe_fail(seen, "connection %zu could not be made", i + 1);
      return;
    }
    if (tg_wire_handshake(&wire, version, version, 1, until) &&
        tg_wire_get(&wire, target->description->small.path, until)) {
      tg_wire_answer(&wire, &answer, until);
    }
    tg_wire_close(&wire);
    if (answer.status != 200 || !answer.whole) {
      tg_probe_fail(seen, "TLS 1.%d handshake in segments of one byte was not served within %.0f s",
                    version == TLS1_3_VERSION ? 3 : 2, QUICK_S);
    }
  }
  tg_probe_note(seen, "%d handshakes of TLS 1.3 and 1.2, all served", SEGMENTED);
}

void tg_probe_plain_http(const struct tg_probe_target *target, struct tg_probe_seen *seen) {
  static const struct {
    const char *text;
    size_t len;
  } texts[] = {
      {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 35},
      {"POST / HTTP/1.0\r\n\r\n", 19},
      {"\0\0\0\0\xff\xfe\x16\x03\x01\0\0\0\0\0\0\0", 16},
      {"\x16\x03\x01\xff\xff\x01\0\0\0\0", 10},  // a record longer than any may be (RFC 8446, 5.1)
      {"\x15\x03\x01\x00\x02\x02\x28", 7},       // an alert as the first thing said
  };
  enum { TEXTS = sizeof(texts) / sizeof(texts[0]), CLIENTS = TEXTS * ROUNDS };
  struct tg_wire wires[CLIENTS];
  double promised = target->description->handshake_deadline_s;
  double wait = tg_probe_wait_s(target, promised);
  double last = 0;
  double begun = tg_now_s();
  size_t opened = tg_probe_open_all(target, wires, CLIENTS, false, seen);
  for (size_t i = 0; i < opened; i++) {
    (void)tg_wire_send(&wires[i], texts[i % TEXTS].text, texts[i % TEXTS].len, tg_now_s() + 1);
  }
  size_t ended = tg_probe_await_ends(wires, opened, opened, tg_now_s() + wait, &last);
  tg_probe_ended(seen, ended, opened, last - begun, wait, promised, "connections with no TLS");
  tg_probe_close_all(wires, opened);
}
