#include "perf/servers/launch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/process/child.h"
#include "perf/servers/guard.h"

// The shell sets the limit and becomes the server, so that the pid is the server's.
#define SHELL_WORDS 4
static const char kLimited[] = "[ \"$0\" = 0 ] || ulimit -n \"$0\" || exit 1; exec \"$@\"";
// A server that is ready by its ports may say what it likes on standard output: into the log, so that no pipe fills.
static const char kLimitedQuiet[] = "[ \"$0\" = 0 ] || ulimit -n \"$0\" || exit 1; exec \"$@\" >&2";

#define ARGS_MAX (TG_SERVER_ARGS_MAX + TG_VARIANT_ARGS_MAX)

#define READY_POLL_US  10000
#define READY_AGAIN_US 100000

struct values {
  char tls_port[8];
  char http_port[8];
  char workers[8];
  char user[64];
  char group[64];
  const char *of[TG_PLACES];
};

static int open_loopback(uint16_t port, bool to_listen, uint16_t *bound) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  socklen_t len = sizeof(address);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr *generic = (const struct sockaddr *)&address;
  if (fd >= 0 && (to_listen ? bind(fd, generic, len) : connect(fd, generic, len)) != 0) {
    close(fd);
    return -1;
  }
  if (fd >= 0 && bound != NULL && getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
    *bound = ntohs(address.sin_port);
  }
  return fd;
}

// Ports that are free now. Both are held until both are chosen, so that they differ.
static bool choose_ports(struct tg_launch *launch, struct tg_error *err) {
  const struct tg_server_description *description = launch->description;
  const int wanted[2] = {description->tls_port, description->http_port};
  uint16_t *const out[2] = {&launch->server.tls_port, &launch->server.http_port};
  int held[2] = {-1, -1};
  bool ok = true;
  for (int i = 0; i < 2; i++) {
    if (wanted[i] != TG_SERVER_PORT_FREE) {
      *out[i] = (uint16_t)wanted[i];
    } else if (description->ready == TG_SERVER_READY_CONNECT) {
      held[i] = open_loopback(0, true, out[i]);
      ok = ok && held[i] >= 0;
    }
  }
  for (int i = 0; i < 2; i++) {
    if (held[i] >= 0) {
      close(held[i]);
    }
  }
  if (!ok) {
    tg_error_set(err, "no free port on 127.0.0.1: %s", strerror(errno));
  }
  return ok;
}

static void set_values(const struct tg_launch *launch, const struct tg_launch_config *config, struct values *out) {
  const struct passwd *user = getpwuid(geteuid());
  const struct group *group = getgrgid(getegid());
  (void)snprintf(out->tls_port, sizeof(out->tls_port), "%u", launch->server.tls_port);
  (void)snprintf(out->http_port, sizeof(out->http_port), "%u", launch->server.http_port);
  (void)snprintf(out->workers, sizeof(out->workers), "%d", config->workers);
  (void)snprintf(out->user, sizeof(out->user), "%s", user != NULL ? user->pw_name : "");
  (void)snprintf(out->group, sizeof(out->group), "%s", group != NULL ? group->gr_name : "");
  const char *const of[TG_PLACES] = {
      [TG_PLACE_SCRATCH] = launch->stage.folder,
      [TG_PLACE_HERE] = launch->description->here,
      [TG_PLACE_WWW] = launch->stage.www,
      [TG_PLACE_CERT] = launch->stage.cert,
      [TG_PLACE_KEY] = launch->stage.key,
      [TG_PLACE_PEM] = launch->stage.pem,
      [TG_PLACE_TLS_PORT] = out->tls_port,
      [TG_PLACE_HTTP_PORT] = launch->description->http_port == TG_SERVER_PORT_NONE ? NULL : out->http_port,
      [TG_PLACE_WORKERS] = out->workers,
      [TG_PLACE_USER] = user != NULL ? out->user : NULL,
      [TG_PLACE_GROUP] = group != NULL ? out->group : NULL,
      [TG_PLACE_HTTPS_SERVER] = config->https_server,
      [TG_PLACE_CLIENT_CA] = config->client_ca,
  };
  memcpy(out->of, of, sizeof(of));
}

