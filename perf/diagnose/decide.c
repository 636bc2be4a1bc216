#include "perf/diagnose/decide.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *tg_stalled_workload(enum tg_stalled kind) {
  static const char *const names[TG_STALLED_KINDS] = {"rtt_fresh",           "rtt_resumed", "rtt_tls12_resumed",
                                                      "rtt_keepalive_split", "rtt_hrr",     "rtt_client_cert",
                                                      "rtt_rsa4096"};
  return names[kind];
}

static const char *const kWhat[TG_STALLED_KINDS] = {
    [TG_STALLED_FRESH] = "full TLS 1.3 handshakes",
    [TG_STALLED_RESUMED] = "resumed TLS 1.3 handshakes",
    [TG_STALLED_TLS12_RESUMED] = "resumed TLS 1.2 handshakes",
    [TG_STALLED_SPLIT] = "requests in two writes",
    [TG_STALLED_HRR] = "handshakes with a HelloRetryRequest",
    [TG_STALLED_CLIENT_CERT] = "handshakes with a client certificate",
    [TG_STALLED_RSA4096] = "handshakes with an RSA-4096 key",
};

struct tg_cause tg_cause_of(const struct tg_stall_facts *facts) {
  struct tg_cause cause = {.gone = false};
  if (facts->plain_ms < TG_LEFT_MS) {
    cause.gone = true;
    return cause;
  }
  const double by_nodelay = facts->plain_ms - facts->nodelay_ms;
  const double by_quickack = facts->plain_ms - facts->quickack_ms;
  // The larger gain names the cause: the other client may be faster for another reason, such as what it does meanwhile.
  cause.client_waits_for_ack = by_nodelay >= TG_GAIN_MS && by_nodelay >= by_quickack;
  cause.server_waits_for_ack = by_quickack >= TG_GAIN_MS && !cause.client_waits_for_ack;
  const double left = cause.client_waits_for_ack   ? facts->nodelay_ms
                      : cause.server_waits_for_ack ? facts->quickack_ms
                                                   : facts->plain_ms;
  const bool slow = left >= TG_LEFT_MS;
  cause.server_works = slow && facts->server_cpu_ms >= TG_CPU_SHARE * left;
  cause.server_idles = slow && !cause.server_works;
  return cause;
}

static void __attribute__((format(printf, 2, 3))) add(struct tg_diagnosis *out, const char *format, ...) {
  va_list args;
  assert(out->num_lines < TG_DIAGNOSIS_LINES_MAX);
  va_start(args, format);
  (void)vsnprintf(out->lines[out->num_lines++], TG_DIAGNOSIS_LINE_SIZE, format, args);
  va_end(args);
}

static void describe(char out[200], const struct tg_stall_facts *facts, const struct tg_cause *cause) {
  if (cause->gone) {
    (void)snprintf(out, 200, "looked at again, it did not stall: %.2f ms", facts->plain_ms);
  } else if (cause->client_waits_for_ack) {
    (void)snprintf(out, 200,
                   "the request waits in the client for an ACK that the server's kernel delays: %.1f ms, and %.2f ms "
                   "with TCP_NODELAY in the client%s",
                   facts->plain_ms, facts->nodelay_ms,
                   cause->server_works || cause->server_idles ? ", which is still slow" : "");
  } else if (cause->server_waits_for_ack) {
    (void)snprintf(out, 200,
                   "the response waits in the server for an ACK that the client's kernel delays: %.1f ms, and %.2f ms "
                   "if the client delays none",
                   facts->plain_ms, facts->quickack_ms);
  } else {
    (void)snprintf(
        out, 200,
        "it is the server: %.1f ms, and %.1f ms with TCP_NODELAY in the client, so that no ACK is waited for; "
        "%.1f ms of its CPU a request",
        facts->plain_ms, facts->nodelay_ms, facts->server_cpu_ms);
  }
}

