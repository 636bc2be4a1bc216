// Sockets that listen: binding, backlog, SO_REUSEPORT, options, names, descriptors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/kernel/testing_kernel.h"

static int set(int fd, int level, int name, int value) {
  return TESTING_INSIDE(setsockopt(fd, level, name, &value, sizeof(value)));
}

static int get(int fd, int level, int name) {
  int value = -1;
  socklen_t len = sizeof(value);
  assert_int_equal(TESTING_INSIDE(getsockopt(fd, level, name, &value, &len)), 0);
  assert_int_equal(len, sizeof(value));
  return value;
}

static int open_socket(void) {
  return TESTING_INSIDE(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
}

static int bind_to(int fd, uint16_t port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  return TESTING_INSIDE(bind(fd, (struct sockaddr *)&address, sizeof(address)));
}

static void descriptors_are_the_lowest_that_are_free(void **state) {
  (void)state;
  int a = open_socket();
  int b = open_socket();
  int c = open_socket();
  assert_int_equal(a, TG_KERNEL_FIRST_FD);
  assert_int_equal(b, a + 1);
  assert_int_equal(c, a + 2);
  assert_int_equal(TESTING_INSIDE(close(b)), 0);
  assert_int_equal(open_socket(), b);
  assert_int_equal(tg_kernel_open_fds(testing_kernel), 3);
}

static void a_closed_descriptor_is_a_breach(void **state) {
  (void)state;
  int fd = open_socket();
  assert_int_equal(TESTING_INSIDE(close(fd)), 0);
  assert_int_equal(TESTING_INSIDE(close(fd)), -1);
  assert_int_equal(errno, EBADF);
  testing_expect_breach("P1");
  char byte;
  assert_int_equal(TESTING_INSIDE(recv(fd, &byte, 1, 0)), -1);
  assert_int_equal(errno, EBADF);
  testing_expect_breach("P1");
  assert_int_equal(TESTING_INSIDE(write(1, "x", 1)), -1);
  testing_expect_breach("P1");
}

static void success_leaves_errno_alone(void **state) {
  (void)state;
  errno = EXDEV;
  int fd = open_socket();
  assert_true(fd >= 0);
  assert_int_equal(TESTING_INSIDE(fcntl(fd, F_GETFL)), O_RDWR | O_NONBLOCK);
  assert_int_equal(errno, EXDEV);
}

static void a_port_has_one_owner_unless_all_share_it(void **state) {
  (void)state;
  int first = open_socket();
  int second = open_socket();
  assert_int_equal(bind_to(first, TESTING_PORT), 0);
  assert_int_equal(TESTING_INSIDE(listen(first, 1)), 0);
  assert_int_equal(set(second, SOL_SOCKET, SO_REUSEPORT, 1), 0);
  assert_int_equal(bind_to(second, TESTING_PORT), -1);
  assert_int_equal(errno, EADDRINUSE);
  // As at bind: the option's value now counts, not the one when the other was bound.
  assert_int_equal(set(first, SOL_SOCKET, SO_REUSEPORT, 1), 0);
  assert_int_equal(bind_to(second, TESTING_PORT), 0);
  assert_int_equal(TESTING_INSIDE(listen(second, 1)), 0);
}

static void two_that_reuse_an_address_cannot_both_listen(void **state) {
  (void)state;
  int first = open_socket();
  int second = open_socket();
  assert_int_equal(set(first, SOL_SOCKET, SO_REUSEADDR, 1), 0);
  assert_int_equal(set(second, SOL_SOCKET, SO_REUSEADDR, 1), 0);
  assert_int_equal(bind_to(first, TESTING_PORT), 0);
  assert_int_equal(bind_to(second, TESTING_PORT), 0);
  assert_int_equal(TESTING_INSIDE(listen(first, 1)), 0);
  assert_int_equal(TESTING_INSIDE(listen(second, 1)), -1);
  assert_int_equal(errno, EADDRINUSE);
}

static void port_0_is_any_that_is_free(void **state) {
  (void)state;
  int first = open_socket();
  int second = open_socket();
  assert_int_equal(bind_to(first, 0), 0);
  assert_int_equal(bind_to(second, 0), 0);
  struct sockaddr_in a = {0};
  struct sockaddr_in b = {0};
  socklen_t len = sizeof(a);
  assert_int_equal(TESTING_INSIDE(getsockname(first, (struct sockaddr *)&a, &len)), 0);
  assert_int_equal(len, sizeof(a));
  assert_int_equal(TESTING_INSIDE(getsockname(second, (struct sockaddr *)&b, &len)), 0);
  assert_int_equal(a.sin_family, AF_INET);
  assert_true(ntohs(a.sin_port) >= 32768);
  assert_int_not_equal(a.sin_port, b.sin_port);
}

static void accept_takes_connections_in_order_with_their_address(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 8);
  struct tg_tcp *first = testing_connect(TESTING_PORT);
  struct tg_tcp *second = testing_connect(TESTING_PORT);
  uint64_t at_ns;
  assert_false(tg_kernel_accepted(testing_kernel, first, &at_ns));
  assert_int_equal(tg_kernel_socket(testing_kernel, first), -1);
  struct sockaddr_in peer = {0};
  socklen_t len = sizeof(peer);
  int a = TESTING_INSIDE(accept4(listener, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK));
  int b = TESTING_INSIDE(accept(listener, NULL, NULL));
  assert_int_equal(peer.sin_family, AF_INET);
  assert_int_equal(peer.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
  assert_int_equal(tg_kernel_socket(testing_kernel, first), a);
  assert_int_equal(tg_kernel_socket(testing_kernel, second), b);
  assert_true(tg_kernel_accepted(testing_kernel, first, &at_ns));
  assert_in_range(at_ns, 1, tg_kernel_sim(testing_kernel)->now_ns - 1);
  assert_int_equal(TESTING_INSIDE(fcntl(a, F_GETFL)) & O_NONBLOCK, O_NONBLOCK);
  assert_int_equal(TESTING_INSIDE(fcntl(b, F_GETFL)) & O_NONBLOCK, 0);
  assert_int_equal(tg_kernel_accepts(testing_kernel, TESTING_PORT), 2);
  assert_int_equal(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)), -1);
  assert_int_equal(errno, EAGAIN);
}

