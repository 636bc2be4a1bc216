#include "harness/kernel/testing_linux.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
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

void testing_note(const char *what, int line, long value) {
  assert_true(notes->num < MAX_NOTES);
  notes->note[notes->num++] = (struct note){what, line, value};
}

// --- the other end ---------------------------------------------------------------------------------------------------

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

struct testing_far testing_far_connect(uint16_t port) {
  struct testing_far far = {.fd = -1};
  if (simulated) {
    drive();
    far.end = tg_kernel_connect(testing_kernel, port, NULL);
    assert_non_null(far.end);
    resume();
    return far;
  }
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  far.fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(connect(far.fd, (struct sockaddr *)&address, sizeof(address)), 0);
  settle();
  return far;
}

void testing_far_say(const struct testing_far *far, const char *text) {
  ssize_t len = (ssize_t)strlen(text);
  if (simulated) {
    drive();
    assert_int_equal(tg_tcp_send(far->end, text, (size_t)len, false), len);
    resume();
  } else {
    assert_int_equal(send(far->fd, text, (size_t)len, MSG_NOSIGNAL), len);
    settle();
  }
}

void testing_far_finish(const struct testing_far *far) {
  if (simulated) {
    drive();
    tg_tcp_shutdown_write(far->end);
    resume();
  } else {
    assert_int_equal(shutdown(far->fd, SHUT_WR), 0);
    settle();
  }
}

void testing_far_reset(const struct testing_far *far) {
  if (simulated) {
    drive();
    tg_tcp_reset(far->end);
    resume();
  } else {
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(far->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
    close(far->fd);
    settle();
  }
}

void testing_far_close(const struct testing_far *far) {
  if (simulated) {
    drive();
    tg_tcp_close(far->end);
    resume();
  } else {
    close(far->fd);
  }
}

// --- what both do ----------------------------------------------------------------------------------------------------

int testing_bind_to(int fd, uint16_t port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  return bind(fd, (struct sockaddr *)&address, sizeof(address));
}

uint16_t testing_port_of(int fd) {
  struct sockaddr_in address = {0};
  socklen_t len = sizeof(address);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
  return ntohs(address.sin_port);
}

int testing_set(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof(value));
}

int testing_get(int fd, int level, int name) {
  int value = 0;
  socklen_t len = sizeof(value);
  return getsockopt(fd, level, name, &value, &len) == 0 ? value : -1;
}

int testing_new_socket(void) {
  return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
}

int testing_new_listener(uint16_t *out_port) {
  int fd = testing_new_socket();
  assert_int_equal(testing_bind_to(fd, 0), 0);
  assert_int_equal(listen(fd, 8), 0);
  *out_port = testing_port_of(fd);
  return fd;
}

int testing_control(int epoll_fd, int operation, int fd, uint32_t events) {
  struct epoll_event event = {.events = events, .data.u64 = (uint64_t)fd};
  return epoll_ctl(epoll_fd, operation, fd, &event);
}

// Notes the events that are there, in their order; `fds` says which descriptor is which.
void testing_note_events(int line, int epoll_fd, int max, const int *fds, size_t num_fds) {
  struct epoll_event events[8];
  int num = epoll_wait(epoll_fd, events, max, 0);
  testing_note("epoll_wait", line, num < 0 ? -errno : num);
  for (int i = 0; i < num; i++) {
    for (size_t j = 0; j < num_fds; j++) {
      if (events[i].data.u64 == (uint64_t)fds[j]) {
        testing_note("which", line, (long)j);
      }
    }
    testing_note("events", line, (long)events[i].events);
  }
}

void testing_close_all(const int *fds, size_t num) {
  for (size_t i = 0; i < num; i++) {
    NOTE(close(fds[i]));
  }
}

static void say(char *out, size_t size, long value) {
  const char *name = value < 0 ? strerrorname_np((int)-value) : NULL;
  if (name != NULL) {
    snprintf(out, size, "%s", name);
  } else {
    snprintf(out, size, "%#lx", value);
  }
}

void testing_compare(void (*scenario)(void)) {
  static struct notes real;
  static struct notes model;
  notes = &real;
  simulated = false;
  scenario();
  notes = &model;
  simulated = true;
  tg_kernel_enter(testing_kernel, 0);
  scenario();
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
