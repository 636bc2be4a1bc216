// The calls of the simulated kernel do what the real ones do: the same calls are made inside and outside, and what they
// return is compared, failures by name.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/kernel/testing_kernel.h"

#define MAX_NOTES 512u

struct note {
  const char *what;
  int line;
  long value;
};

struct notes {
  struct note note[MAX_NOTES];
  size_t num;
};

static struct notes *notes;
static bool simulated;
static char small;

static void note(const char *what, int line, long value) {
  assert_true(notes->num < MAX_NOTES);
  notes->note[notes->num++] = (struct note){what, line, value};
}

// Notes what a call returns: a failure's error number, negative.
#define NOTE(call)                                               \
  do {                                                           \
    long note_value = (long)(call);                              \
    note(#call, __LINE__, note_value < 0 ? -errno : note_value); \
  } while (0)

// --- the peer: outside a real client on loopback, inside the driver --------------------------------------------------

struct peer {
  int fd;
  struct tg_tcp *end;
};

// Lets what was sent on loopback arrive, on a busy host too.
static void settle(void) {
  (void)usleep(20000);
}

// Leaves the kernel for what the driver does.
static void drive(void) {
  tg_kernel_leave(testing_kernel);
}

static void resume(void) {
  testing_pass(TG_SIM_NS_PER_MS);
  tg_kernel_enter(testing_kernel, 0);
}

static struct peer peer_connect(uint16_t port) {
  struct peer peer = {.fd = -1};
  if (simulated) {
    drive();
    peer.end = tg_kernel_connect(testing_kernel, port, NULL);
    assert_non_null(peer.end);
    resume();
    return peer;
  }
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  peer.fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(connect(peer.fd, (struct sockaddr *)&address, sizeof(address)), 0);
  settle();
  return peer;
}

static void peer_say(const struct peer *peer, const char *text) {
  ssize_t len = (ssize_t)strlen(text);
  if (simulated) {
    drive();
    assert_int_equal(tg_tcp_send(peer->end, text, (size_t)len, false), len);
    resume();
  } else {
    assert_int_equal(send(peer->fd, text, (size_t)len, MSG_NOSIGNAL), len);
    settle();
  }
}

static void peer_finish(const struct peer *peer) {
  if (simulated) {
    drive();
    tg_tcp_shutdown_write(peer->end);
    resume();
  } else {
    assert_int_equal(shutdown(peer->fd, SHUT_WR), 0);
    settle();
  }
}

static void peer_reset(const struct peer *peer) {
  if (simulated) {
    drive();
    tg_tcp_reset(peer->end);
    resume();
  } else {
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
    close(peer->fd);
    settle();
  }
}

static void peer_close(const struct peer *peer) {
  if (simulated) {
    drive();
    tg_tcp_close(peer->end);
    resume();
  } else {
    close(peer->fd);
  }
}

// --- what both do ----------------------------------------------------------------------------------------------------

static int bind_to(int fd, uint16_t port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  return bind(fd, (struct sockaddr *)&address, sizeof(address));
}

static uint16_t port_of(int fd) {
  struct sockaddr_in address = {0};
  socklen_t len = sizeof(address);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
  return ntohs(address.sin_port);
}

static int set(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof(value));
}

static int get(int fd, int level, int name) {
  int value = 0;
  socklen_t len = sizeof(value);
  return getsockopt(fd, level, name, &value, &len) == 0 ? value : -1;
}

static int new_socket(void) {
  return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
}

static int new_listener(uint16_t *out_port) {
  int fd = new_socket();
  assert_int_equal(bind_to(fd, 0), 0);
  assert_int_equal(listen(fd, 8), 0);
  *out_port = port_of(fd);
  return fd;
}

static int control(int epoll_fd, int operation, int fd, uint32_t events) {
  struct epoll_event event = {.events = events, .data.u64 = (uint64_t)fd};
  return epoll_ctl(epoll_fd, operation, fd, &event);
}

