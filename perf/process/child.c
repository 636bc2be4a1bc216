#include "perf/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXEC_FAILED 127

struct capture {
  char *data;
  size_t len;
  size_t capacity;
};

double tg_now_s(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void tg_command_line(const char *const argv[], char *out, size_t size) {
  size_t len = 0;
  out[0] = '\0';
  for (size_t i = 0; argv[i] != NULL && len < size; i++) {
    len += (size_t)snprintf(out + len, size - len, "%s%s", i > 0 ? " " : "", argv[i]);
  }
}

// In the child: becomes argv[0], or tells the parent why not through `report`.
static void become(const char *const argv[], const char *const env[], int in, int out, int err, int report) {
  // A group of its own, so that a tool is killed with what it has started.
  (void)setpgid(0, 0);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0) {
    for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
      (void)putenv((char *)env[i]);
    }
    execvp(argv[0], (char *const *)argv);
  }
  int error = errno;
  (void)!write(report, &error, sizeof(error));
  _exit(EXEC_FAILED);
}

static pid_t spawn(const char *const argv[], const char *const env[], int out, int err_fd, struct tg_error *err) {
  int report[2] = {-1, -1};
  int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_fd < 0 || pipe2(report, O_CLOEXEC) != 0) {
    tg_error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
    if (null_fd >= 0) {
      close(null_fd);
    }
    return -1;
  }
  pid_t pid = fork();
  if (pid == 0) {
    become(argv, env, null_fd, out, err_fd, report[1]);
  }
  int fork_error = errno;
  close(null_fd);
  close(report[1]);
  int exec_error = 0;
  bool failed = pid > 0 && read(report[0], &exec_error, sizeof(exec_error)) == (ssize_t)sizeof(exec_error);
  close(report[0]);
  if (pid < 0) {
    tg_error_set(err, "cannot start %s: %s", argv[0], strerror(fork_error));
  } else if (failed) {
    (void)waitpid(pid, NULL, 0);
    tg_error_set(err, "cannot run %s: %s (the tools and their packages are listed in packages.txt)", argv[0],
                 strerror(exec_error));
    pid = -1;
  }
  return pid;
}

static int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

// Reads what is there. Returns false at the end of the file. Beyond the limit it goes on reading, and drops.
static bool capture_some(int fd, struct capture *capture) {
  if (capture->capacity - capture->len < 4096 && capture->capacity < TG_CHILD_OUTPUT_MAX) {
    size_t capacity = capture->capacity == 0 ? 16384 : capture->capacity * 2;
    char *data = realloc(capture->data, capacity);
    if (data == NULL) {
      return false;
    }
    capture->data = data;
    capture->capacity = capacity;
  }
  char spill[4096];
  size_t room = capture->capacity - capture->len - 1;
  ssize_t got = room > 0 ? read(fd, capture->data + capture->len, room) : read(fd, spill, sizeof(spill));
  if (got < 0) {
    return errno == EINTR || errno == EAGAIN;
  }
  capture->len += room > 0 ? (size_t)got : 0;
  return got > 0;
}

static char *capture_text(struct capture *capture) {
  if (capture->data == NULL) {
    return strdup("");
  }
  capture->data[capture->len] = '\0';
  return capture->data;
}

// Reads both pipes until both have ended or the time is up. Returns whether both ended.
static bool drain(int out, int err, double deadline, struct capture captures[2]) {
  struct pollfd fds[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    double left = deadline - tg_now_s();
    if (left <= 0) {
      return false;
    }
    if (poll(fds, 2, (int)(left * 1000) + 1) < 0 && errno != EINTR) {
      return false;
    }
    for (int i = 0; i < 2; i++) {
      if (fds[i].fd >= 0 && fds[i].revents != 0 && !capture_some(fds[i].fd, &captures[i])) {
        fds[i].fd = -1;
      }
    }
  }
  return true;
}

