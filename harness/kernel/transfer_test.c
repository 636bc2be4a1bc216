// Bytes in and out, and how a connection ends.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/kernel/testing_kernel.h"

static char bulk[1 << 20];

static int pending_error(int fd) {
  int error = -1;
  socklen_t len = sizeof(error);
  assert_int_equal(TESTING_INSIDE(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len)), 0);
  return error;
}

static void nothing_there_is_eagain(void **state) {
  (void)state;
  int fd;
  testing_pair(&fd);
  char byte;
  assert_int_equal(TESTING_INSIDE(recv(fd, &byte, 1, 0)), -1);
  assert_int_equal(errno, EAGAIN);
  assert_int_equal(TESTING_INSIDE(read(fd, &byte, 1)), -1);
  assert_int_equal(errno, EAGAIN);
}

static void a_read_takes_what_is_there(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  testing_say(client, "abcdef");
  char in[16] = "";
  int waiting = 0;
  assert_int_equal(TESTING_INSIDE(ioctl(fd, FIONREAD, &waiting)), 0);
  assert_int_equal(waiting, 6);
  assert_int_equal(TESTING_INSIDE(recv(fd, in, 2, 0)), 2);
  assert_memory_equal(in, "ab", 2);
  assert_int_equal(TESTING_INSIDE(recv(fd, in, sizeof(in), MSG_PEEK)), 4);
  assert_memory_equal(in, "cdef", 4);
  assert_int_equal(TESTING_INSIDE(read(fd, in, sizeof(in))), 4);
  assert_memory_equal(in, "cdef", 4);
}

static void vectors_scatter_and_gather(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  testing_say(client, "abcdef");
  char one[2];
  char two[10];
  struct iovec in[2] = {{one, sizeof(one)}, {two, sizeof(two)}};
  assert_int_equal(TESTING_INSIDE(readv(fd, in, 2)), 6);
  assert_memory_equal(one, "ab", 2);
  assert_memory_equal(two, "cdef", 4);
  testing_say(client, "gh");
  struct msghdr message = {.msg_iov = in, .msg_iovlen = 2};
  assert_int_equal(TESTING_INSIDE(recvmsg(fd, &message, 0)), 2);
  assert_memory_equal(one, "gh", 2);
  struct iovec out[2] = {{(char *)"xy", 2}, {(char *)"z", 1}};
  assert_int_equal(TESTING_INSIDE(writev(fd, out, 2)), 3);
  message = (struct msghdr){.msg_iov = out, .msg_iovlen = 2};
  assert_int_equal(TESTING_INSIDE(sendmsg(fd, &message, MSG_NOSIGNAL)), 3);
  // Nagle holds the second until the first is acknowledged.
  testing_pass(100 * TG_SIM_NS_PER_MS);
  char got[8];
  assert_int_equal(tg_tcp_recv(client, got, sizeof(got), false), 6);
  assert_memory_equal(got, "xyzxyz", 6);
}

static void bytes_arrive_within_a_turn(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  assert_int_equal(tg_tcp_send(client, "x", 1, false), 1);
  char byte;
  // A delay of 2 us, 1 us a call: the second call sees it.
  assert_int_equal(TESTING_INSIDE(recv(fd, &byte, 1, 0)), -1);
  assert_int_equal(TESTING_INSIDE(recv(fd, &byte, 1, 0)), 1);
}

static void a_send_is_partial_when_the_buffer_fills(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  size_t sent = 0;
  ssize_t put;
  bool partial = false;
  // The client does not read: its window closes, then the buffer fills.
  while ((put = TESTING_INSIDE(send(fd, bulk, 100000, MSG_NOSIGNAL))) > 0) {
    sent += (size_t)put;
    partial = partial || put < 100000;
    testing_pass(TG_SIM_NS_PER_MS);
  }
  assert_int_equal(errno, EAGAIN);
  assert_true(partial);
  assert_true(tg_tcp_unread(client) > 0 && tg_tcp_unread(client) < sent);
  // The rest follows as the client reads.
  size_t got = 0;
  ssize_t len;
  for (int i = 0; i < 1000 && got < sent; i++) {
    while ((len = tg_tcp_recv(client, bulk, sizeof(bulk), false)) > 0) {
      got += (size_t)len;
    }
    testing_pass(TG_SIM_NS_PER_MS);
  }
  assert_int_equal(got, sent);
}