// Notes the events that are there, in their order; `fds` says which descriptor is which.
static void note_events(int line, int epoll_fd, int max, const int *fds, size_t num_fds) {
  struct epoll_event events[8];
  int num = epoll_wait(epoll_fd, events, max, 0);
  note("epoll_wait", line, num < 0 ? -errno : num);
  for (int i = 0; i < num; i++) {
    for (size_t j = 0; j < num_fds; j++) {
      if (events[i].data.u64 == (uint64_t)fds[j]) {
        note("which", line, (long)j);
      }
    }
    note("events", line, (long)events[i].events);
  }
}

#define NOTE_EVENTS(max, fds, num) note_events(__LINE__, epoll_fd, max, fds, num)
#define NOTE_EVENT(fd)             note_events(__LINE__, epoll_fd, 8, &(fd), 1)

static void close_all(const int *fds, size_t num) {
  for (size_t i = 0; i < num; i++) {
    NOTE(close(fds[i]));
  }
}

// --- scenarios -------------------------------------------------------------------------------------------------------

static void sockets_alone(void) {
  int fd = new_socket();
  int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  NOTE(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &small, sizeof(small)));
  NOTE(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, NULL, sizeof(int)));
  NOTE(set(fd, SOL_SOCKET, SO_ERROR, 1));
  NOTE(set(fd, SOL_SOCKET, SO_TYPE, 1));
  NOTE(set(event, IPPROTO_TCP, TCP_NODELAY, 1));
  NOTE(get(event, IPPROTO_TCP, TCP_NODELAY));
  NOTE(get(fd, SOL_SOCKET, SO_TYPE));
  NOTE(get(fd, SOL_SOCKET, SO_ACCEPTCONN));
  NOTE(get(fd, SOL_SOCKET, SO_ERROR));
  NOTE(get(fd, SOL_SOCKET, SO_REUSEADDR));
  NOTE(set(fd, SOL_SOCKET, SO_REUSEADDR, 7));
  NOTE(get(fd, SOL_SOCKET, SO_REUSEADDR));
  NOTE(get(fd, SOL_SOCKET, SO_REUSEPORT));
  NOTE(get(fd, SOL_SOCKET, SO_KEEPALIVE));
  NOTE(get(fd, IPPROTO_TCP, TCP_NODELAY));
  NOTE(set(fd, IPPROTO_TCP, TCP_NODELAY, 5));
  NOTE(get(fd, IPPROTO_TCP, TCP_NODELAY));
  NOTE(get(fd, IPPROTO_TCP, TCP_CORK));
  NOTE(set(fd, IPPROTO_TCP, TCP_CORK, 5));
  NOTE(get(fd, IPPROTO_TCP, TCP_CORK));
  NOTE(get(fd, IPPROTO_TCP, TCP_QUICKACK));
  NOTE(set(fd, SOL_SOCKET, SO_SNDBUF, 10000));
  NOTE(get(fd, SOL_SOCKET, SO_SNDBUF));
  NOTE(set(fd, SOL_SOCKET, SO_RCVBUF, 10000));
  NOTE(get(fd, SOL_SOCKET, SO_RCVBUF));
  NOTE(set(fd, SOL_SOCKET, SO_SNDBUF, 1));
  NOTE(get(fd, SOL_SOCKET, SO_SNDBUF));
  NOTE(set(fd, SOL_SOCKET, SO_RCVBUF, 1));
  NOTE(get(fd, SOL_SOCKET, SO_RCVBUF));
  struct linger linger = {.l_onoff = 1, .l_linger = 3};
  socklen_t len = sizeof(linger);
  NOTE(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
  NOTE(set(fd, SOL_SOCKET, SO_LINGER, 1));
  NOTE(getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &len));
  NOTE(len);
  NOTE(linger.l_linger);
  len = 2;
  NOTE(getsockopt(fd, SOL_SOCKET, SO_TYPE, &linger, &len));
  NOTE(len);
  NOTE(fcntl(fd, F_GETFL));
  NOTE(fcntl(event, F_GETFL));
  NOTE(fcntl(fd, F_GETFD));
  NOTE(fcntl(event, F_GETFD));
  NOTE(fcntl(fd, F_SETFD, FD_CLOEXEC));
  NOTE(fcntl(fd, F_GETFD));
  NOTE(recv(fd, &small, 1, 0));
  NOTE(send(fd, "x", 1, MSG_NOSIGNAL));
  NOTE(shutdown(fd, SHUT_WR));
  NOTE(shutdown(fd, 7));
  NOTE(accept4(fd, NULL, NULL, 0));
  NOTE(accept4(event, NULL, NULL, 0));
  NOTE(accept4(fd, NULL, NULL, 3));
  NOTE(listen(event, 1));
  NOTE(shutdown(event, SHUT_WR));
  NOTE(recv(event, &small, 1, 0));
  struct sockaddr_in name = {0};
  len = sizeof(name);
  NOTE(getpeername(fd, (struct sockaddr *)&name, &len));
  NOTE(getsockname(event, (struct sockaddr *)&name, &len));
  NOTE(getsockname(fd, (struct sockaddr *)&name, &len));
  NOTE(len);
  NOTE(name.sin_port);
  const int fds[] = {fd, event};
  close_all(fds, 2);
}