static void a_connection_arrives_one_delay_later(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 8);
  struct tg_tcp_options link;
  tg_tcp_options_default(&link);
  link.delay_ns = TG_SIM_NS_PER_MS;
  assert_non_null(tg_kernel_connect(testing_kernel, TESTING_PORT, &link));
  assert_int_equal(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)), -1);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_true(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)) > 0);
}

static void no_listener_refuses(void **state) {
  (void)state;
  assert_null(tg_kernel_connect(testing_kernel, TESTING_PORT, NULL));
  int listener = testing_listen(TESTING_PORT, 8);
  assert_int_equal(TESTING_INSIDE(close(listener)), 0);
  assert_null(tg_kernel_connect(testing_kernel, TESTING_PORT, NULL));
}

static void a_full_queue_refuses(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 2);
  // sk_acceptq_is_full: one more than the backlog.
  assert_non_null(testing_connect(TESTING_PORT));
  assert_non_null(testing_connect(TESTING_PORT));
  assert_non_null(testing_connect(TESTING_PORT));
  assert_null(testing_connect(TESTING_PORT));
  assert_true(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)) > 0);
  assert_non_null(testing_connect(TESTING_PORT));
  assert_null(testing_connect(TESTING_PORT));
}

static void the_backlog_has_a_limit(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  options.backlog_max = 1;
  testing_kernel_restart(&options);
  testing_listen(TESTING_PORT, INT_MAX);
  assert_non_null(testing_connect(TESTING_PORT));
  assert_non_null(testing_connect(TESTING_PORT));
  assert_null(testing_connect(TESTING_PORT));
}

static void closing_a_listener_resets_those_who_wait(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 8);
  struct tg_tcp *queued = testing_connect(TESTING_PORT);
  struct tg_tcp *arriving = tg_kernel_connect(testing_kernel, TESTING_PORT, NULL);
  assert_int_equal(TESTING_INSIDE(close(listener)), 0);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_true(tg_tcp_rst_received(queued));
  assert_true(tg_tcp_rst_received(arriving));
}