static void the_end_is_read_after_the_bytes(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  testing_say(client, "last");
  tg_tcp_shutdown_write(client);
  testing_pass(TG_SIM_NS_PER_MS);
  char in[8];
  assert_int_equal(TESTING_INSIDE(recv(fd, in, sizeof(in), 0)), 4);
  assert_int_equal(TESTING_INSIDE(recv(fd, in, sizeof(in), 0)), 0);
  assert_int_equal(TESTING_INSIDE(recv(fd, in, sizeof(in), 0)), 0);
}

static void a_reset_is_reported_once(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  tg_tcp_reset(client);
  testing_pass(TG_SIM_NS_PER_MS);
  char byte;
  assert_int_equal(TESTING_INSIDE(recv(fd, &byte, 1, 0)), -1);
  assert_int_equal(errno, ECONNRESET);
  assert_int_equal(TESTING_INSIDE(recv(fd, &byte, 1, 0)), 0);
  assert_int_equal(TESTING_INSIDE(send(fd, "x", 1, MSG_NOSIGNAL)), -1);
  assert_int_equal(errno, EPIPE);
  assert_int_equal(TESTING_INSIDE(shutdown(fd, SHUT_WR)), -1);
  assert_int_equal(errno, ENOTCONN);
}

static void so_error_takes_the_error(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  assert_int_equal(pending_error(fd), 0);
  tg_tcp_reset(client);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_int_equal(pending_error(fd), ECONNRESET);
  assert_int_equal(pending_error(fd), 0);
}

static void sigpipe_is_a_breach(void **state) {
  (void)state;
  int fd;
  testing_pair(&fd);
  assert_int_equal(TESTING_INSIDE(shutdown(fd, SHUT_WR)), 0);
  assert_int_equal(TESTING_INSIDE(send(fd, "x", 1, MSG_NOSIGNAL)), -1);
  assert_int_equal(errno, EPIPE);
  assert_int_equal(TESTING_INSIDE(send(fd, "x", 1, 0)), -1);
  assert_int_equal(errno, EPIPE);
  testing_expect_breach("SIGPIPE");
  assert_int_equal(TESTING_INSIDE(write(fd, "x", 1)), -1);
  testing_expect_breach("SIGPIPE");
}

static void a_half_closed_connection_still_receives(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  assert_int_equal(TESTING_INSIDE(shutdown(fd, SHUT_WR)), 0);
  assert_int_equal(TESTING_INSIDE(shutdown(fd, SHUT_WR)), 0);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_true(tg_tcp_fin_received(client));
  testing_say(client, "more");
  char in[8];
  assert_int_equal(TESTING_INSIDE(recv(fd, in, sizeof(in), 0)), 4);
  assert_int_equal(TESTING_INSIDE(shutdown(fd, 7)), -1);
  assert_int_equal(errno, EINVAL);
}

static void closing_with_unread_bytes_resets(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  testing_say(client, "unread");
  assert_int_equal(TESTING_INSIDE(close(fd)), 0);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_true(tg_tcp_rst_received(client));
}

static void an_rst_that_cuts_a_response_is_a_breach(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  testing_say(client, "unread");
  assert_int_equal(TESTING_INSIDE(send(fd, "response", 8, MSG_NOSIGNAL)), 8);
  assert_int_equal(TESTING_INSIDE(close(fd)), 0);
  testing_expect_breach("P6");
}

