#include "harness/kernel/conformance/socket_run.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "harness/kernel/conformance/namespace.h"

#define NS_PER_MS      1000000ull
#define LATE_NS        (2500000ull)  // model_run.c's circumstances go as far
#define GIVE_UP_NS     (2000 * NS_PER_MS)
#define TIMESTAMPS_LEN 12  // TCPOLEN_TSTAMP_ALIGNED: TCP_MAXSEG counts them
#define RECEIVE_ROOM   (1u << 20)
#define POLL_AGAIN_MS  1

struct run {
  int listener;
  int ends[2];  // by enum tg_tcp_side
  uint64_t written[2];
  uint64_t read[2];
  char *error;
  size_t error_len;
};

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 * NS_PER_MS + (uint64_t)t.tv_nsec;
}

static bool fail(const struct run *run, const char *what) {
  snprintf(run->error, run->error_len, "%s: %s", what, strerror(errno));
  return false;
}

static bool set(const struct run *run, int fd, int level, int option, int value, const char *name) {
  return setsockopt(fd, level, option, &value, sizeof(value)) == 0 || fail(run, name);
}

static bool prepare(const struct run *run, int fd, const struct tg_schedule *schedule, enum tg_tcp_side side) {
  // Reno is in every kernel; the default may pace its segments.
  if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4) != 0) {
    return fail(run, "TCP_CONGESTION reno");
  }
  if (schedule->mss != 0 && !set(run, fd, IPPROTO_TCP, TCP_MAXSEG, (int)schedule->mss + TIMESTAMPS_LEN, "TCP_MAXSEG")) {
    return false;
  }
  // The kernel doubles it for its own needs.
  return schedule->buffer[side] == 0 ||
         set(run, fd, SOL_SOCKET, SO_RCVBUF, (int)schedule->buffer[side] / 2, "SO_RCVBUF");
}

static bool connect_both(struct run *run, const struct tg_schedule *schedule) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof(address);
  run->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  run->ends[TG_TCP_CLIENT] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (run->listener < 0 || run->ends[TG_TCP_CLIENT] < 0) {
    return fail(run, "socket");
  }
  if (!prepare(run, run->listener, schedule, TG_TCP_SERVER) ||
      !prepare(run, run->ends[TG_TCP_CLIENT], schedule, TG_TCP_CLIENT)) {
    return false;
  }
  if (bind(run->listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(run->listener, 1) != 0 ||
      getsockname(run->listener, (struct sockaddr *)&address, &len) != 0) {
    return fail(run, "listen");
  }
  if (schedule->listen >= 0 && !set(run, run->listener, IPPROTO_TCP, TCP_QUICKACK, schedule->listen, "TCP_QUICKACK")) {
    return false;
  }
  if (connect(run->ends[TG_TCP_CLIENT], (struct sockaddr *)&address, sizeof(address)) != 0) {
    return fail(run, "connect");
  }
  run->ends[TG_TCP_SERVER] = accept4(run->listener, NULL, NULL, SOCK_CLOEXEC);
  return run->ends[TG_TCP_SERVER] >= 0 || fail(run, "accept");
}

