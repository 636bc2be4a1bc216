// The calls of the simulated kernel do what the real ones do: sockets without a connection.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/kernel/testing_kernel.h"
#include "harness/kernel/testing_linux.h"

static char small;

static void sockets_alone(void) {
  int fd = testing_new_socket();
  int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  NOTE(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &small, sizeof(small)));
  NOTE(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, NULL, sizeof(int)));
  NOTE(testing_set(fd, SOL_SOCKET, SO_ERROR, 1));
  NOTE(testing_set(fd, SOL_SOCKET, SO_TYPE, 1));
  NOTE(testing_set(event, IPPROTO_TCP, TCP_NODELAY, 1));
  NOTE(testing_get(event, IPPROTO_TCP, TCP_NODELAY));
  NOTE(testing_get(fd, SOL_SOCKET, SO_TYPE));
  NOTE(testing_get(fd, SOL_SOCKET, SO_ACCEPTCONN));
  NOTE(testing_get(fd, SOL_SOCKET, SO_ERROR));
  NOTE(testing_get(fd, SOL_SOCKET, SO_REUSEADDR));
  NOTE(testing_set(fd, SOL_SOCKET, SO_REUSEADDR, 7));
  NOTE(testing_get(fd, SOL_SOCKET, SO_REUSEADDR));
  NOTE(testing_get(fd, SOL_SOCKET, SO_REUSEPORT));
  NOTE(testing_get(fd, SOL_SOCKET, SO_KEEPALIVE));
  NOTE(testing_get(fd, IPPROTO_TCP, TCP_NODELAY));
  NOTE(testing_set(fd, IPPROTO_TCP, TCP_NODELAY, 5));
  NOTE(testing_get(fd, IPPROTO_TCP, TCP_NODELAY));
  NOTE(testing_get(fd, IPPROTO_TCP, TCP_CORK));
  NOTE(testing_set(fd, IPPROTO_TCP, TCP_CORK, 5));
  NOTE(testing_get(fd, IPPROTO_TCP, TCP_CORK));
  NOTE(testing_get(fd, IPPROTO_TCP, TCP_QUICKACK));
  NOTE(testing_set(fd, SOL_SOCKET, SO_SNDBUF, 10000));
  NOTE(testing_get(fd, SOL_SOCKET, SO_SNDBUF));
  NOTE(testing_set(fd, SOL_SOCKET, SO_RCVBUF, 10000));
  NOTE(testing_get(fd, SOL_SOCKET, SO_RCVBUF));
  NOTE(testing_set(fd, SOL_SOCKET, SO_SNDBUF, 1));
  NOTE(testing_get(fd, SOL_SOCKET, SO_SNDBUF));
  NOTE(testing_set(fd, SOL_SOCKET, SO_RCVBUF, 1));
  NOTE(testing_get(fd, SOL_SOCKET, SO_RCVBUF));
  struct linger linger = {.l_onoff = 1, .l_linger = 3};
  socklen_t len = sizeof(linger);
  NOTE(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
  NOTE(testing_set(fd, SOL_SOCKET, SO_LINGER, 1));
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
  testing_close_all(fds, 2);
}

static void binding(void) {
  int first = testing_new_socket();
  int second = testing_new_socket();
  int event = eventfd(0, EFD_NONBLOCK);
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
  NOTE(bind(first, (struct sockaddr *)&v6, sizeof(v6)));
  NOTE(bind(first, (struct sockaddr *)&v6, 8));
  NOTE(testing_bind_to(event, 0));
  NOTE(testing_bind_to(first, 0));
  uint16_t port = testing_port_of(first);
  NOTE(port >= 1024);
  NOTE(testing_bind_to(first, 0));
  NOTE(testing_bind_to(second, port));
  NOTE(testing_set(first, SOL_SOCKET, SO_REUSEADDR, 1));
  NOTE(testing_bind_to(second, port));
  NOTE(testing_set(second, SOL_SOCKET, SO_REUSEADDR, 1));
  NOTE(testing_bind_to(second, port));
  NOTE(listen(first, 1));
  NOTE(listen(second, 1));
  NOTE(testing_set(first, SOL_SOCKET, SO_REUSEPORT, 1));
  NOTE(listen(second, 1));
  NOTE(listen(first, 5));
  NOTE(testing_get(first, SOL_SOCKET, SO_ACCEPTCONN));
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
  testing_close_all(fds, 3);
}

static void sockets_alone_do_what_linux_does(void **state) {
  (void)state;
  testing_compare(sockets_alone);
}

static void binding_does_what_linux_does(void **state) {
  (void)state;
  testing_compare(binding);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, testing_kernel_set_up, testing_kernel_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(sockets_alone_do_what_linux_does), TEST(binding_does_what_linux_does)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
