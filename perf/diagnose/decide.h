// Why requests wait, from what was measured: the decision alone, without a socket.
//
//     experiments on every workload that stalled  ->  tg_cause_of each  ->  tg_diagnosis_decide  ->  words
//
// A guess from the duration would be wrong: a server that sleeps 45 ms looks like one that stalls. So each workload is
// run again by a client that differs in one thing: with TCP_NODELAY it holds no request back for an ACK of the
// server's, with TCP_QUICKACK it holds no ACK back that the server might wait for. What ends the wait is what was
// waited for.
#ifndef TLSGATE_PERF_DIAGNOSE_DECIDE_H
#define TLSGATE_PERF_DIAGNOSE_DECIDE_H

#include <stdbool.h>
#include <stddef.h>

// The workloads that can be diagnosed (perf/run/plan.h), by what they do.
enum tg_stalled {
  TG_STALLED_FRESH,          // rtt_fresh: TLS 1.3, full handshake
  TG_STALLED_RESUMED,        // rtt_resumed
  TG_STALLED_TLS12_RESUMED,  // rtt_tls12_resumed
  TG_STALLED_SPLIT,          // rtt_keepalive_split: requests in two writes
  TG_STALLED_HRR,            // rtt_hrr
  TG_STALLED_CLIENT_CERT,    // rtt_client_cert
  TG_STALLED_RSA4096,        // rtt_rsa4096
  TG_STALLED_KINDS,
};

// tg_stalled_workload is the workload's name.
const char *tg_stalled_workload(enum tg_stalled kind);

// What was measured on one workload, one run after the other. Times are medians, request written to first byte.
struct tg_stall_facts {
  bool known;            // false: it did not stall, and nothing below is filled in
  size_t requests;       // of each run
  double plain_ms;       // as the gates measure it
  double nodelay_ms;     // the client has TCP_NODELAY
  double quickack_ms;    // the client re-arms TCP_QUICKACK while it waits
  double clustered;      // share of the plain run's requests that took 38 to 55 ms (TG_CLUSTER_*)
  double delayed_acks;   // TcpExt DelayedACKs that the plain run added, in this network namespace; -1: not known
  double server_cpu_ms;  // of the server's CPU, a request of the plain run
};

// The least time that Linux holds an ACK, TCP_DELACK_MIN (include/net/tcp.h), is 40 ms; timers run in jiffies, of 4 ms
// at most where they do not run in more, and on a busy machine late.
#define TG_CLUSTER_FROM_MS 38.0
#define TG_CLUSTER_TO_MS   55.0
// What a client that changes one thing must gain, for the wait to have been for that.
#define TG_GAIN_MS 30.0
// What is left must be below this, the bound of the gates, or something else makes requests wait too.
#define TG_LEFT_MS 5.0
// A server whose CPU time is this share of the wait spends it working: on a busy machine it gets a part of a CPU. One
// that sleeps uses a hundredth.
#define TG_CPU_SHARE 0.2

struct tg_cause {
  bool client_waits_for_ack;  // the request is held by Nagle's algorithm until the server's kernel sends an ACK
  bool server_waits_for_ack;  // the response is, until the client's kernel does
  bool server_works;          // the server spends CPU time on the request
  bool server_idles;          // it takes long and does not
  bool gone;                  // it was not slow when it was looked at
};

struct tg_cause tg_cause_of(const struct tg_stall_facts *facts);

#define TG_DIAGNOSIS_LINES_MAX 24
#define TG_DIAGNOSIS_LINE_SIZE 400

struct tg_diagnosis {
  struct tg_stall_facts facts[TG_STALLED_KINDS];
  struct tg_cause causes[TG_STALLED_KINDS];
  bool made;                                                   // something was looked at
  char found[TG_STALLED_KINDS][200];                           // of each workload that is known: the finding, short
  char lines[TG_DIAGNOSIS_LINES_MAX][TG_DIAGNOSIS_LINE_SIZE];  // what is missing, each remedy, published reports
  size_t num_lines;
};

// tg_diagnosis_decide fills in causes and words from `facts`, which the caller has filled in. Without any that are
// known there is no diagnosis.
void tg_diagnosis_decide(struct tg_diagnosis *diagnosis);

#endif