static bool is_program(const char *folder, size_t len, const char *name, char out[PATH_MAX]) {
  return snprintf(out, PATH_MAX, "%.*s/%s", (int)len, folder, name) < PATH_MAX && access(out, X_OK) == 0;
}

// Where the program is: named with a folder, or in one of PATH.
static bool find_program(const struct tg_server_description *description, const char *program, char out[PATH_MAX],
                         struct tg_error *err) {
  bool found = strchr(program, '/') != NULL && access(program, X_OK) == 0 && realpath(program, out) != NULL;
  const char *at = strchr(program, '/') != NULL ? NULL : getenv("PATH");
  while (!found && at != NULL) {
    size_t len = strcspn(at, ":");
    found = is_program(at, len, program, out);
    at = at[len] == '\0' ? NULL : at + len + 1;
  }
  if (found) {
    return true;
  }
  if (description->package != NULL) {
    tg_error_set(err, "%s: %s is not installed; install it: apt-get install --no-install-recommends %s",
                 description->file, program, description->package);
  } else {
    tg_error_set(err, "%s: start: there is no program %s; correct the path or put its folder into PATH",
                 description->file, program);
  }
  return false;
}

// /usr/sbin holds most of the servers and is not in every user's PATH.
static void reach_sbin(void) {
  const char *path = getenv("PATH");
  char longer[8192];
  if (path == NULL || strstr(path, "/usr/sbin") == NULL) {
    (void)snprintf(longer, sizeof(longer), "%.8000s:/usr/sbin", path != NULL ? path : "/usr/bin:/bin");
    (void)setenv("PATH", longer, 1);
  }
}

bool tg_launch_program(const struct tg_server_description *description, const char *https_server, char out[PATH_MAX],
                       struct tg_error *err) {
  const char *const values[TG_PLACES] = {[TG_PLACE_HERE] = description->here, [TG_PLACE_HTTPS_SERVER] = https_server};
  reach_sbin();
  char *program = tg_expand(description->file, description->start[0], values, err);
  bool ok = program != NULL && find_program(description, program, out, err);
  free(program);
  return ok;
}

bool tg_launch_is_installed(const struct tg_server_description *description, struct tg_error *err) {
  reach_sbin();
  // A program that a placeholder names is known when it is started.
  char program[PATH_MAX];
  return strchr(description->start[0], '@') != NULL || find_program(description, description->start[0], program, err);
}

void tg_launch_said(const struct tg_launch *launch, char *out, size_t size) {
  char line[256];
  FILE *file = launch->stage.folder[0] == '\0' ? NULL : fopen(launch->stage.log, "re");
  out[0] = '\0';
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0] != '\0') {
      (void)snprintf(out, size, "%s", line);
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  for (char *c = out; *c != '\0'; c++) {
    *c = (unsigned char)*c < ' ' ? ' ' : *c;
  }
}

static bool accepts(uint16_t port) {
  int fd = port == 0 ? -1 : open_loopback(port, false, NULL);
  if (fd >= 0) {
    close(fd);
  }
  return port == 0 || fd >= 0;
}

static bool await_ports(struct tg_launch *launch, struct tg_error *err) {
  struct tg_server *server = &launch->server;
  double deadline = tg_now_s() + launch->description->ready_within_s;
  int times = 0;
  while (tg_server_alive(server, err)) {
    // Twice: some listen first, and only then find out that they cannot go on.
    times = accepts(server->tls_port) && accepts(server->http_port) ? times + 1 : 0;
    if (times == 2) {
      return true;
    }
    if (tg_now_s() >= deadline) {
      tg_error_set(err, "server %s: port %u or %u takes no connection within %.0f s (ready.within_s)", server->name,
                   server->tls_port, server->http_port, launch->description->ready_within_s);
      return false;
    }
    (void)usleep(times > 0 ? READY_AGAIN_US : READY_POLL_US);
  }
  return false;
}

static bool start(struct tg_launch *launch, const char *const argv[], struct tg_error *err) {
  const struct tg_server_description *description = launch->description;
  struct tg_server *server = &launch->server;
  if (description->ready == TG_SERVER_READY_LINE) {
    return tg_server_start_within(server, description->name, argv, NULL, launch->stage.log, description->ready_within_s,
                                  err);
  }
  server->pid = tg_child_start(argv, NULL, launch->stage.log, &server->out_fd, err);
  if (server->pid < 0) {
    server->pid = 0;
    return false;
  }
  return await_ports(launch, err);
}

