// The same calls inside the simulated kernel and outside, on this host's: what they return is noted, and compared.
#ifndef TLSGATE_HARNESS_KERNEL_TESTING_LINUX_H
#define TLSGATE_HARNESS_KERNEL_TESTING_LINUX_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/kernel/kernel.h"

// NOTE notes what a call returns: a failure's error number, negative.
#define NOTE(call)                                                       \
  do {                                                                   \
    long note_value = (long)(call);                                      \
    testing_note(#call, __LINE__, note_value < 0 ? -errno : note_value); \
  } while (0)

void testing_note(const char *what, int line, long value);

// testing_compare runs the scenario outside and then inside the kernel, and fails naming each result that differs.
// `scenario` makes the same calls each time; what happens between them depends on nothing but their results.
void testing_compare(void (*scenario)(void));

// A connection's other end: outside a real client on loopback, inside the driver's.
struct testing_far {
  int fd;
  struct tg_tcp *end;
};

struct testing_far testing_far_connect(uint16_t port);
void testing_far_say(const struct testing_far *far, const char *text);
void testing_far_finish(const struct testing_far *far);  // FIN
void testing_far_reset(const struct testing_far *far);
void testing_far_close(const struct testing_far *far);

// What the scenarios have in common; none of it is noted, save by testing_note_events and testing_close_all.
int testing_bind_to(int fd, uint16_t port);  // 127.0.0.1
uint16_t testing_port_of(int fd);
int testing_set(int fd, int level, int name, int value);
int testing_get(int fd, int level, int name);  // the value, or -1
int testing_new_socket(void);                  // TCP, non-blocking
int testing_new_listener(uint16_t *out_port);  // on a port that the kernel picks
int testing_control(int epoll_fd, int operation, int fd, uint32_t events);
// Notes the events that are there, at most `max`, in their order; `fds` says which descriptor is which.
void testing_note_events(int line, int epoll_fd, int max, const int *fds, size_t num_fds);
void testing_close_all(const int *fds, size_t num);

#endif
