#include "fuzz/examples/handoff/acceptor.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/examples/handoff/clock.h"

// How long it waits for a descriptor, memory or a place in a mailbox before it looks again.
#define REST_NS (50 * NS_PER_MS)

// Connections accepted in one turn: the workers get on in between.
#define BATCH 16

static int listen_on(uint16_t port) {
  const int on = 1;
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return -1;
  }
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, SOMAXCONN) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

static bool watch(struct acceptor *acceptor, unsigned which) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = which};
  return epoll_ctl(acceptor->epoll_fd, EPOLL_CTL_ADD, acceptor->listeners[which], &event) == 0;
}

bool acceptor_open(struct acceptor *acceptor, uint16_t tls_port, uint16_t plaintext_port, struct mailbox *boxes,
                   unsigned num_boxes) {
  *acceptor = (struct acceptor){.listeners = {-1, -1}, .boxes = boxes, .num_boxes = num_boxes};
  acceptor->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  acceptor->rest_fd = epoll_create1(EPOLL_CLOEXEC);
  if (acceptor->epoll_fd < 0 || acceptor->rest_fd < 0) {
    return false;
  }
  const uint16_t ports[] = {tls_port, plaintext_port};
  for (unsigned i = 0; i < 2; i++) {
    if (ports[i] != 0) {
      acceptor->listeners[i] = listen_on(ports[i]);
      if (acceptor->listeners[i] < 0 || !watch(acceptor, i)) {
        return false;
      }
    }
  }
  return true;
}

static void close_if_open(int fd) {
  if (fd >= 0) {
    close(fd);
  }
}

void acceptor_close(struct acceptor *acceptor) {
  close_if_open(acceptor->listeners[0]);
  close_if_open(acceptor->listeners[1]);
  close_if_open(acceptor->epoll_fd);
  close_if_open(acceptor->rest_fd);
}

static void rest(struct acceptor *acceptor) {
  acceptor->resumes_ns = clock_now_ns() + REST_NS;
}

static struct mailbox *emptiest(struct acceptor *acceptor) {
  struct mailbox *best = &acceptor->boxes[0];
  for (unsigned i = 1; i < acceptor->num_boxes; i++) {
    best = mailbox_count(&acceptor->boxes[i]) < mailbox_count(best) ? &acceptor->boxes[i] : best;
  }
  return best;
}

// What an error of accept4 means (accept(2)). Returns whether to go on with the next connection.
static bool go_on(struct acceptor *acceptor, int error) {
  switch (error) {
    case EAGAIN:
      return false;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      rest(acceptor);
      return false;
    case EBADF:
    case EFAULT:
    case EINVAL:
    case ENOTSOCK:
    case EOPNOTSUPP:
      acceptor->failed = true;
      return false;
    default:
      // The connection's own, or a signal: it has gone from the queue, or the call is made again.
      return true;
  }
}

static void accept_some(struct acceptor *acceptor, unsigned which) {
  for (int i = 0; i < BATCH; i++) {
    struct mailbox *box = emptiest(acceptor);
    if (mailbox_count(box) == MAILBOX_PLACES) {
      rest(acceptor);
      return;
    }
    const int fd = accept4(acceptor->listeners[which], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      mailbox_put(box, (struct letter){.fd = fd, .tls = which == 0});
    } else if (!go_on(acceptor, errno)) {
      return;
    }
  }
}

void acceptor_turn(struct acceptor *acceptor) {
  if (acceptor->failed) {
    struct epoll_event nothing;
    (void)epoll_wait(acceptor->rest_fd, &nothing, 1, -1);
    return;
  }
  if (acceptor->resumes_ns != 0) {
    const int left_ms = clock_left_ms(acceptor->resumes_ns, clock_now_ns());
    if (left_ms > 0) {
      struct epoll_event nothing;
      (void)epoll_wait(acceptor->rest_fd, &nothing, 1, left_ms);
      return;
    }
    acceptor->resumes_ns = 0;
  }
  struct epoll_event events[2];
  const int count = epoll_wait(acceptor->epoll_fd, events, 2, -1);
  for (int i = 0; i < count && !acceptor->failed; i++) {
    accept_some(acceptor, events[i].data.u32);
  }
}
