// What a shard has counted since it was made. Monotonic, unless said to be a gauge.
#ifndef TLSGATE_HARNESS_ACCEPT_COUNTERS_H
#define TLSGATE_HARNESS_ACCEPT_COUNTERS_H

#include <stdint.h>

// X(name, meaning). For TLS connections, always:
//     accepted == established + handshake_failed + handshake_timed_out + in_handshake
#define TG_COUNTERS(X)                                                                \
  X(accepted, "TLS connections accepted")                                             \
  X(established, "handshakes completed")                                              \
  X(resumed, "of these, with a session resumed")                                      \
  X(handshake_failed, "handshakes ended by an error, by the peer or by winding down") \
  X(handshake_timed_out, "handshakes ended by their deadline")                        \
  X(in_handshake, "gauge: TLS connections in the handshake now")                      \
  X(plain_accepted, "plaintext connections accepted")                                 \
  X(open, "gauge: connections in OPEN now")                                           \
  X(draining, "gauge: connections in DRAIN now")                                      \
  X(closed, "connections freed")                                                      \
  X(over_capacity, "connections accepted beyond max_connections")                     \
  X(open_timed_out, "connections cut in OPEN by a deadline")                          \
  X(drain_timed_out, "connections closed in DRAIN by the deadline")                   \
  X(peer_reset, "connections that the peer reset")                                    \
  X(accept_skipped, "accept4 errors skipped: the network's and the peer's")           \
  X(accept_paused, "times a listener was paused for want of descriptors or memory")   \
  X(quickack_armed, "TCP_QUICKACK settings made")                                     \
  X(quickack_failed, "TCP_QUICKACK settings refused by the kernel")                   \
  X(early_data_accepted, "handshakes with early data accepted")                       \
  X(client_certificates, "handshakes with a client certificate verified")             \
  X(bytes_read, "bytes received from sockets")                                        \
  X(bytes_written, "bytes sent to sockets")

struct tg_counters {
#define TG_COUNTER_FIELD(name, meaning) uint64_t name;
  TG_COUNTERS(TG_COUNTER_FIELD)
#undef TG_COUNTER_FIELD
};

// tg_counters_add adds `from` to `to`, field by field.
void tg_counters_add(struct tg_counters *to, const struct tg_counters *from);

#endif
