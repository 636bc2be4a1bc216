#include "harness/accept/quickack.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>

#ifdef TG_NO_QUICKACK
#undef TCP_QUICKACK
#endif

#ifdef TCP_QUICKACK

static bool wanted(enum tg_quickack_moment moment, enum tg_quickack mode) {
  switch (mode) {
    case TG_QUICKACK_REARM:
      return true;
    case TG_QUICKACK_ACCEPT:
      return moment == TG_QUICKACK_AT_ACCEPT;
    case TG_QUICKACK_OFF:
      return false;
  }
  return false;
}

void tg_quickack_at(enum tg_quickack_moment moment, enum tg_quickack mode, int fd, struct tg_counters *counters) {
  if (!wanted(moment, mode)) {
    return;
  }
  // An odd value: an even one, 2 say, restores interactive mode as soon as it has flushed (__tcp_sock_set_quickack).
  const int armed = 1;
  counters->quickack_armed++;
  if (setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &armed, sizeof(armed)) != 0) {
    counters->quickack_failed++;
  }
}

#else

void tg_quickack_at(enum tg_quickack_moment moment, enum tg_quickack mode, int fd, struct tg_counters *counters) {
  (void)moment;
  (void)mode;
  (void)fd;
  (void)counters;
}

#endif
