// The planted faults of //perf/testing:faulty_server: the server's own objects, unchanged, linked with --wrap so that
// their system calls pass here. TLSGATE_FAULT names the fault, which is one of those in `fault_names`. A gate that
// none of them makes fail cannot be trusted to fail at all.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "perf/testing/active.h"

#define FD_MAX            65536
#define RECORD_HEAD       5     // RFC 8446, 5.1
#define TLS_HANDSHAKE     0x16  // ContentType handshake, RFC 8446, 5.1
#define DRIBBLE_BYTES     512
#define BURN_HANDSHAKE_US 2000
#define BURN_INPUT_US     300
#define THROTTLE_US       3000
#define CROWD_US          40

#define EXIT_AT     5
#define EXIT_STATUS 70

// As long as a delayed ACK, and yet none.
#define SLOW_US 45000
// A HelloRetryRequest is smaller, any other first flight of TLS 1.3 is not.
#define FLIGHT_LEAST 200

#define FULL_READ   4096
#define LEAK_BYTES  65536
#define WAIT_US     1500000
#define CUT_BYTES   65536
#define CUT_PIECE   8192  // more than any flight or small response
#define FIN_WAIT_MS 30

enum kind { KIND_UNKNOWN, KIND_TLS, KIND_PLAIN };

enum fault {
  FAULT_BURN_CPU,             // CPU burnt for each TLS connection, and for each piece of TLS input
  FAULT_DRIBBLE,              // TLS input and output in pieces of 512 bytes
  FAULT_SERIALISED,           // each piece of TLS input makes its shard wait once for every connection that is open
  FAULT_THROTTLED_PLAINTEXT,  // 3 ms of CPU burnt for each plaintext send
  FAULT_BURN_HANDSHAKE,       // CPU burnt for each TLS connection, as much as TLSGATE_BURN_NS says; 0: none
  FAULT_EXITS,                // the process exits at its fifth TLS connection, or at the one TLSGATE_EXIT_AT says
  FAULT_LEAKS_DESCRIPTORS,    // each close leaves a descriptor behind
  FAULT_LEAKS_MEMORY,         // each connection leaves 64 KiB behind
  FAULT_LEAKS_THREADS,        // each connection leaves a thread behind
  FAULT_EXITS_ON_RESET,       // the process exits when a client resets its connection
  FAULT_WAITS_FOR_GARBAGE,    // a first byte that is no handshake's holds its shard for 1.5 s
  FAULT_ACCEPT_SPINS,         // being out of descriptors is taken for nothing to accept
  FAULT_CUTS_HALF_CLOSED,     // a client that has sent its FIN gets no more than 64 KiB of its response
  FAULT_REARMS_IN_HANDSHAKE,  // TCP_QUICKACK is re-armed until the first response of a TLS connection, and not after it
  FAULT_SLEEPS,               // 45 ms of sleep before each send of a TLS connection but its first flight
  FAULT_WORKS,                // 45 ms of CPU burnt there
  FAULT_DROPS_SHORT_HELLOS,   // a connection whose first read is less than a record's head is closed
  FAULT_EXITS_ON_FULL_READS,  // the process exits when a TLS connection sends 4 KiB at once
  // Of tls_faults.c.
  FAULT_EXITS_ON_NUL,            // the process exits when a request has a NUL byte
  FAULT_SWALLOWS_REQUESTS,       // what a connection sends after its first 4 KiB is taken, and never seen
  FAULT_EXITS_ON_RENEGOTIATION,  // the process exits when a client asks for another handshake
  NUM_FAULTS,
};

static const char *const fault_names[NUM_FAULTS] = {
    "burn_cpu",
    "dribble",
    "serialised",
    "throttled_plaintext",
    "burn_handshake",
    "exits",
    "leaks_descriptors",
    "leaks_memory",
    "leaks_threads",
    "exits_on_reset",
    "waits_for_garbage",
    "accept_spins",
    "cuts_half_closed",
    "rearms_in_handshake",
    "sleeps",
    "works",
    "drops_short_hellos",
    "exits_on_full_reads",
    "exits_on_nul",
    "swallows_requests",
    "exits_on_renegotiation",
};

// Above this a connection takes a second.
#define BURN_NS_MAX 1000000000L

static enum fault active;
static long burn_handshake_ns;
static int exit_at = EXIT_AT;
static _Atomic unsigned char kinds[FD_MAX];
static atomic_int open_connections;
static atomic_int tls_connections;
static atomic_bool half_closed[FD_MAX];
static atomic_long sent_half_closed[FD_MAX];
static atomic_int flights[FD_MAX];  // that a TLS connection has sent

