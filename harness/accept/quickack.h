// The quickack rule: when TCP_QUICKACK is set on an accepted socket. docs/accept-path.md says why.
//
// The option is not sticky (tcp(7)): the server's own next segment, sent within the delayed-ACK interval of data
// received, puts the socket back into interactive mode (Linux: tcp_event_data_sent), and the peer's Finished or half
// request then waits 40 ms for its ACK. Hence it is set again after each read that can leave the peer waiting. Set with
// an empty receive queue it also flushes an ACK that is already being delayed (Linux: __tcp_sock_set_quickack).
#ifndef TLSGATE_HARNESS_ACCEPT_QUICKACK_H
#define TLSGATE_HARNESS_ACCEPT_QUICKACK_H

#include "harness/accept/accept.h"
#include "harness/accept/counters.h"

// The moments at which the rule is asked.
enum tg_quickack_moment {
  TG_QUICKACK_AT_ACCEPT,           // before the first step
  TG_QUICKACK_AT_HANDSHAKE_STEP,   // a handshake step has read what there was
  TG_QUICKACK_AT_ESTABLISHMENT,    // the step that read it completed the handshake
  TG_QUICKACK_AT_REQUEST_PARTIAL,  // a read in OPEN has left a request incomplete
};

// tg_quickack_at sets TCP_QUICKACK on `fd` if `mode` wants that at `moment`, and counts that. A refusal by the kernel
// is counted and changes nothing else. Where TCP_QUICKACK does not exist, or TG_NO_QUICKACK is defined, it does
// nothing.
void tg_quickack_at(enum tg_quickack_moment moment, enum tg_quickack mode, int fd, struct tg_counters *counters);

#endif
