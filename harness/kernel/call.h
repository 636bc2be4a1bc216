// The calls that the simulated kernel models, by name, and how one is made to fail.
#ifndef TLSGATE_HARNESS_KERNEL_CALL_H
#define TLSGATE_HARNESS_KERNEL_CALL_H

#include <stddef.h>
#include <stdint.h>

// X(NAME, text). Families share a name: recv is also read, readv and recvmsg on a socket; send likewise.
#define TG_CALLS(X)                              \
  X(ACCEPT, "accept4")                           \
  X(RECV, "recv")                                \
  X(SEND, "send")                                \
  X(SETSOCKOPT, "setsockopt")                    \
  X(GETSOCKOPT, "getsockopt")                    \
  X(SHUTDOWN, "shutdown")                        \
  X(CLOSE, "close")                              \
  X(FCNTL, "fcntl")                              \
  X(SOCKET, "socket")                            \
  X(BIND, "bind")                                \
  X(LISTEN, "listen")                            \
  X(GETSOCKNAME, "getsockname")                  \
  X(EPOLL_CREATE, "epoll_create1")               \
  X(EPOLL_CTL, "epoll_ctl")                      \
  X(EPOLL_WAIT, "epoll_wait")                    \
  X(EVENTFD, "eventfd")                          \
  X(TIMERFD, "timerfd")                          \
  X(EVENT_READ, "read of an eventfd or timerfd") \
  X(EVENT_WRITE, "write of an eventfd")          \
  X(CLOCK, "clock_gettime")                      \
  X(RANDOM, "getrandom")                         \
  X(MALLOC, "malloc")

enum tg_call {
#define TG_CALL_ENUM(name, text) TG_CALL_##name,
  TG_CALLS(TG_CALL_ENUM)
#undef TG_CALL_ENUM
      TG_CALL_COUNT
};

const char *tg_call_name(enum tg_call call);

#define TG_INJECTIONS_MAX 32u

// Makes some calls fail or fall short. Counting begins when it is installed.
struct tg_injection {
  enum tg_call call;
  uint32_t skip;   // so many calls of this name pass first
  uint32_t times;  // then so many are hit; 0: all that follow
  int error;       // errno of the failure; 0: the call works, but RECV and SEND move at most `limit` bytes
  uint32_t limit;  // 1 or more
};

#endif