// Resets what is open: nothing of this connection stays in the namespace.
static void close_all(const struct run *run) {
  struct linger linger = {.l_onoff = 1, .l_linger = 0};
  for (int side = 0; side < 2; side++) {
    if (run->ends[side] >= 0) {
      setsockopt(run->ends[side], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
      close(run->ends[side]);
    }
  }
  if (run->listener >= 0) {
    close(run->listener);
  }
}

// Returns how long it took until `unread` bytes were there, or UINT64_MAX.
static uint64_t await(const struct run *run, enum tg_tcp_side side, uint64_t unread) {
  uint64_t start_ns = now_ns();
  int fd = run->ends[side];
  if (unread == 0) {
    unread = run->written[!side] - run->read[side];
  }
  for (;;) {
    int have = 0;
    if (ioctl(fd, FIONREAD, &have) != 0) {
      return UINT64_MAX;
    }
    if ((uint64_t)have >= unread) {
      return now_ns() - start_ns;
    }
    if (now_ns() - start_ns > GIVE_UP_NS) {
      return UINT64_MAX;
    }
    // While there is something, poll would return at once.
    struct pollfd wait = {.fd = fd, .events = have > 0 ? 0 : POLLIN};
    poll(&wait, 1, have > 0 ? POLL_AGAIN_MS : (int)(GIVE_UP_NS / NS_PER_MS));
  }
}

static bool do_step(struct run *run, const struct tg_step *step) {
  static _Thread_local char buffer[RECEIVE_ROOM];
  int fd = run->ends[step->side];
  ssize_t n;
  switch (step->verb) {
    case TG_VERB_WRITE:
    case TG_VERB_MORE:
      n = send(fd, buffer, step->value, MSG_NOSIGNAL | MSG_DONTWAIT | (step->verb == TG_VERB_MORE ? MSG_MORE : 0));
      if (n != (ssize_t)step->value) {
        errno = n < 0 ? errno : EAGAIN;
        return fail(run, "a write that the send buffer must take");
      }
      run->written[step->side] += (uint64_t)n;
      return true;
    case TG_VERB_READ:
      n = recv(fd, buffer, step->value != 0 ? step->value : sizeof(buffer), MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN) {
        return fail(run, "recv");
      }
      run->read[step->side] += n > 0 ? (uint64_t)n : 0;
      return true;
    case TG_VERB_QUICKACK:
      return set(run, fd, IPPROTO_TCP, TCP_QUICKACK, (int)step->value, "TCP_QUICKACK");
    case TG_VERB_NODELAY:
      return set(run, fd, IPPROTO_TCP, TCP_NODELAY, (int)step->value, "TCP_NODELAY");
    case TG_VERB_CORK:
      return set(run, fd, IPPROTO_TCP, TCP_CORK, (int)step->value, "TCP_CORK");
    case TG_VERB_SHUTDOWN:
      return shutdown(fd, SHUT_WR) == 0 || fail(run, "shutdown");
    case TG_VERB_SLEEP: {
      struct timespec duration = {step->value / 1000, (long)(step->value % 1000 * NS_PER_MS)};
      return nanosleep(&duration, NULL) == 0 || fail(run, "nanosleep");
    }
    default:
      abort();
  }
}

static enum tg_socket_run play(struct run *run, const struct tg_schedule *schedule, struct tg_outcome *out) {
  size_t waits = 0;
  bool late = false;
  for (size_t i = 0; i < schedule->num_steps; i++) {
    const struct tg_step *step = &schedule->steps[i];
    if (step->verb == TG_VERB_AWAIT) {
      uint64_t took_ns = await(run, step->side, step->value);
      out->waits[waits++] = (char)(took_ns == UINT64_MAX ? TG_WAIT_ODD : tg_wait_of(took_ns));
      if (took_ns == UINT64_MAX) {
        break;
      }
      continue;
    }
    uint64_t start_ns = now_ns();
    if (!do_step(run, step)) {
      return TG_SOCKET_RUN_FAILED;
    }
    uint64_t expected_ns = step->verb == TG_VERB_SLEEP ? step->value * NS_PER_MS : 0;
    late = late || now_ns() - start_ns > expected_ns + LATE_NS;
  }
  return late ? TG_SOCKET_RUN_LATE : TG_SOCKET_RUN_OK;
}

enum tg_socket_run tg_socket_run(const struct tg_schedule *schedule, struct tg_outcome *out, char *error,
                                 size_t error_len) {
  struct run run = {.listener = -1, .ends = {-1, -1}, .error = error, .error_len = error_len};
  memset(out, 0, sizeof(*out));
  enum tg_socket_run result = TG_SOCKET_RUN_FAILED;
  int64_t before = tg_namespace_delayed_acks();
  if (connect_both(&run, schedule)) {
    result = play(&run, schedule, out);
  }
  int64_t after = tg_namespace_delayed_acks();
  close_all(&run);
  if (before < 0 || after < before) {
    snprintf(error, error_len, "/proc/thread-self/net/netstat has no TcpExt DelayedACKs: is /proc mounted?");
    return TG_SOCKET_RUN_FAILED;
  }
  out->delayed_acks = (uint64_t)(after - before);
  return result;
}
