// A probe: one way to misbehave, bounded, with a name. The families (connections.c, handshakes.c, responses.c,
// requests.c, floods.c, exhaustion.c) say how; run.h starts the server, watches it and judges; docs/servers.md lists
// them.
#ifndef TLSGATE_PERF_PROBE_PROBE_H
#define TLSGATE_PERF_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf/probe/wire.h"
#include "perf/servers/describe.h"

#define TG_PROBE_NOTE_SIZE 200

// Beyond what a description promises, a deadline may be that late: timers are coarse, and the machine is shared.
#define TG_PROBE_LATE_S 3.0

// How long a server out of descriptors is watched: a listener that is polled in vain shows at once.
#define TG_PROBE_WATCHED_S 2.0

// What a probe works with.
struct tg_probe_target {
  const struct tg_server_description *description;
  pid_t pid;
  uint16_t port;       // TLS
  double limit_s;      // longest that a probe waits for the server to end what nobody else will
  double late_s;       // how late a promised deadline may be
  double watched_s;    // how long a server out of descriptors is watched
  size_t connections;  // of the probe with silent ones
};

enum tg_probe_end {
  TG_PROBE_END_NOT_ASKED,  // the client ends it: there is nothing for a deadline to end
  TG_PROBE_END_SERVER,     // the server ended it after `ended_s`
  TG_PROBE_END_NONE,       // not within the limit
};

// What a probe itself saw. All zero: nothing to say.
struct tg_probe_seen {
  enum tg_probe_end end;
  double ended_s;
  double waited_s;  // how long it was given
  bool failed;      // it saw what must not be; `note` says what
  bool undecided;   // it could not be tried; `note` says why
  char note[TG_PROBE_NOTE_SIZE];
};

struct tg_probe {
  const char *name;
  const char *what;  // for people, one line
  void (*run)(const struct tg_probe_target *target, struct tg_probe_seen *seen);
  bool exhausts;  // runs on a server of its own with few descriptors; others are then served on their old connections
};

// tg_probes returns all probes in the order they run in, and how many they are.
const struct tg_probe *tg_probes(size_t *num);

// The probes, by family.
void tg_probe_silent(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_trickle(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_partial(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_segments(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_plain_http(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_reset(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_never_reading(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_half_close(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_nul(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_oversized(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_renegotiation(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_key_update(const struct tg_probe_target *target, struct tg_probe_seen *seen);
void tg_probe_exhaustion(const struct tg_probe_target *target, struct tg_probe_seen *seen);

// For the families.

// tg_probe_fail and tg_probe_undecided set the outcome and the note; of several failures the first is kept.
void tg_probe_fail(struct tg_probe_seen *seen, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tg_probe_undecided(struct tg_probe_seen *seen, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tg_probe_note(struct tg_probe_seen *seen, const char *format, ...) __attribute__((format(printf, 2, 3)));

// tg_probe_wait_s is how long to wait for a deadline: the limit, or what is promised and late_s more.
double tg_probe_wait_s(const struct tg_probe_target *target, double promised_s);

// tg_probe_ended records that `ended` of `num` connections were ended by the server, the last after `after_s`; if not
// all, that none of it ended them, which is a failure where `promised_s` (0: nothing) was the description's word.
void tg_probe_ended(struct tg_probe_seen *seen, size_t ended, size_t num, double after_s, double waited_s,
                    double promised_s, const char *what);

// tg_probe_await_ends waits until the server has ended all `num` connections, or `until` comes. Returns how many it
// ended; *last_s is the moment of the last. `least` may be below `num`: so many are enough.
size_t tg_probe_await_ends(struct tg_wire *wires, size_t num, size_t least, double until, double *last_s);

// tg_probe_open_all opens `num` connections, with TLS or without. Returns how many there are; the first that cannot be
// had makes the probe undecided or failed.
size_t tg_probe_open_all(const struct tg_probe_target *target, struct tg_wire *wires, size_t num, bool tls,
                         struct tg_probe_seen *seen);

void tg_probe_close_all(struct tg_wire *wires, size_t num);

#endif
