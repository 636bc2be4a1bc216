// The calls of the simulated kernel do what the real ones do: a connection, from accept4 to its end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/kernel/testing_kernel.h"
#include "harness/kernel/testing_linux.h"

#define NOTE_EVENTS(max, fds, num) testing_note_events(__LINE__, epoll_fd, max, fds, num)
#define NOTE_EVENT(fd)             testing_note_events(__LINE__, epoll_fd, 8, &(fd), 1)

static char small;

static void a_connection(void) {
  uint16_t port;
  int listener = testing_new_listener(&port);
  int epoll_fd = epoll_create1(0);
  NOTE(testing_set(listener, IPPROTO_TCP, TCP_NODELAY, 1));
  NOTE(testing_control(epoll_fd, EPOLL_CTL_ADD, listener, EPOLLIN));
  NOTE_EVENT(listener);
  struct testing_far far = testing_far_connect(port);
  NOTE_EVENT(listener);
  struct sockaddr_in name = {0};
  socklen_t len = sizeof(name);
  int fd = accept4(listener, (struct sockaddr *)&name, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
  NOTE(fd >= 0);
  NOTE(len);
  NOTE(name.sin_addr.s_addr);
  NOTE(testing_control(epoll_fd, EPOLL_CTL_DEL, listener, 0));
  NOTE(fcntl(fd, F_GETFL));
  NOTE(fcntl(fd, F_GETFD));
  NOTE(testing_get(fd, IPPROTO_TCP, TCP_NODELAY));
  NOTE(testing_get(fd, IPPROTO_TCP, TCP_QUICKACK));
  NOTE(testing_set(fd, IPPROTO_TCP, TCP_QUICKACK, 0));
  NOTE(testing_get(fd, IPPROTO_TCP, TCP_QUICKACK));
  NOTE(testing_set(fd, IPPROTO_TCP, TCP_QUICKACK, 1));
  NOTE(testing_get(fd, IPPROTO_TCP, TCP_QUICKACK));
  NOTE(testing_port_of(fd) == port);
  NOTE(listen(fd, 1));
  NOTE(testing_bind_to(fd, 0));
  NOTE(accept4(fd, NULL, NULL, 0));
  NOTE(recv(fd, &small, 1, 0));
  NOTE(recv(fd, &small, 0, 0));
  NOTE(send(fd, "", 0, MSG_NOSIGNAL));
  NOTE(testing_control(epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP));
  NOTE_EVENT(fd);
  testing_far_say(&far, "abcdef");
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
  testing_far_say(&far, "last");
  testing_far_finish(&far);
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
  NOTE(testing_get(fd, SOL_SOCKET, SO_ERROR));
  const int fds[] = {fd, listener, epoll_fd};
  testing_close_all(fds, 3);
  testing_far_close(&far);
}

static void half_closing(void) {
  uint16_t port;
  int listener = testing_new_listener(&port);
  int epoll_fd = epoll_create1(0);
  struct testing_far far = testing_far_connect(port);
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  NOTE(testing_control(epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP));
  NOTE(shutdown(fd, SHUT_WR));
  NOTE_EVENT(fd);
  NOTE(shutdown(fd, SHUT_WR));
  testing_far_say(&far, "abc");
  NOTE_EVENT(fd);
  char in[16];
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE(shutdown(fd, SHUT_RD));
  NOTE_EVENT(fd);
  NOTE(recv(fd, in, sizeof(in), 0));
  const int fds[] = {fd, listener, epoll_fd};
  testing_close_all(fds, 3);
  testing_far_close(&far);
}

static void a_reset(bool with_data) {
  uint16_t port;
  int listener = testing_new_listener(&port);
  int epoll_fd = epoll_create1(0);
  struct testing_far far = testing_far_connect(port);
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  NOTE(testing_control(epoll_fd, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP));
  if (with_data) {
    testing_far_say(&far, "abc");
  }
  testing_far_reset(&far);
  NOTE_EVENT(fd);
  if (with_data) {
    NOTE(testing_get(fd, SOL_SOCKET, SO_ERROR));
  }
  char in[16];
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE(recv(fd, in, sizeof(in), 0));
  NOTE_EVENT(fd);
  NOTE(testing_get(fd, SOL_SOCKET, SO_ERROR));
  NOTE(send(fd, "xyz", 3, MSG_NOSIGNAL));
  NOTE(shutdown(fd, SHUT_WR));
  struct sockaddr_in name;
  socklen_t len = sizeof(name);
  NOTE(getpeername(fd, (struct sockaddr *)&name, &len));
  const int fds[] = {fd, listener, epoll_fd};
  testing_close_all(fds, 3);
}

static void a_reset_alone(void) {
  a_reset(false);
}

static void a_reset_behind_data(void) {
  a_reset(true);
}

static void a_reset_before_sending(void) {
  uint16_t port;
  int listener = testing_new_listener(&port);
  struct testing_far far = testing_far_connect(port);
  testing_far_reset(&far);
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  NOTE(fd >= 0);
  NOTE(send(fd, "xyz", 3, MSG_NOSIGNAL));
  NOTE(send(fd, "xyz", 3, MSG_NOSIGNAL));
  NOTE(recv(fd, &small, 1, 0));
  const int fds[] = {fd, listener};
  testing_close_all(fds, 2);
}

static void a_connection_does_what_linux_does(void **state) {
  (void)state;
  testing_compare(a_connection);
}

static void half_closing_does_what_linux_does(void **state) {
  (void)state;
  testing_compare(half_closing);
}

static void a_reset_does_what_linux_does(void **state) {
  (void)state;
  testing_compare(a_reset_alone);
}

static void a_reset_behind_data_does_what_linux_does(void **state) {
  (void)state;
  testing_compare(a_reset_behind_data);
}

static void a_reset_before_sending_does_what_linux_does(void **state) {
  (void)state;
  testing_compare(a_reset_before_sending);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, testing_kernel_set_up, testing_kernel_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(a_connection_does_what_linux_does), TEST(half_closing_does_what_linux_does),
                                     TEST(a_reset_does_what_linux_does), TEST(a_reset_behind_data_does_what_linux_does),
                                     TEST(a_reset_before_sending_does_what_linux_does)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
