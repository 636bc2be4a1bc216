#include "fuzz/world/watch.h"

#include <assert.h>
#include <inttypes.h>
#include <openssl/ssl.h>
#include <string.h>

#include "fuzz/world/finding.h"
#include "fuzz/world/server.h"

// How late a deadline may be noticed: the millisecond that epoll rounds up to, one more, and what a turn takes when
// system calls are slow (a turn handles 64 events, each with a few calls).
#define SLACK_NS   (2 * TG_SIM_NS_PER_MS)
#define TURN_CALLS 512u

void tg_watch_init(struct tg_watch *watch, struct tg_kernel *kernel, const struct tg_deadlines *deadlines) {
  watch->kernel = kernel;
  watch->deadlines = *deadlines;
  watch->slack_ns = SLACK_NS + TURN_CALLS * tg_kernel_call_ns(kernel);
  watch->num_conns = 0;
}

const char *tg_watch_phase_name(enum tg_phase phase) {
  static const char *const names[] = {"HANDSHAKE", "OPEN", "DRAIN", "GONE"};
  return names[phase];
}

static uint64_t now_ns(const struct tg_watch *watch) {
  return tg_kernel_sim(watch->kernel)->now_ns;
}

void tg_watch_begin(struct tg_watch *watch) {
  watch->accepted = 0;
  watch->plain_accepted = 0;
  for (size_t i = 0; i < watch->num_conns; i++) {
    watch->conns[i].seen = false;
  }
}

static struct tg_watched *find(struct tg_watch *watch, const struct tg_conn *conn) {
  for (size_t i = 0; i < watch->num_conns; i++) {
    if (watch->conns[i].conn == conn) {
      return &watch->conns[i];
    }
  }
  assert(watch->num_conns < TG_KERNEL_PAIRS_MAX);
  struct tg_watched *new = &watch->conns[watch->num_conns++];
  *new =
      (struct tg_watched){.conn = conn, .phase = conn->phase, .phase_ns = now_ns(watch), .milestone_ns = now_ns(watch)};
  return new;
}

static void check_phase(struct tg_watch *watch, struct tg_watched *watched) {
  const struct tg_conn *conn = watched->conn;
  if (conn->phase == watched->phase) {
    return;
  }
  // Several arrows may be taken in one turn, so any way forward is one, and none leads back.
  if (conn->phase < watched->phase) {
    tg_finding(watch->kernel, "P2", TG_NO_CLIENT, tg_watch_phase_name(conn->phase), "descriptor %d was in %s before",
               conn->stream.fd, tg_watch_phase_name(watched->phase));
  }
  if (conn->phase == TG_PHASE_OPEN && conn->ssl != NULL && SSL_in_init(conn->ssl)) {
    tg_finding(watch->kernel, "P2", TG_NO_CLIENT, "OPEN", "descriptor %d is OPEN and its handshake is not done",
               conn->stream.fd);
  }
  watched->phase = conn->phase;
  watched->phase_ns = watched->milestone_ns = now_ns(watch);
}

// Something whole got done: all that was queued is sent, or enough of it to earn a response more time.
static void look_for_milestone(struct tg_watch *watch, struct tg_watched *watched) {
  const struct tg_stream *stream = &watched->conn->stream;
  bool moved = stream->sent != watched->milestone_sent;
  if ((moved && tg_stream_pending(stream) == 0) ||
      stream->sent - watched->milestone_sent >= TG_RESPONSE_DEADLINE_BYTES) {
    watched->milestone_ns = now_ns(watch);
    watched->milestone_sent = stream->sent;
  }
}

static uint64_t bound_ms(const struct tg_watch *watch, enum tg_phase phase) {
  switch (phase) {
    case TG_PHASE_HANDSHAKE:
      return watch->deadlines.handshake_ms;
    case TG_PHASE_OPEN:
      // From one whole thing done to the next: a pause, a request, a response's next 64 KiB.
      return (uint64_t)watch->deadlines.idle_ms + watch->deadlines.request_ms + watch->deadlines.response_ms;
    case TG_PHASE_DRAIN:
      return watch->deadlines.drain_ms;
    case TG_PHASE_GONE:
      break;
  }
  assert(false);
  return 0;
}

static void check_deadline(struct tg_watch *watch, const struct tg_watched *watched) {
  enum tg_phase phase = watched->phase;
  uint64_t since_ns = phase == TG_PHASE_OPEN ? watched->milestone_ns : watched->phase_ns;
  uint64_t limit_ns = bound_ms(watch, phase) * TG_SIM_NS_PER_MS + watch->slack_ns;
  if (now_ns(watch) - since_ns > limit_ns) {
    tg_finding(watch->kernel, "P4", TG_NO_CLIENT, tg_watch_phase_name(phase),
               "descriptor %d has been there for %" PRIu64
               " ms without getting anything done; its deadlines allow "
               "%" PRIu64 " ms",
               watched->conn->stream.fd, (now_ns(watch) - since_ns) / TG_SIM_NS_PER_MS, bound_ms(watch, phase));
  }
}

