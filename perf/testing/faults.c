// The planted faults of //perf/testing:faulty_server: the server's own objects, unchanged, linked with --wrap so that
// their system calls pass here. TLSGATE_FAULT names the fault, which is one of those in `fault_names`. A gate that
// none of them makes fail cannot be trusted to fail at all.
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FD_MAX            65536
#define TLS_HANDSHAKE     0x16  // ContentType handshake, RFC 8446, 5.1
#define DRIBBLE_BYTES     512
#define BURN_HANDSHAKE_US 2000
#define BURN_INPUT_US     300
#define THROTTLE_US       3000
#define CROWD_US          40

#define EXIT_AT     5
#define EXIT_STATUS 70

enum kind { KIND_UNKNOWN, KIND_TLS, KIND_PLAIN };

enum fault {
  FAULT_BURN_CPU,             // CPU burnt for each TLS connection, and for each piece of TLS input
  FAULT_DRIBBLE,              // TLS input and output in pieces of 512 bytes
  FAULT_SERIALISED,           // each piece of TLS input makes its shard wait once for every connection that is open
  FAULT_THROTTLED_PLAINTEXT,  // 3 ms of CPU burnt for each plaintext send
  FAULT_BURN_HANDSHAKE,       // CPU burnt for each TLS connection, as much as TLSGATE_BURN_NS says; 0: none
  FAULT_EXITS,                // the process exits at its fifth TLS connection
  NUM_FAULTS,
};

static const char *const fault_names[NUM_FAULTS] = {"burn_cpu", "dribble", "serialised", "throttled_plaintext",
                                                    "burn_handshake", "exits"};

// Above this a connection takes a second.
#define BURN_NS_MAX 1000000000L

static enum fault active;
static long burn_handshake_ns;
static _Atomic unsigned char kinds[FD_MAX];
static atomic_int open_connections;
static atomic_int tls_connections;

int __real_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int __real_close(int fd);
ssize_t __real_recv(int fd, void *buffer, size_t len, int flags);
ssize_t __real_send(int fd, const void *buffer, size_t len, int flags);
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

__attribute__((constructor)) static void choose_fault(void) {
  const char *wanted = getenv("TLSGATE_FAULT");
  for (int i = 0; wanted != NULL && i < NUM_FAULTS; i++) {
    if (strcmp(wanted, fault_names[i]) == 0) {
      active = (enum fault)i;
      if (active == FAULT_BURN_HANDSHAKE) {
        choose_burn();
      }
      return;
    }
  }
  fprintf(stderr, "faulty_server: TLSGATE_FAULT must name one of the planted faults, not %s\n",
          wanted == NULL ? "nothing" : wanted);
  exit(2);
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

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags) {
  int accepted = __real_accept4(fd, address, len, flags);
  if (accepted >= 0 && accepted < FD_MAX) {
    atomic_store(&kinds[accepted], KIND_UNKNOWN);
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
  return __real_close(fd);
}

// The first byte that a connection sends tells what it speaks.
static void classify(int fd, unsigned char first_byte) {
  enum kind kind = first_byte == TLS_HANDSHAKE ? KIND_TLS : KIND_PLAIN;
  atomic_store(&kinds[fd], (unsigned char)kind);
  if (kind == KIND_TLS) {
    atomic_fetch_add(&open_connections, 1);
    if (active == FAULT_EXITS && atomic_fetch_add(&tls_connections, 1) + 1 == EXIT_AT) {
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

ssize_t __wrap_send(int fd, const void *buffer, size_t len, int flags) {
  if (active == FAULT_DRIBBLE && kind_of(fd) == KIND_TLS && len > DRIBBLE_BYTES) {
    len = DRIBBLE_BYTES;
  }
  if (active == FAULT_THROTTLED_PLAINTEXT && kind_of(fd) == KIND_PLAIN) {
    burn_us(THROTTLE_US);
  }
  return __real_send(fd, buffer, len, flags);
}
