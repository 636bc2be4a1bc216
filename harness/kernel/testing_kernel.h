// A kernel for one test after another, whose breaches are noted and must be expected.
#ifndef TLSGATE_HARNESS_KERNEL_TESTING_KERNEL_H
#define TLSGATE_HARNESS_KERNEL_TESTING_KERNEL_H

#include "harness/kernel/kernel.h"

#define TESTING_PORT 8080

extern struct tg_kernel *testing_kernel;

// cmocka's fixtures: testing_kernel is made with the default options, entered nowhere; and no breach may be left.
int testing_kernel_set_up(void **state);
int testing_kernel_tear_down(void **state);

// testing_kernel_restart resets the kernel to other options.
void testing_kernel_restart(const struct tg_kernel_options *options);

// testing_expect_breach checks that there was one breach since the last check, and of what.
void testing_expect_breach(const char *property);

// TESTING_INSIDE evaluates an expression inside the kernel, as thread 0, and checks nothing.
#define TESTING_INSIDE(expression)            \
  ({                                          \
    tg_kernel_enter(testing_kernel, 0);       \
    __auto_type testing_value = (expression); \
    tg_kernel_leave(testing_kernel);          \
    testing_value;                            \
  })

// testing_pass lets time pass: network events run.
void testing_pass(uint64_t ns);

// testing_listen makes a non-blocking listener on 127.0.0.1.
int testing_listen(uint16_t port, int backlog);

// testing_connect connects a client and lets the connection arrive.
struct tg_tcp *testing_connect(uint16_t port);

// testing_pair makes a connection: a client, and the non-blocking descriptor of the server's end.
struct tg_tcp *testing_pair(int *out_fd);

// testing_say sends bytes from the client and lets them arrive.
void testing_say(struct tg_tcp *client, const char *text);

#endif
