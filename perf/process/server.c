#include "perf/process/server.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "perf/process/child.h"

#define READY_LINE_MAX 4096

// Reads one line, byte by byte: what follows it is the server's business. Returns its length without the newline, or
// -1.
static ssize_t read_line(int fd, char line[READY_LINE_MAX], double deadline) {
  size_t len = 0;
  while (len + 1 < READY_LINE_MAX) {
    double left = deadline - tg_now_s();
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    if (left <= 0 || poll(&poll_fd, 1, (int)(left * 1000) + 1) <= 0) {
      return -1;
    }
    ssize_t got = read(fd, line + len, 1);
    if (got <= 0) {
      return -1;
    }
    if (line[len] == '\n') {
      line[len] = '\0';
      return (ssize_t)len;
    }
    len++;
  }
  return -1;
}

static bool read_port(const json_t *ready, const char *key, uint16_t *out) {
  const json_t *value = json_object_get(ready, key);
  if (value == NULL || json_is_null(value)) {
    *out = 0;
    return true;
  }
  json_int_t port = json_integer_value(value);
  if (!json_is_integer(value) || port < 0 || port > 65535) {
    return false;
  }
  *out = (uint16_t)port;
  return true;
}

static bool read_ready_line(struct tg_server *server, const char *err_path, double ready_s, struct tg_error *err) {
  char line[READY_LINE_MAX];
  if (read_line(server->out_fd, line, tg_now_s() + ready_s) < 0) {
    tg_error_set(err, "server %s: no ready line within %.0f s%s", server->name, ready_s,
                 err_path == NULL ? "; its own message is above" : "");
    return false;
  }
  json_t *ready = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
  bool ok = json_is_object(ready) && read_port(ready, "tls_port", &server->tls_port) &&
            read_port(ready, "http_port", &server->http_port);
  json_decref(ready);
  if (!ok) {
    tg_error_set(err, "server %s: the ready line is not a JSON object with tls_port and http_port: %.100s",
                 server->name, line);
  }
  return ok;
}

bool tg_server_start(struct tg_server *server, const char *name, const char *const argv[], const char *const env[],
                     struct tg_error *err) {
  return tg_server_start_within(server, name, argv, env, NULL, TG_SERVER_READY_S, err);
}

bool tg_server_start_within(struct tg_server *server, const char *name, const char *const argv[],
                            const char *const env[], const char *err_path, double ready_s, struct tg_error *err) {
  *server = (struct tg_server){.name = name, .out_fd = -1};
  tg_command_line(argv, server->command, sizeof(server->command));
  pid_t pid = tg_child_start(argv, env, err_path, &server->out_fd, err);
  if (pid < 0) {
    return false;
  }
  server->pid = pid;
  if (!read_ready_line(server, err_path, ready_s, err)) {
    (void)kill(server->pid, SIGKILL);
    (void)tg_server_stop(server, NULL);
    return false;
  }
  return true;
}

bool tg_server_alive(struct tg_server *server, struct tg_error *err) {
  siginfo_t info = {.si_pid = 0};
  if (server->pid > 0 && waitid(P_PID, (id_t)server->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == 0) {
    return true;
  }
  tg_error_set(err, "server %s is gone: %s %d", server->name,
               info.si_code == CLD_EXITED ? "it exited with status" : "it was ended by signal", info.si_status);
  return false;
}

static double process_cpu_s(pid_t pid) {
  clockid_t clock;
  struct timespec used;
  if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) {
    return -1;
  }
  return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

double tg_server_cpu_s(const struct tg_server *server) {
  double sum = process_cpu_s(server->pid);
  DIR *folder = sum < 0 ? NULL : opendir("/proc");
  if (folder == NULL) {
    return sum;
  }
  for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    if (pid > 0 && pid != server->pid && getpgid(pid) == server->pid) {
      sum += fmax(process_cpu_s(pid), 0);
    }
  }
  (void)closedir(folder);
  return sum;
}

bool tg_server_stop(struct tg_server *server, struct tg_error *err) {
  if (server->pid <= 0) {
    return true;
  }
  (void)kill(server->pid, SIGTERM);
  bool killed = false;
  int status = tg_child_wait(server->pid, TG_SERVER_STOP_S, &killed);
  close(server->out_fd);
  server->pid = 0;
  server->out_fd = -1;
  if (killed) {
    tg_error_set(err, "server %s did not stop within %.0f s of SIGTERM and was killed", server->name, TG_SERVER_STOP_S);
  } else if (status != 0) {
    tg_error_set(err, "server %s ended with status %d after SIGTERM", server->name, status);
  }
  return !killed && status == 0;
}
