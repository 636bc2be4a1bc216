// A shard from the inside: what its parts (conn.c, serve.c, acceptor.c, shard.c) share.
#ifndef TLSGATE_HARNESS_ACCEPT_SHARD_STATE_H
#define TLSGATE_HARNESS_ACCEPT_SHARD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/accept/accept.h"
#include "harness/accept/block_pool.h"
#include "harness/accept/counter_board.h"
#include "harness/accept/counters.h"
#include "harness/accept/deadline.h"
#include "harness/accept/list.h"

// What an epoll event points to: the first member of each thing that is watched.
enum tg_source { TG_SOURCE_CONN, TG_SOURCE_LISTENER, TG_SOURCE_WAKE };

struct tg_acceptor {
  enum tg_source source;
  int fd;  // -1: none
  bool tls;
  bool ready;         // the kernel has reported it in this turn
  bool paused;        // epoll does not watch it
  uint64_t retry_ns;  // while paused: when to try again at the latest
};

struct tg_shard {
  struct tg_shard_config config;
  int epoll_fd;
  enum tg_source wake;
  int wake_fd;
  struct tg_acceptor acceptors[2];  // TLS, plaintext
  uint64_t now_ns;                  // as of the last look at the clock in this turn
  struct tg_deadline_lists deadlines;
  struct tg_block_pool in_pool;
  struct tg_block_pool out_pool;
  struct tg_link conns;   // all that are not freed
  struct tg_link again;   // those with work left that no event will announce
  struct tg_link graves;  // closed in this turn: events of the same batch may still point to them
  size_t num_conns;
  bool closed_some;    // in this turn, so a paused listener may find a descriptor
  bool winding_down;   // no listeners, and each connection is asked to finish
  uint64_t cut_ns;     // while winding down: when what is left is cut
  int listener_error;  // errno of an accept4 that made a listener unusable; 0: none
  struct tg_counters counters;
  struct tg_counter_board board;
};

// tg_shard_post shows the shard's counters to other threads.
static inline void tg_shard_post(struct tg_shard *shard) {
  tg_counter_board_post(&shard->board, &shard->counters);
}

#endif