static void the_group_shares_its_connections(void **state) {
  (void)state;
  enum { NUM_LISTENERS = 4, NUM_CLIENTS = 100 };
  int listeners[NUM_LISTENERS];
  for (size_t i = 0; i < NUM_LISTENERS; i++) {
    listeners[i] = testing_listen(TESTING_PORT, NUM_CLIENTS);
  }
  for (size_t i = 0; i < NUM_CLIENTS; i++) {
    assert_non_null(testing_connect(TESTING_PORT));
  }
  for (size_t i = 0; i < NUM_LISTENERS; i++) {
    size_t accepted = 0;
    while (TESTING_INSIDE(accept4(listeners[i], NULL, NULL, 0)) > 0) {
      accepted++;
    }
    assert_int_equal(errno, EAGAIN);
    assert_in_range(accepted, NUM_CLIENTS / NUM_LISTENERS / 2, NUM_CLIENTS / NUM_LISTENERS * 2);
  }
}

static void places_of_finished_connections_are_used_again(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 1000);
  for (size_t i = 0; i < 3 * TG_KERNEL_PAIRS_MAX; i++) {
    struct tg_tcp *client = testing_connect(TESTING_PORT);
    assert_non_null(client);
    int fd = TESTING_INSIDE(accept4(listener, NULL, NULL, SOCK_NONBLOCK));
    assert_int_equal(TESTING_INSIDE(close(fd)), 0);
    tg_tcp_close(client);
    testing_pass(100 * TG_SIM_NS_PER_MS);
  }
  for (size_t i = 0; i < TG_KERNEL_PAIRS_MAX; i++) {
    assert_non_null(testing_connect(TESTING_PORT));
  }
  assert_null(testing_connect(TESTING_PORT));
}

static void emfile_leaves_the_connection_in_the_queue(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 8);
  int spare = TESTING_INSIDE(eventfd(0, EFD_NONBLOCK));
  tg_kernel_set_max_fds(testing_kernel, 2);
  // Even an empty queue: the descriptor is taken first.
  assert_int_equal(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)), -1);
  assert_int_equal(errno, EMFILE);
  assert_non_null(testing_connect(TESTING_PORT));
  assert_int_equal(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)), -1);
  assert_int_equal(errno, EMFILE);
  assert_int_equal(TESTING_INSIDE(socket(AF_INET, SOCK_STREAM, 0)), -1);
  assert_int_equal(errno, EMFILE);
  assert_int_equal(TESTING_INSIDE(close(spare)), 0);
  assert_int_equal(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)), spare);
}

static void connections_inherit_the_listeners_options(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 8);
  assert_int_equal(set(listener, IPPROTO_TCP, TCP_NODELAY, 1), 0);
  assert_int_equal(set(listener, IPPROTO_TCP, TCP_QUICKACK, 0), 0);
  assert_int_equal(set(listener, SOL_SOCKET, SO_SNDBUF, 10000), 0);
  assert_int_equal(get(listener, SOL_SOCKET, SO_SNDBUF), 20000);
  assert_int_equal(get(listener, SOL_SOCKET, SO_ACCEPTCONN), 1);
  testing_connect(TESTING_PORT);
  int fd = TESTING_INSIDE(accept4(listener, NULL, NULL, SOCK_NONBLOCK));
  assert_int_equal(get(fd, IPPROTO_TCP, TCP_NODELAY), 1);
  assert_int_equal(get(fd, IPPROTO_TCP, TCP_QUICKACK), 0);
  assert_int_equal(get(fd, SOL_SOCKET, SO_SNDBUF), 20000);
  assert_int_equal(get(fd, SOL_SOCKET, SO_ACCEPTCONN), 0);
  assert_int_equal(get(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
  char bulk[30000] = {0};
  assert_int_equal(TESTING_INSIDE(send(fd, bulk, sizeof(bulk), MSG_NOSIGNAL)), 20000);
  assert_int_equal(tg_kernel_quickacks(testing_kernel), 0);
  assert_int_equal(set(fd, IPPROTO_TCP, TCP_QUICKACK, 1), 0);
  assert_int_equal(get(fd, IPPROTO_TCP, TCP_QUICKACK), 1);
  assert_int_equal(set(fd, IPPROTO_TCP, TCP_QUICKACK, 2), 0);
  assert_int_equal(tg_kernel_quickacks(testing_kernel), 1);
}

static void options_refuse_what_linux_refuses(void **state) {
  (void)state;
  int fd = open_socket();
  char small = 1;
  assert_int_equal(TESTING_INSIDE(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &small, sizeof(small))), -1);
  assert_int_equal(errno, EINVAL);
  assert_int_equal(set(fd, SOL_SOCKET, SO_ERROR, 1), -1);
  assert_int_equal(errno, ENOPROTOOPT);
  int event = TESTING_INSIDE(eventfd(0, EFD_NONBLOCK));
  assert_int_equal(set(event, IPPROTO_TCP, TCP_NODELAY, 1), -1);
  assert_int_equal(errno, ENOTSOCK);
}