int __real_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int __real_close(int fd);
ssize_t __real_recv(int fd, void *buffer, size_t len, int flags);
ssize_t __real_send(int fd, const void *buffer, size_t len, int flags);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int __wrap_close(int fd);
ssize_t __wrap_recv(int fd, void *buffer, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *buffer, size_t len, int flags);

static void choose_burn(void) {
  const char *text = getenv("TLSGATE_BURN_NS");
  char *end = NULL;
  errno = 0;
  burn_handshake_ns = text == NULL ? -1 : strtol(text, &end, 10);
  if (text == NULL || errno != 0 || end == text || *end != '\0' || burn_handshake_ns < 0 ||
      burn_handshake_ns > BURN_NS_MAX) {
    fprintf(stderr, "faulty_server: burn_handshake needs TLSGATE_BURN_NS, 0 to %ld nanoseconds a connection, not %s\n",
            BURN_NS_MAX, text == NULL ? "nothing" : text);
    exit(2);
  }
}

// A count above what comes before the connections that are to meet it.
static void choose_exit(void) {
  const char *text = getenv("TLSGATE_EXIT_AT");
  exit_at = text == NULL ? EXIT_AT : (int)strtol(text, NULL, 10);
  if (exit_at <= 0) {
    fprintf(stderr, "faulty_server: exits takes a TLSGATE_EXIT_AT of 1 or more connections, not %s\n", text);
    exit(2);
  }
}

__attribute__((constructor)) static void choose_fault(void) {
  const char *wanted = getenv("TLSGATE_FAULT");
  for (int i = 0; wanted != NULL && i < NUM_FAULTS; i++) {
    if (strcmp(wanted, fault_names[i]) == 0) {
      active = (enum fault)i;
      if (active == FAULT_BURN_HANDSHAKE) {
        choose_burn();
      }
      if (active == FAULT_EXITS) {
        choose_exit();
      }
      return;
    }
  }
  fprintf(stderr, "faulty_server: TLSGATE_FAULT must name one of the planted faults, not %s\n",
          wanted == NULL ? "nothing" : wanted);
  exit(2);
}

bool tg_fault_is(const char *name) {
  return strcmp(name, fault_names[active]) == 0;
}

static void burn_ns(long ns) {
  struct timespec start;
  struct timespec now;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
  do {
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000000000L + (now.tv_nsec - start.tv_nsec) < ns);
}

static void burn_us(long us) {
  burn_ns(us * 1000);
}

static void sleep_us(long us) {
  struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
  (void)nanosleep(&pause, NULL);
}

static enum kind kind_of(int fd) {
  return fd >= 0 && fd < FD_MAX ? (enum kind)atomic_load(&kinds[fd]) : KIND_UNKNOWN;
}

static void *sleep_for_ever(void *unused) {
  for (;;) {
    (void)pause();
  }
  return unused;
}

// Pages that are written to, so that they count.
static void leak_memory(void) {
  static _Thread_local char *kept;
  char *leaked = malloc(LEAK_BYTES);
  if (leaked != NULL) {
    memset(leaked, 1, LEAK_BYTES);
    memcpy(leaked, &kept, sizeof(kept));  // reachable, or a compiler could leave it out
    kept = leaked;
  }
}

static void leave_behind(void) {
  pthread_t thread;
  if (active == FAULT_LEAKS_MEMORY) {
    leak_memory();
  }
  if (active == FAULT_LEAKS_THREADS && pthread_create(&thread, NULL, sleep_for_ever, NULL) == 0) {
    (void)pthread_detach(thread);
  }
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags) {
  int accepted = __real_accept4(fd, address, len, flags);
  if (accepted >= 0 && accepted < FD_MAX) {
    atomic_store(&kinds[accepted], KIND_UNKNOWN);
    atomic_store(&half_closed[accepted], false);
    atomic_store(&sent_half_closed[accepted], 0);
    atomic_store(&flights[accepted], 0);
    leave_behind();
  }
  if (accepted < 0 && errno == EMFILE && active == FAULT_ACCEPT_SPINS) {
    errno = EAGAIN;
  }
  return accepted;
}

int __wrap_close(int fd) {
  if (kind_of(fd) == KIND_TLS) {
    atomic_fetch_sub(&open_connections, 1);
  }
  if (fd >= 0 && fd < FD_MAX) {
    atomic_store(&kinds[fd], KIND_UNKNOWN);
  }
  if (active == FAULT_LEAKS_DESCRIPTORS) {
    (void)dup(STDIN_FILENO);
  }
  return __real_close(fd);
}