static void binding(void) {
  int first = new_socket();
  int second = new_socket();
  int event = eventfd(0, EFD_NONBLOCK);
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
  NOTE(bind(first, (struct sockaddr *)&v6, sizeof(v6)));
  NOTE(bind(first, (struct sockaddr *)&v6, 8));
  NOTE(bind_to(event, 0));
  NOTE(bind_to(first, 0));
  uint16_t port = port_of(first);
  NOTE(port >= 1024);
  NOTE(bind_to(first, 0));
  NOTE(bind_to(second, port));
  NOTE(set(first, SOL_SOCKET, SO_REUSEADDR, 1));
  NOTE(bind_to(second, port));
  NOTE(set(second, SOL_SOCKET, SO_REUSEADDR, 1));
  NOTE(bind_to(second, port));
  NOTE(listen(first, 1));
  NOTE(listen(second, 1));
  NOTE(set(first, SOL_SOCKET, SO_REUSEPORT, 1));
  NOTE(listen(second, 1));
  NOTE(listen(first, 5));
  NOTE(get(first, SOL_SOCKET, SO_ACCEPTCONN));
  struct sockaddr_in name = {0};
  socklen_t len = 4;
  NOTE(getsockname(first, (struct sockaddr *)&name, &len));
  NOTE(len);
  NOTE(name.sin_family);
  NOTE(ntohs(name.sin_port) == port);
  NOTE(name.sin_addr.s_addr);
  NOTE(accept4(first, NULL, NULL, SOCK_NONBLOCK));
  NOTE(recv(first, &small, 1, 0));
  NOTE(read(first, &small, 1));
  NOTE(send(first, "x", 1, MSG_NOSIGNAL));
  const int fds[] = {first, second, event};
  close_all(fds, 3);
}