// Names what `wanted` says of the causes, separated by commas. Returns how many.
static size_t list(char *out, size_t size, const struct tg_diagnosis *from, bool (*wanted)(const struct tg_cause *)) {
  size_t num = 0;
  out[0] = '\0';
  for (int i = 0; i < TG_STALLED_KINDS; i++) {
    if (from->facts[i].known && wanted(&from->causes[i])) {
      const size_t len = strlen(out);
      (void)snprintf(out + len, size - len, "%s%s", num++ > 0 ? ", " : "", kWhat[i]);
    }
  }
  return num;
}

static bool held_in_client(const struct tg_cause *cause) {
  return cause->client_waits_for_ack;
}

static bool held_in_server(const struct tg_cause *cause) {
  return cause->server_waits_for_ack;
}

static bool works(const struct tg_cause *cause) {
  return cause->server_works;
}

static bool idles(const struct tg_cause *cause) {
  return cause->server_idles;
}

static bool waits(const struct tg_diagnosis *from, enum tg_stalled kind) {
  return from->facts[kind].known && from->causes[kind].client_waits_for_ack;
}

// How sure it is that it was the delayed ACK's timer: the durations, and the kernel's own count.
static void tell_signs(struct tg_diagnosis *out) {
  size_t requests = 0;
  double clustered = 0;
  double counted = 0;
  bool readable = true;
  for (int i = 0; i < TG_STALLED_KINDS; i++) {
    if (waits(out, (enum tg_stalled)i)) {
      const struct tg_stall_facts *facts = &out->facts[i];
      requests += facts->requests;
      clustered += facts->clustered * (double)facts->requests;
      counted += fmax(facts->delayed_acks, 0);
      readable = readable && facts->delayed_acks >= 0;
    }
  }
  if (readable) {
    add(out,
        "signs: %.0f of %zu requests took %.0f to %.0f ms (Linux delays an ACK by 40 ms at least), and the kernel "
        "counted %.0f delayed ACKs meanwhile",
        clustered, requests, TG_CLUSTER_FROM_MS, TG_CLUSTER_TO_MS, counted);
  } else {
    add(out, "signs: %.0f of %zu requests took %.0f to %.0f ms (Linux delays an ACK by 40 ms at least)", clustered,
        requests, TG_CLUSTER_FROM_MS, TG_CLUSTER_TO_MS);
  }
}

