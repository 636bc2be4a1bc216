#include "harness/kernel/testing_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct tg_kernel *testing_kernel;

static size_t num_breaches;
static char last_property[32];
static char last_text[256];

static void note_breach(void *context, const char *property, const char *text) {
  (void)context;
  num_breaches++;
  snprintf(last_property, sizeof(last_property), "%s", property);
  snprintf(last_text, sizeof(last_text), "%s", text);
}

int testing_kernel_set_up(void **state) {
  (void)state;
  struct tg_kernel_options options;
  tg_kernel_options_default(&options);
  testing_kernel = tg_kernel_create(&options);
  tg_kernel_set_breach(testing_kernel, note_breach, NULL);
  num_breaches = 0;
  return testing_kernel == NULL ? -1 : 0;
}

int testing_kernel_tear_down(void **state) {
  (void)state;
  if (num_breaches > 0) {
    fprintf(stderr, "breach of %s: %s\n", last_property, last_text);
    tg_trace_tail(tg_kernel_trace(testing_kernel), stderr);
  }
  tg_kernel_destroy(testing_kernel);
  return num_breaches == 0 ? 0 : -1;
}

void testing_kernel_restart(const struct tg_kernel_options *options) {
  tg_kernel_reset(testing_kernel, options);
}

void testing_expect_breach(const char *property) {
  assert_int_equal(num_breaches, 1);
  assert_string_equal(last_property, property);
  num_breaches = 0;
}

void testing_pass(uint64_t ns) {
  struct tg_sim *sim = tg_kernel_sim(testing_kernel);
  tg_sim_pass_to(sim, sim->now_ns + ns);
}

int testing_listen(uint16_t port, int backlog) {
  const int on = 1;
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  tg_kernel_enter(testing_kernel, 0);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  assert_true(fd >= TG_KERNEL_FIRST_FD);
  assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)), 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
  assert_int_equal(listen(fd, backlog), 0);
  tg_kernel_leave(testing_kernel);
  return fd;
}

struct tg_tcp *testing_connect(uint16_t port) {
  struct tg_tcp *client = tg_kernel_connect(testing_kernel, port, NULL);
  testing_pass(TG_SIM_NS_PER_MS);
  return client;
}

struct tg_tcp *testing_pair(int *out_fd) {
  int listener = testing_listen(TESTING_PORT, 16);
  struct tg_tcp *client = testing_connect(TESTING_PORT);
  assert_non_null(client);
  tg_kernel_enter(testing_kernel, 0);
  *out_fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  assert_true(*out_fd >= TG_KERNEL_FIRST_FD);
  assert_int_equal(close(listener), 0);
  tg_kernel_leave(testing_kernel);
  return client;
}

void testing_say(struct tg_tcp *client, const char *text) {
  assert_int_equal(tg_tcp_send(client, text, strlen(text), false), (ssize_t)strlen(text));
  testing_pass(TG_SIM_NS_PER_MS);
}