// Adds what the server itself said to what was seen of it.
static void add_said(const struct tg_launch *launch, struct tg_error *err) {
  char said[200];
  char seen[260];
  tg_launch_said(launch, said, sizeof(said));
  if (err != NULL && said[0] != '\0') {
    (void)snprintf(seen, sizeof(seen), "%s", err->text);
    tg_error_set(err, "%s; it said: %s", seen, said);
  }
}

// Adds the texts of `from`, placeholders replaced, to `made`, which has room for ARGS_MAX.
static bool expand_all(const struct tg_server_description *description, const char *const *from,
                       const char *const values[TG_PLACES], char **made, size_t *num, struct tg_error *err) {
  for (; *from != NULL; from++) {
    char *text = tg_expand(description->file, *from, values, err);
    if (text == NULL) {
      return false;
    }
    made[(*num)++] = text;
  }
  return true;
}

static bool expand_and_start(struct tg_launch *launch, const struct tg_launch_config *config, struct tg_error *err) {
  const struct tg_server_description *description = launch->description;
  const struct tg_server_variation *variation = &description->variants[config->variant];
  char *made[ARGS_MAX] = {NULL};
  const char *argv[SHELL_WORDS + ARGS_MAX + 1] = {NULL};
  char program[PATH_MAX];
  char limit[16];
  size_t num = 0;
  struct values values;
  set_values(launch, config, &values);
  (void)snprintf(limit, sizeof(limit), "%d", config->descriptors);
  argv[0] = "/bin/sh";
  argv[1] = "-c";
  argv[2] = description->ready == TG_SERVER_READY_LINE ? kLimited : kLimitedQuiet;
  argv[3] = limit;
  char *text = tg_expand(description->file, variation->text, values.of, err);
  values.of[TG_PLACE_VARIANT] = text;
  bool ok = text != NULL && tg_stage_configure(&launch->stage, description, values.of, err);
  ok = ok && expand_all(description, description->start, values.of, made, &num, err) &&
       expand_all(description, variation->arguments, values.of, made, &num, err);
  for (size_t i = 0; i < num; i++) {
    argv[SHELL_WORDS + i] = made[i];
  }
  if (ok && made[0] != NULL && find_program(description, made[0], program, err)) {
    ok = start(launch, argv, err);
    tg_command_line(argv + SHELL_WORDS, launch->server.command, sizeof(launch->server.command));
    if (!ok) {
      add_said(launch, err);
    }
  } else {
    ok = false;
  }
  for (size_t i = 0; i < num; i++) {
    free(made[i]);
  }
  free(text);
  return ok;
}

bool tg_launch_start(struct tg_launch *launch, const struct tg_server_description *description,
                     const struct tg_launch_config *config, struct tg_error *err) {
  *launch = (struct tg_launch){.server = {.name = description->name, .out_fd = -1}, .description = description};
  reach_sbin();
  if (!tg_stage_make(&launch->stage, description, config->variant, err)) {
    return false;
  }
  if (tg_guard_begin(launch, err) && choose_ports(launch, err) && expand_and_start(launch, config, err)) {
    return true;
  }
  (void)tg_launch_stop(launch, NULL);
  return false;
}

bool tg_launch_stop(struct tg_launch *launch, struct tg_error *err) {
  struct tg_server *server = &launch->server;
  const struct tg_server_description *description = launch->description;
  bool killed = false;
  int status = description->stop_status;
  if (server->pid > 0) {
    (void)kill(server->pid, description->stop_signal);
    status = tg_child_wait(server->pid, description->stop_within_s, &killed);
    // What it started and left.
    (void)kill(-server->pid, SIGKILL);
    close(server->out_fd);
    server->pid = 0;
    server->out_fd = -1;
  }
  tg_guard_end(launch);
  tg_stage_remove(&launch->stage);
  if (killed) {
    tg_error_set(err, "server %s did not stop within %.0f s (stop.within_s) and was killed", server->name,
                 description->stop_within_s);
  } else if (status != description->stop_status) {
    tg_error_set(err, "server %s ended with status %d after its stop signal, not %d (stop.status)", server->name,
                 status, description->stop_status);
  }
  return !killed && status == description->stop_status;
}