static void check_counters(struct tg_watch *watch, const struct tg_shard *shard, const uint64_t in_phase[]) {
  const struct tg_counters *have = &shard->counters;
  if (have->accepted != have->established + have->handshake_failed + have->handshake_timed_out + have->in_handshake) {
    tg_finding(watch->kernel, "P9", TG_NO_CLIENT, NULL,
               "accepted %" PRIu64 " is not established %" PRIu64 " + failed %" PRIu64 " + timed out %" PRIu64
               " + in handshake %" PRIu64,
               have->accepted, have->established, have->handshake_failed, have->handshake_timed_out,
               have->in_handshake);
  }
  const struct {
    const char *name;
    uint64_t counted;
    uint64_t there;
  } gauges[] = {
      {"in_handshake", have->in_handshake, in_phase[TG_PHASE_HANDSHAKE]},
      {"open", have->open, in_phase[TG_PHASE_OPEN]},
      {"draining", have->draining, in_phase[TG_PHASE_DRAIN]},
      {"accepted - closed", have->accepted + have->plain_accepted - have->closed, shard->num_conns},
  };
  for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
    if (gauges[i].counted != gauges[i].there) {
      tg_finding(watch->kernel, "P9", TG_NO_CLIENT, NULL, "the counter %s says %" PRIu64 " and there are %" PRIu64,
                 gauges[i].name, gauges[i].counted, gauges[i].there);
    }
  }
}

static const struct tg_conn *conn_of(const struct tg_link *link) {
  return (const struct tg_conn *)((const char *)link - offsetof(struct tg_conn, member));
}

void tg_watch_shard(struct tg_watch *watch, const struct tg_shard *shard) {
  uint64_t in_phase[TG_PHASE_GONE + 1] = {0};
  for (const struct tg_link *at = shard->conns.next; at != &shard->conns; at = at->next) {
    const struct tg_conn *conn = conn_of(at);
    struct tg_watched *watched = find(watch, conn);
    watched->seen = true;
    check_phase(watch, watched);
    look_for_milestone(watch, watched);
    check_deadline(watch, watched);
    in_phase[conn->phase]++;
  }
  check_counters(watch, shard, in_phase);
  watch->accepted += shard->counters.accepted;
  watch->plain_accepted += shard->counters.plain_accepted;
}

void tg_watch_end(struct tg_watch *watch) {
  size_t kept = 0;
  for (size_t i = 0; i < watch->num_conns; i++) {
    if (watch->conns[i].seen) {
      watch->conns[kept++] = watch->conns[i];
    }
  }
  watch->num_conns = kept;
  const struct {
    const char *name;
    uint64_t counted;
    uint64_t there;
  } sums[] = {
      {"accepted", watch->accepted, tg_kernel_accepts(watch->kernel, TG_WORLD_TLS_PORT)},
      {"plain_accepted", watch->plain_accepted, tg_kernel_accepts(watch->kernel, TG_WORLD_PLAIN_PORT)},
  };
  for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
    if (sums[i].counted != sums[i].there) {
      tg_finding(watch->kernel, "P9", TG_NO_CLIENT, NULL,
                 "the counter %s says %" PRIu64 " and accept4 has returned %" PRIu64 " connections", sums[i].name,
                 sums[i].counted, sums[i].there);
    }
  }
}

void tg_watch_rest(struct tg_watch *watch, const struct tg_shard *shard) {
  for (const struct tg_link *at = shard->conns.next; at != &shard->conns; at = at->next) {
    const struct tg_conn *conn = conn_of(at);
    if (conn->finishing || tg_stream_pending(&conn->stream) > 0) {
      continue;
    }
    size_t buffered = tg_stream_buffered(&conn->stream);
    if (buffered > 0) {
      tg_finding(watch->kernel, "P3", TG_NO_CLIENT, tg_watch_phase_name(conn->phase),
                 "at rest with %zu bytes in the read-ahead buffer of descriptor %d", buffered, conn->stream.fd);
    }
    if (conn->phase == TG_PHASE_OPEN && conn->ssl != NULL && SSL_pending(conn->ssl) > 0) {
      tg_finding(watch->kernel, "P3", TG_NO_CLIENT, "OPEN", "at rest with %d bytes in the TLS library of descriptor %d",
                 SSL_pending(conn->ssl), conn->stream.fd);
    }
  }
}