static void a_connection(void) {
  uint16_t port;
  int listener = new_listener(&port);
  int epoll_fd = epoll_create1(0);
  NOTE(set(listener, IPPROTO_TCP, TCP_NODELAY, 1));
  NOTE(control(epoll_fd, EPOLL_CTL_ADD, listener, EPOLLIN));
  NOTE_EVENT(listener);
  struct peer peer = peer_connect(port);
  NOTE_EVENT(listener);
  struct sockaddr_in name = {0};
  socklen_t len = sizeof(name);
  int fd = accept4(listener, (struct sockaddr *)&name, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
  NOTE(fd >= 0);
  NOTE(len);
  NOTE(name.sin_addr.s_addr);
  NOTE(control(epoll_fd, EPOLL_CTL_DEL, listener, 0));
  NOTE(fcntl(fd, F_GETFL));
  NOTE(fcntl(fd, F_GETFD));
  NOTE(get(fd, IPPROTO_TCP, TCP_NODELAY));
  NOTE(get(fd, IPPROTO_TCP, TCP_QUICKACK));
  NOTE(set(fd, IPPROTO_TCP, TCP_QUICKACK, 0));
  NOTE(get(fd, IPPROTO_TCP, TCP_QUICKACK));
  NOTE(set(fd, IPPROTO_TCP, TCP_QUICKACK, 1));
  NOTE(get(fd, IPPROTO_TCP, TCP_QUICKACK));
  NOTE(port_of(fd) == port);
  NOTE(listen(fd, 1));
  NOTE(bind_to(fd, 0));
  NOTE(accept4(fd, NULL, NULL, 0));
  NOTE(recv(fd, &small, 1, 0));
  NOTE(recv(fd, &small, 0, 0));
  NOTE(send(fd, "", 0, MSG_NOSIGNAL));
  NOTE(control(epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP));
  NOTE_EVENT(fd);
  peer_say(&peer, "abcdef");
  NOTE_EVENT(fd);
  char in[16];
  int waiting = 0;
  NOTE(ioctl(fd, FIONREAD, &waiting));
  NOTE(waiting);
  NOTE(recv(fd, in, sizeof(in), MSG_PEEK));
  NOTE(recv(fd, in, 2, 0));
  struct iovec parts[2] = {{in, 1}, {in + 1, 8}};
  NOTE(readv(fd, parts, 2));
  NOTE(read(fd, in, sizeof(in)));
  NOTE(readv(fd, parts, -1));
  NOTE(readv(fd, parts, 0));
  NOTE_EVENT(fd);
  NOTE(send(fd, "xyz", 3, MSG_NOSIGNAL));
  peer_say(&peer, "last");
  peer_finish(&peer);
  NOTE_EVENT(fd);
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE_EVENT(fd);
  NOTE(send(fd, "xyz", 3, MSG_NOSIGNAL));
  NOTE(shutdown(fd, 7));
  NOTE(shutdown(fd, SHUT_WR));
  NOTE_EVENT(fd);
  NOTE(send(fd, "xyz", 3, MSG_NOSIGNAL));
  NOTE(get(fd, SOL_SOCKET, SO_ERROR));
  const int fds[] = {fd, listener, epoll_fd};
  close_all(fds, 3);
  peer_close(&peer);
}

static void half_closing(void) {
  uint16_t port;
  int listener = new_listener(&port);
  int epoll_fd = epoll_create1(0);
  struct peer peer = peer_connect(port);
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  NOTE(control(epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP));
  NOTE(shutdown(fd, SHUT_WR));
  NOTE_EVENT(fd);
  NOTE(shutdown(fd, SHUT_WR));
  peer_say(&peer, "abc");
  NOTE_EVENT(fd);
  char in[16];
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE(shutdown(fd, SHUT_RD));
  NOTE_EVENT(fd);
  NOTE(recv(fd, in, sizeof(in), 0));
  const int fds[] = {fd, listener, epoll_fd};
  close_all(fds, 3);
  peer_close(&peer);
}

static void a_reset(bool with_data) {
  uint16_t port;
  int listener = new_listener(&port);
  int epoll_fd = epoll_create1(0);
  struct peer peer = peer_connect(port);
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  NOTE(control(epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP));
  if (with_data) {
    peer_say(&peer, "abc");
  }
  peer_reset(&peer);
  NOTE_EVENT(fd);
  if (with_data) {
    NOTE(get(fd, SOL_SOCKET, SO_ERROR));
  }
  char in[16];
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE_EVENT(fd);
  NOTE(get(fd, SOL_SOCKET, SO_ERROR));
  NOTE(send(fd, "xyz", 3, MSG_NOSIGNAL));
  NOTE(shutdown(fd, SHUT_WR));
  struct sockaddr_in name;
  socklen_t len = sizeof(name);
  NOTE(getpeername(fd, (struct sockaddr *)&name, &len));
  const int fds[] = {fd, listener, epoll_fd};
  close_all(fds, 3);
}

static void a_reset_before_sending(void) {
  uint16_t port;
  int listener = new_listener(&port);
  struct peer peer = peer_connect(port);
  peer_reset(&peer);
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  NOTE(fd >= 0);
  NOTE(send(fd, "xyz", 3, MSG_NOSIGNAL));
  NOTE(send(fd, "xyz", 3, MSG_NOSIGNAL));
  NOTE(recv(fd, &small, 1, 0));
  const int fds[] = {fd, listener};
  close_all(fds, 2);
}

static void epoll_alone(void) {
  int epoll_fd = epoll_create1(0);
  int fds[3];
  const uint64_t one = 1;
  for (size_t i = 0; i < 3; i++) {
    fds[i] = eventfd(0, EFD_NONBLOCK);
    NOTE(control(epoll_fd, EPOLL_CTL_ADD, fds[i], EPOLLIN));
  }
  NOTE(control(epoll_fd, EPOLL_CTL_ADD, fds[0], EPOLLIN));
  NOTE(control(epoll_fd, EPOLL_CTL_ADD, epoll_fd, EPOLLIN));
  NOTE(control(fds[0], EPOLL_CTL_ADD, fds[1], EPOLLIN));
  NOTE(control(epoll_fd, 9, fds[0], EPOLLIN));
  NOTE(control(epoll_fd, EPOLL_CTL_MOD, fds[0], EPOLLIN | EPOLLEXCLUSIVE));
  NOTE(epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fds[0], NULL));
  NOTE(epoll_create1(12345));
  struct epoll_event event;
  NOTE(epoll_wait(epoll_fd, &event, 0, 0));
  NOTE(epoll_wait(epoll_fd, &event, -1, 0));
  NOTE(epoll_wait(fds[0], &event, 1, 0));
  NOTE(read(epoll_fd, &small, 1));
  NOTE(write(epoll_fd, &small, 1));
  NOTE_EVENTS(8, fds, 3);
  NOTE(write(fds[2], &one, sizeof(one)));
  NOTE(write(fds[0], &one, sizeof(one)));
  NOTE(write(fds[1], &one, sizeof(one)));
  NOTE_EVENTS(2, fds, 3);
  NOTE_EVENTS(2, fds, 3);
  NOTE_EVENTS(8, fds, 3);
  NOTE(control(epoll_fd, EPOLL_CTL_MOD, fds[1], EPOLLIN | EPOLLET));
  NOTE_EVENTS(8, fds, 3);
  NOTE_EVENTS(8, fds, 3);
  NOTE(write(fds[1], &one, sizeof(one)));
  NOTE_EVENTS(8, fds, 3);
  NOTE(control(epoll_fd, EPOLL_CTL_MOD, fds[2], EPOLLIN | EPOLLOUT | EPOLLONESHOT));
  NOTE_EVENTS(8, fds, 3);
  NOTE_EVENTS(8, fds, 3);
  NOTE(control(epoll_fd, EPOLL_CTL_MOD, fds[2], EPOLLIN));
  NOTE_EVENTS(8, fds, 3);
  NOTE(control(epoll_fd, EPOLL_CTL_DEL, fds[0], 0));
  NOTE(control(epoll_fd, EPOLL_CTL_DEL, fds[0], 0));
  NOTE(control(epoll_fd, EPOLL_CTL_MOD, fds[0], EPOLLIN));
  NOTE(control(epoll_fd, EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT));
  NOTE(control(epoll_fd, EPOLL_CTL_ADD, fds[0], EPOLLIN | EPOLLEXCLUSIVE));
  NOTE(control(epoll_fd, EPOLL_CTL_MOD, fds[0], EPOLLIN));
  NOTE_EVENTS(8, fds, 3);
  int fd = new_socket();
  NOTE(control(epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP));
  NOTE(close(fds[0]));
  NOTE(close(fds[1]));
  NOTE(close(fds[2]));
  NOTE_EVENT(fd);
  NOTE(close(fd));
  NOTE_EVENT(fd);
  NOTE(close(epoll_fd));
}