static void an_option_that_is_not_modelled_is_a_breach(void **state) {
  (void)state;
  int fd = open_socket();
  struct tcp_info info;
  socklen_t len = sizeof(info);
  assert_int_equal(TESTING_INSIDE(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len)), -1);
  testing_expect_breach("unmodelled");
  assert_int_equal(set(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 1), -1);
  testing_expect_breach("unmodelled");
  assert_int_equal(TESTING_INSIDE(socket(AF_UNIX, SOCK_STREAM, 0)), -1);
  testing_expect_breach("unmodelled");
  assert_int_equal(TESTING_INSIDE(fcntl(fd, F_DUPFD, 0)), -1);
  testing_expect_breach("unmodelled");
}

static void a_descriptor_that_would_block_is_a_breach(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 8);
  assert_int_equal(TESTING_INSIDE(fcntl(listener, F_SETFL, 0)), 0);
  assert_int_equal(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)), -1);
  testing_expect_breach("blocks");
  int on = 1;
  assert_int_equal(TESTING_INSIDE(ioctl(listener, FIONBIO, &on)), 0);
  assert_int_equal(TESTING_INSIDE(accept4(listener, NULL, NULL, 0)), -1);
}

static void ipv6_listens_too(void **state) {
  (void)state;
  int fd = TESTING_INSIDE(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0));
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(TESTING_PORT), .sin6_addr = in6addr_any};
  assert_int_equal(TESTING_INSIDE(bind(fd, (struct sockaddr *)&address, sizeof(address))), 0);
  assert_int_equal(TESTING_INSIDE(listen(fd, 8)), 0);
  testing_connect(TESTING_PORT);
  struct sockaddr_in6 peer = {0};
  socklen_t len = sizeof(peer);
  assert_true(TESTING_INSIDE(accept4(fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK)) > 0);
  assert_int_equal(len, sizeof(peer));
  assert_int_equal(peer.sin6_family, AF_INET6);
  assert_memory_equal(&peer.sin6_addr, &in6addr_loopback, sizeof(in6addr_loopback));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, testing_kernel_set_up, testing_kernel_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(descriptors_are_the_lowest_that_are_free),
      TEST(a_closed_descriptor_is_a_breach),
      TEST(success_leaves_errno_alone),
      TEST(a_port_has_one_owner_unless_all_share_it),
      TEST(two_that_reuse_an_address_cannot_both_listen),
      TEST(port_0_is_any_that_is_free),
      TEST(accept_takes_connections_in_order_with_their_address),
      TEST(a_connection_arrives_one_delay_later),
      TEST(no_listener_refuses),
      TEST(a_full_queue_refuses),
      TEST(the_backlog_has_a_limit),
      TEST(closing_a_listener_resets_those_who_wait),
      TEST(the_group_shares_its_connections),
      TEST(places_of_finished_connections_are_used_again),
      TEST(emfile_leaves_the_connection_in_the_queue),
      TEST(connections_inherit_the_listeners_options),
      TEST(options_refuse_what_linux_refuses),
      TEST(an_option_that_is_not_modelled_is_a_breach),
      TEST(a_descriptor_that_would_block_is_a_breach),
      TEST(ipv6_listens_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