// Waits for a child until `deadline`, then kills it and what it has started. Returns whether it ended by itself.
static bool reap(pid_t pid, double deadline, int *wait_status, struct rusage *usage) {
  bool killed = false;
  for (;;) {
    pid_t got = wait4(pid, wait_status, killed ? 0 : WNOHANG, usage);
    if (got == pid || (got < 0 && errno != EINTR)) {
      return !killed;
    }
    if (got == 0 && tg_now_s() >= deadline) {
      (void)kill(-pid, SIGKILL);
      killed = true;
    } else if (got == 0) {
      (void)usleep(500);
    }
  }
}

bool tg_child_run(const char *const argv[], double timeout_s, struct tg_child_result *out, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  int pipes[2][2] = {{-1, -1}, {-1, -1}};
  if (pipe2(pipes[0], O_CLOEXEC) != 0 || pipe2(pipes[1], O_CLOEXEC) != 0) {
    tg_error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
    for (int i = 0; i < 2; i++) {
      for (int end = 0; end < 2; end++) {
        if (pipes[i][end] >= 0) {
          close(pipes[i][end]);
        }
      }
    }
    return false;
  }
  double start = tg_now_s();
  pid_t pid = spawn(argv, NULL, pipes[0][1], pipes[1][1], err);
  close(pipes[0][1]);
  close(pipes[1][1]);
  struct capture captures[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
  bool ended = pid > 0 && drain(pipes[0][0], pipes[1][0], start + timeout_s, captures);
  if (pid > 0) {
    int wait_status = 0;
    struct rusage usage = {.ru_utime = {0, 0}};
    ended = reap(pid, ended ? start + timeout_s : 0, &wait_status, &usage);
    if (!ended) {
      tg_error_set(err, "%s did not end within %.0f s", argv[0], timeout_s);
    }
    out->wall_s = tg_now_s() - start;
    out->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    out->exit_status = status_of(wait_status);
  }
  close(pipes[0][0]);
  close(pipes[1][0]);
  out->out = capture_text(&captures[0]);
  out->err = capture_text(&captures[1]);
  if (ended && (out->out == NULL || out->err == NULL)) {
    tg_error_set(err, "out of memory reading the output of %s", argv[0]);
    ended = false;
  }
  if (!ended) {
    tg_child_result_free(out);
  }
  return ended;
}

void tg_child_result_free(struct tg_child_result *result) {
  free(result->out);
  free(result->err);
  result->out = NULL;
  result->err = NULL;
}

pid_t tg_child_start(const char *const argv[], const char *const env[], const char *err_path, int *out_fd,
                     struct tg_error *err) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    tg_error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
    return -1;
  }
  int err_fd = err_path == NULL ? dup(STDERR_FILENO) : open(err_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  pid_t pid = -1;
  if (err_fd < 0) {
    tg_error_set(err, "cannot write %s: %s", err_path == NULL ? "standard error" : err_path, strerror(errno));
  } else {
    pid = spawn(argv, env, pipe_fds[1], err_fd, err);
    close(err_fd);
  }
  close(pipe_fds[1]);
  if (pid < 0) {
    close(pipe_fds[0]);
    return -1;
  }
  *out_fd = pipe_fds[0];
  return pid;
}

int tg_child_wait(pid_t pid, double timeout_s, bool *killed) {
  double deadline = tg_now_s() + timeout_s;
  int wait_status = 0;
  *killed = false;
  for (;;) {
    pid_t got = waitpid(pid, &wait_status, *killed ? 0 : WNOHANG);
    if (got == pid) {
      return status_of(wait_status);
    }
    if (got < 0 && errno != EINTR) {
      return EXEC_FAILED;
    }
    if (got == 0 && tg_now_s() >= deadline) {
      (void)kill(pid, SIGKILL);
      *killed = true;
    } else if (got == 0) {
      (void)usleep(2000);
    }
  }
}