static void events_and_timers(void) {
  uint64_t number = 0;
  int fd = eventfd(3, EFD_NONBLOCK);
  NOTE(read(fd, &number, sizeof(number)));
  NOTE(number);
  NOTE(read(fd, &number, sizeof(number)));
  NOTE(read(fd, &small, 1));
  NOTE(write(fd, &small, 1));
  number = UINT64_MAX;
  NOTE(write(fd, &number, sizeof(number)));
  number--;
  NOTE(write(fd, &number, sizeof(number)));
  number = 1;
  NOTE(write(fd, &number, sizeof(number)));
  NOTE(close(fd));
  NOTE(eventfd(0, 12345));
  NOTE(timerfd_create(17, 0));
  NOTE(timerfd_create(CLOCK_MONOTONIC, 12345));
  fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  int event = eventfd(0, EFD_NONBLOCK);
  struct itimerspec value = {.it_value = {.tv_nsec = 1000000000}};
  NOTE(timerfd_settime(fd, 0, &value, NULL));
  value.it_value.tv_nsec = 0;
  value.it_value.tv_sec = 1000;
  NOTE(timerfd_settime(event, 0, &value, NULL));
  NOTE(timerfd_gettime(event, &value));
  NOTE(timerfd_settime(fd, 0, &value, NULL));
  NOTE(read(fd, &number, sizeof(number)));
  NOTE(read(fd, &small, 1));
  NOTE(write(fd, &number, sizeof(number)));
  NOTE(timerfd_gettime(fd, &value));
  NOTE(value.it_value.tv_sec);
  NOTE(value.it_interval.tv_sec);
  value = (struct itimerspec){.it_value = {.tv_sec = 1}};
  NOTE(timerfd_settime(fd, TFD_TIMER_ABSTIME, &value, NULL));
  // It is past, but time must pass for the real one to notice.
  for (int i = 0; i < 1000000 && read(fd, &number, sizeof(number)) != 8; i++) {
  }
  NOTE(number);
  NOTE(timerfd_gettime(fd, &value));
  NOTE(value.it_value.tv_sec);
  NOTE(close(fd));
  NOTE(close(event));
  char bytes[300];
  NOTE(getrandom(bytes, 12, 0));
  NOTE(getrandom(bytes, 12, 0x100));
  NOTE(getentropy(bytes, 256));
  NOTE(getentropy(bytes, 257));
}