static void tell_client_waits(struct tg_diagnosis *out) {
  char names[300];
  if (list(names, sizeof(names), out, held_in_client) == 0) {
    return;
  }
  const bool tls12 = waits(out, TG_STALLED_TLS12_RESUMED);
  const bool split = waits(out, TG_STALLED_SPLIT);
  const bool full = waits(out, TG_STALLED_FRESH) || waits(out, TG_STALLED_HRR) || waits(out, TG_STALLED_CLIENT_CERT) ||
                    waits(out, TG_STALLED_RSA4096);
  const bool resumed = waits(out, TG_STALLED_RESUMED);
  const bool tls13 = full || resumed;
  double nodelay_ms = 0;
  for (int i = 0; i < TG_STALLED_KINDS; i++) {
    nodelay_ms = waits(out, (enum tg_stalled)i) ? fmax(nodelay_ms, out->facts[i].nodelay_ms) : nodelay_ms;
  }
  add(out, "stalled by a delayed ACK: %s", names);
  tell_signs(out);
  if (tls13 || tls12) {
    add(out, "missing: an immediate ACK of the client's last handshake flight; the server writes nothing after it%s",
        tls13 ? "" : ". Its TLS 1.3 is spared, for there tickets that it sends at once carry the ACK");
    add(out,
        "remedy that applies: re-arm TCP_QUICKACK in the server around every step of the handshake, reads included: "
        "once at accept does not last");
  }
  if (split) {
    add(out, "missing: an immediate ACK of a request's first part, which the server cannot answer yet%s",
        tls13 || tls12 ? "" : ". The handshake does not stall: what re-arms there, or hides the stall, ends with it");
    add(out,
        "remedy that applies: re-arm TCP_QUICKACK in the server after every read that leaves a request incomplete");
  }
  add(out,
      "remedy that %s: flush the tickets at the end of the handshake (a zero-byte write on BoringSSL; OpenSSL sends "
      "them at once%s)%s",
      tls13 ? "applies in part" : "does not apply", resumed && !full ? "; on resumption too" : "",
      !tls13           ? ": no TLS 1.3 handshake stalls"
      : tls12 && split ? ": it hides the stall of TLS 1.3, neither that of resumed TLS 1.2 nor that of split requests"
      : tls12          ? ": it hides the stall of TLS 1.3, not that of resumed TLS 1.2"
      : split          ? ": it hides the stall of TLS 1.3, not that of split requests"
                       : ": it hides the stall of TLS 1.3, as the tickets carry the ACK");
  add(out,
      "remedy that applies where the clients are yours: TCP_NODELAY in the client (measured here: %.2f ms at most)",
      nodelay_ms);
  if (tls13 || tls12) {
    add(out,
        "published: aws/s2n-tls#979, \"Investigate/add support for TCP_QUICKACK\": delayed ACK in the server against "
        "Nagle in the client, in the handshake");
  }
  if (full) {
    add(out,
        "published: openssl/openssl#25538, on delaying TLS 1.3 tickets until the server writes, which is BoringSSL's "
        "way: so that nothing carries the ACK");
  }
  if (split) {
    add(out,
        "published: steffengy/tiberius#46, \"Use TCP_NODELAY to avoid latency spikes\": part of a command is held "
        "until the 40 ms of the delayed ACK are over");
  }
  add(out, "published: netty/netty#13610, \"TCP_QUICKACK not durable\": why once is not enough");
}

static void tell_server_waits(struct tg_diagnosis *out) {
  char names[300];
  if (list(names, sizeof(names), out, held_in_server) == 0) {
    return;
  }
  add(out, "stalled by the client's delayed ACK: %s", names);
  add(out,
      "missing: TCP_NODELAY in the server: a small write before the response, a ticket for instance, keeps the "
      "response back until it is acknowledged");
  add(out,
      "remedy that applies: TCP_NODELAY on every accepted socket, or one write for both; a re-arm of TCP_QUICKACK in "
      "the server and TCP_NODELAY in the client do not help");
  add(out,
      "published: mirleft/ocaml-tls#480, \"High latency on linux with delayed ack enabled\": a server that waits for "
      "the ACK of a response's first part");
}

static void tell_server(struct tg_diagnosis *out) {
  char names[300];
  if (list(names, sizeof(names), out, works) > 0) {
    add(out, "the server works that long, no ACK is waited for: %s", names);
    add(out,
        "remedy: profile what it does between request and response (perf record -p PID); none of the remedies for "
        "delayed ACKs applies");
  }
  if (list(names, sizeof(names), out, idles) > 0) {
    add(out, "the server itself is slow and uses little CPU, no ACK is waited for: %s", names);
    add(out,
        "remedy: find what it sleeps on between request and response (strace -f -T -p PID): a timer, a lock, another "
        "service; none of the remedies for delayed ACKs applies");
  }
}

void tg_diagnosis_decide(struct tg_diagnosis *diagnosis) {
  diagnosis->num_lines = 0;
  diagnosis->made = false;
  for (int i = 0; i < TG_STALLED_KINDS; i++) {
    diagnosis->found[i][0] = '\0';
    if (diagnosis->facts[i].known) {
      diagnosis->made = true;
      diagnosis->causes[i] = tg_cause_of(&diagnosis->facts[i]);
      describe(diagnosis->found[i], &diagnosis->facts[i], &diagnosis->causes[i]);
    }
  }
  tell_client_waits(diagnosis);
  tell_server_waits(diagnosis);
  tell_server(diagnosis);
}