// The first byte that a connection sends tells what it speaks.
static void classify(int fd, unsigned char first_byte) {
  enum kind kind = first_byte == TLS_HANDSHAKE ? KIND_TLS : KIND_PLAIN;
  if (kind == KIND_PLAIN && active == FAULT_WAITS_FOR_GARBAGE) {
    sleep_us(WAIT_US);
  }
  atomic_store(&kinds[fd], (unsigned char)kind);
  if (kind == KIND_TLS) {
    atomic_fetch_add(&open_connections, 1);
    if (active == FAULT_EXITS && atomic_fetch_add(&tls_connections, 1) + 1 == exit_at) {
      _exit(EXIT_STATUS);
    }
    if (active == FAULT_BURN_CPU) {
      burn_us(BURN_HANDSHAKE_US);
    }
    if (active == FAULT_BURN_HANDSHAKE && burn_handshake_ns > 0) {
      burn_ns(burn_handshake_ns);
    }
  }
}

ssize_t __wrap_recv(int fd, void *buffer, size_t len, int flags) {
  if (active == FAULT_DRIBBLE && kind_of(fd) == KIND_TLS && len > DRIBBLE_BYTES) {
    len = DRIBBLE_BYTES;
  }
  ssize_t got = __real_recv(fd, buffer, len, flags);
  int error = errno;
  if (got < 0 && error == ECONNRESET && active == FAULT_EXITS_ON_RESET) {
    _exit(EXIT_STATUS);
  }
  if (got == 0 && fd >= 0 && fd < FD_MAX) {
    atomic_store(&half_closed[fd], true);
  }
  if (got >= FULL_READ && kind_of(fd) == KIND_TLS && active == FAULT_EXITS_ON_FULL_READS) {
    _exit(EXIT_STATUS);
  }
  if (got > 0 && got < RECORD_HEAD && kind_of(fd) == KIND_UNKNOWN && active == FAULT_DROPS_SHORT_HELLOS) {
    (void)shutdown(fd, SHUT_RDWR);
  }
  if (got > 0 && kind_of(fd) == KIND_UNKNOWN && fd < FD_MAX) {
    classify(fd, *(unsigned char *)buffer);
  } else if (got > 0 && kind_of(fd) == KIND_TLS && active == FAULT_BURN_CPU) {
    burn_us(BURN_INPUT_US);
  } else if (got > 0 && kind_of(fd) == KIND_TLS && active == FAULT_SERIALISED) {
    sleep_us(CROWD_US * (long)atomic_load(&open_connections));
  }
  errno = error;
  return got;
}

// Whether a TLS connection sends what is not its first flight: a response, mostly. Counts what it sends.
static bool is_response(int fd, size_t len) {
  if (kind_of(fd) != KIND_TLS || (atomic_load(&flights[fd]) == 0 && len < FLIGHT_LEAST)) {
    return false;
  }
  return atomic_fetch_add(&flights[fd], 1) > 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len) {
  const bool quickack = level == IPPROTO_TCP && name == TCP_QUICKACK;
  if (quickack && active == FAULT_REARMS_IN_HANDSHAKE && kind_of(fd) == KIND_TLS && atomic_load(&flights[fd]) > 1) {
    return 0;
  }
  return __real_setsockopt(fd, level, name, value, len);
}

static void before_response(void) {
  if (active == FAULT_SLEEPS) {
    sleep_us(SLOW_US);
  } else if (active == FAULT_WORKS) {
    burn_us(SLOW_US);
  }
}

ssize_t __wrap_send(int fd, const void *buffer, size_t len, int flags) {
  if (active == FAULT_DRIBBLE && kind_of(fd) == KIND_TLS && len > DRIBBLE_BYTES) {
    len = DRIBBLE_BYTES;
  }
  if (active == FAULT_THROTTLED_PLAINTEXT && kind_of(fd) == KIND_PLAIN) {
    burn_us(THROTTLE_US);
  }
  if (active == FAULT_CUTS_HALF_CLOSED && len > CUT_PIECE && fd < FD_MAX) {
    // The FIN that comes right after a request is not overtaken by its response.
    struct pollfd peer = {.fd = fd, .events = POLLRDHUP};
    if (poll(&peer, 1, FIN_WAIT_MS) > 0) {
      atomic_store(&half_closed[fd], true);
    }
  }
  if (is_response(fd, len)) {
    before_response();
  }
  ssize_t sent = __real_send(fd, buffer, len, flags);
  int error = errno;
  if (sent < 0 && (error == ECONNRESET || error == EPIPE) && active == FAULT_EXITS_ON_RESET) {
    _exit(EXIT_STATUS);
  }
  if (sent > 0 && active == FAULT_CUTS_HALF_CLOSED && fd < FD_MAX && atomic_load(&half_closed[fd]) &&
      atomic_fetch_add(&sent_half_closed[fd], sent) + sent > CUT_BYTES) {
    (void)shutdown(fd, SHUT_RDWR);
  }
  errno = error;
  return sent;
}