static void all_scenarios(void) {
  sockets_alone();
  binding();
  a_connection();
  half_closing();
  a_reset(false);
  a_reset(true);
  a_reset_before_sending();
  epoll_alone();
  events_and_timers();
}

static void say(char *out, size_t size, long value) {
  const char *name = value < 0 ? strerrorname_np((int)-value) : NULL;
  if (name != NULL) {
    snprintf(out, size, "%s", name);
  } else {
    snprintf(out, size, "%#lx", value);
  }
}

static void calls_do_what_linux_does(void **state) {
  (void)state;
  static struct notes real;
  static struct notes model;
  notes = &real;
  simulated = false;
  all_scenarios();
  notes = &model;
  simulated = true;
  tg_kernel_enter(testing_kernel, 0);
  all_scenarios();
  tg_kernel_leave(testing_kernel);
  size_t differ = 0;
  for (size_t i = 0; i < real.num && i < model.num; i++) {
    assert_int_equal(real.note[i].line, model.note[i].line);
    if (real.note[i].value != model.note[i].value) {
      char is[32];
      char should[32];
      say(is, sizeof(is), model.note[i].value);
      say(should, sizeof(should), real.note[i].value);
      print_error("line %d: %s: %s in the simulated kernel, %s in this host's\n", real.note[i].line, real.note[i].what,
                  is, should);
      differ++;
    }
  }
  print_message("%zu results compared, %zu differ\n", real.num, differ);
  assert_int_equal(real.num, model.num);
  assert_int_equal(differ, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(calls_do_what_linux_does, testing_kernel_set_up, testing_kernel_tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