static void an_rst_after_the_response_was_read_is_none(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  testing_say(client, "unread");
  assert_int_equal(TESTING_INSIDE(send(fd, "response", 8, MSG_NOSIGNAL)), 8);
  testing_pass(TG_SIM_NS_PER_MS);
  char in[16];
  assert_int_equal(tg_tcp_recv(client, in, sizeof(in), false), 8);
  assert_int_equal(TESTING_INSIDE(close(fd)), 0);
}

static void an_rst_to_one_who_never_reads_is_none(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  tg_kernel_set_reads(testing_kernel, client, false);
  testing_say(client, "unread");
  assert_int_equal(TESTING_INSIDE(send(fd, "response", 8, MSG_NOSIGNAL)), 8);
  assert_int_equal(TESTING_INSIDE(close(fd)), 0);
}

static void linger_0_resets(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  const struct linger linger = {.l_onoff = 1, .l_linger = 0};
  assert_int_equal(TESTING_INSIDE(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger))), 0);
  assert_int_equal(TESTING_INSIDE(close(fd)), 0);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_true(tg_tcp_rst_received(client));
}

static void cork_holds_and_nodelay_pushes(void **state) {
  (void)state;
  int fd;
  struct tg_tcp *client = testing_pair(&fd);
  int on = 1;
  int off = 0;
  assert_int_equal(TESTING_INSIDE(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on))), 0);
  assert_int_equal(TESTING_INSIDE(send(fd, "ab", 2, MSG_NOSIGNAL)), 2);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_int_equal(tg_tcp_unread(client), 0);
  assert_int_equal(TESTING_INSIDE(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof(off))), 0);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_int_equal(tg_tcp_unread(client), 2);
  assert_int_equal(TESTING_INSIDE(send(fd, "cd", 2, MSG_NOSIGNAL | MSG_MORE)), 2);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_int_equal(tg_tcp_unread(client), 2);
  assert_int_equal(TESTING_INSIDE(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on))), 0);
  testing_pass(TG_SIM_NS_PER_MS);
  assert_int_equal(tg_tcp_unread(client), 4);
}

static void msg_dontwait_does_not_block(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 8);
  testing_connect(TESTING_PORT);
  int fd = TESTING_INSIDE(accept4(listener, NULL, NULL, 0));
  char byte;
  assert_int_equal(TESTING_INSIDE(recv(fd, &byte, 1, MSG_DONTWAIT)), -1);
  assert_int_equal(errno, EAGAIN);
  assert_int_equal(TESTING_INSIDE(recv(fd, &byte, 1, 0)), -1);
  testing_expect_breach("blocks");
}

static void what_is_not_connected_says_so(void **state) {
  (void)state;
  int listener = testing_listen(TESTING_PORT, 8);
  char byte;
  assert_int_equal(TESTING_INSIDE(recv(listener, &byte, 1, 0)), -1);
  assert_int_equal(errno, ENOTCONN);
  assert_int_equal(TESTING_INSIDE(shutdown(socket(AF_INET, SOCK_STREAM, 0), SHUT_WR)), -1);
  assert_int_equal(errno, ENOTCONN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, testing_kernel_set_up, testing_kernel_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(nothing_there_is_eagain),
      TEST(a_read_takes_what_is_there),
      TEST(vectors_scatter_and_gather),
      TEST(bytes_arrive_within_a_turn),
      TEST(a_send_is_partial_when_the_buffer_fills),
      TEST(the_end_is_read_after_the_bytes),
      TEST(a_reset_is_reported_once),
      TEST(so_error_takes_the_error),
      TEST(sigpipe_is_a_breach),
      TEST(a_half_closed_connection_still_receives),
      TEST(closing_with_unread_bytes_resets),
      TEST(an_rst_that_cuts_a_response_is_a_breach),
      TEST(an_rst_after_the_response_was_read_is_none),
      TEST(an_rst_to_one_who_never_reads_is_none),
      TEST(linger_0_resets),
      TEST(cork_holds_and_nodelay_pushes),
      TEST(msg_dontwait_does_not_block),
      TEST(what_is_not_connected_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
