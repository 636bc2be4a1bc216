// fixture_server: a TLS server that misbehaves in one named way, for the tests of measuring clients. One connection at
// a time, blocking. Prints {"tls_port": N} when ready and runs until SIGTERM or until it has served --connections.
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// What happens on the socket before and instead of a handshake.
enum tg_transport {
  TG_SERVE_TLS,
  TG_SERVE_NOTHING,      // the port is closed
  TG_SERVE_CLOSE_EARLY,  // accepted and closed
  TG_SERVE_SILENCE,      // accepted, never answered
  TG_SERVE_PLAIN,        // bytes that are no TLS
};

// What follows the response.
enum tg_ending {
  TG_END_CLEAN,   // close_notify and FIN
  TG_END_CUT,     // FIN without close_notify
  TG_END_RESET,   // RST
  TG_END_SILENT,  // nothing at all, until the client goes away
};

struct tg_behaviour {
  const char *name;
  enum tg_transport transport;
  const char *response;  // written once a request's head has been read; NULL: none
  const char *more;      // written as a record of its own after it
  enum tg_ending ending;
  bool no_session;      // no ticket is given
  bool forget_session;  // tickets cannot be decrypted by the next connection
  bool every_second;    // only the first, third, ... connection; the others are served well
};

#define TG_SHED                                                                                     \
  "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 31\r\n\r\n{\"code\":\"" \
  "capacity-unavailable\"}"
#define TG_GOOD "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static const struct tg_behaviour tg_behaviours[] = {
    {"good", TG_SERVE_TLS, TG_GOOD, NULL, TG_END_CLEAN, false, false, false},
    {"refuse", TG_SERVE_NOTHING, NULL, NULL, TG_END_CLEAN, false, false, false},
    {"close_early", TG_SERVE_CLOSE_EARLY, NULL, NULL, TG_END_CLEAN, false, false, false},
    {"silence", TG_SERVE_SILENCE, NULL, NULL, TG_END_SILENT, false, false, false},
    {"plain", TG_SERVE_PLAIN, NULL, NULL, TG_END_CLEAN, false, false, false},
    {"no_response", TG_SERVE_TLS, NULL, NULL, TG_END_CLEAN, false, false, false},
    {"hang", TG_SERVE_TLS, NULL, NULL, TG_END_SILENT, false, false, false},
    {"reset", TG_SERVE_TLS, NULL, NULL, TG_END_RESET, false, false, false},
    {"half_head", TG_SERVE_TLS, "HTTP/1.1 200 OK\r\nContent-", NULL, TG_END_CLEAN, false, false, false},
    {"half_body", TG_SERVE_TLS, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", NULL, TG_END_CUT, false, false,
     false},
    {"hang_body", TG_SERVE_TLS, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", NULL, TG_END_SILENT, false, false,
     false},
    {"reset_body", TG_SERVE_TLS, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", NULL, TG_END_RESET, false, false,
     false},
    {"two_records", TG_SERVE_TLS, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", "llo", TG_END_CLEAN, false, false,
     false},
    {"too_much", TG_SERVE_TLS, TG_GOOD "!", NULL, TG_END_CLEAN, false, false, false},
    {"too_much_later", TG_SERVE_TLS, TG_GOOD, "!", TG_END_CLEAN, false, false, false},
    {"wrong_status", TG_SERVE_TLS, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", NULL, TG_END_CLEAN, false, false,
     false},
    {"close_announced", TG_SERVE_TLS, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", NULL,
     TG_END_CLEAN, false, false, false},
    {"cut_after", TG_SERVE_TLS, TG_GOOD, NULL, TG_END_CUT, false, false, false},
    {"no_session", TG_SERVE_TLS, TG_GOOD, NULL, TG_END_CLEAN, true, false, false},
    {"forget_session", TG_SERVE_TLS, TG_GOOD, NULL, TG_END_CLEAN, false, true, false},
    {"shed", TG_SERVE_TLS, TG_SHED, NULL, TG_END_CLEAN, false, false, false},
    {"shed_every_second", TG_SERVE_TLS, TG_SHED, NULL, TG_END_CLEAN, false, false, true},
};

static void stop(int signal_number) {
  (void)signal_number;
  _exit(0);
}

static int fail(const char *what) {
  (void)fprintf(stderr, "fixture_server: %s: %s\n", what, errno != 0 ? strerror(errno) : "failed");
  return 1;
}

static int listen_on_loopback(uint16_t *out_port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof(address);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &len) != 0 || listen(fd, 16) != 0) {
    return -1;
  }
  *out_port = ntohs(address.sin_port);
  return fd;
}

// Reads until the client has nothing more to say.
static void read_off(int fd) {
  char bytes[4096];
  while (recv(fd, bytes, sizeof(bytes), 0) > 0) {
  }
}

// Reads one request's head. Returns false at the end of the stream, or when there is more than fits.
static bool read_request(SSL *ssl) {
  char head[8192];
  size_t len = 0;
  while (len < sizeof(head)) {
    const int got = SSL_read(ssl, head + len, (int)(sizeof(head) - len));
    if (got <= 0) {
      return false;
    }
    len += (size_t)got;
    if (len >= 4 && memcmp(head + len - 4, "\r\n\r\n", 4) == 0) {
      return true;
    }
  }
  return false;
}

static bool write_text(SSL *ssl, const char *text) {
  return text == NULL || SSL_write(ssl, text, (int)strlen(text)) > 0;
}

static void end(SSL *ssl, int fd, enum tg_ending ending) {
  const struct linger reset = {.l_onoff = 1, .l_linger = 0};
  switch (ending) {
    case TG_END_CLEAN:
      (void)SSL_shutdown(ssl);
      (void)shutdown(fd, SHUT_WR);
      read_off(fd);
      break;
    case TG_END_CUT:
      (void)shutdown(fd, SHUT_WR);
      read_off(fd);
      break;
    case TG_END_RESET:
      (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
      break;
    case TG_END_SILENT:
      read_off(fd);
      break;
  }
}

static void serve_tls(SSL_CTX *ctx, int fd, const struct tg_behaviour *behaviour) {
  SSL *ssl = SSL_new(ctx);
  if (ssl != NULL && SSL_set_fd(ssl, fd) && SSL_accept(ssl) == 1) {
    while (read_request(ssl) && write_text(ssl, behaviour->response) && write_text(ssl, behaviour->more)) {
      // Only a good response leaves the connection open for the next request.
      if (behaviour->response == NULL || strcmp(behaviour->response, TG_GOOD) != 0 ||
          behaviour->ending != TG_END_CLEAN) {
        break;
      }
    }
    end(ssl, fd, behaviour->ending);
  }
  SSL_free(ssl);
}

static void serve(SSL_CTX *ctx, int fd, const struct tg_behaviour *behaviour) {
  switch (behaviour->transport) {
    case TG_SERVE_TLS:
      serve_tls(ctx, fd, behaviour);
      break;
    case TG_SERVE_SILENCE:
      read_off(fd);
      break;
    case TG_SERVE_PLAIN:
      (void)!write(fd, TG_GOOD, strlen(TG_GOOD));
      (void)shutdown(fd, SHUT_WR);
      read_off(fd);
      break;
    case TG_SERVE_CLOSE_EARLY:
    case TG_SERVE_NOTHING:
      break;
  }
  close(fd);
}

static SSL_CTX *make_context(const struct tg_behaviour *behaviour, const char *cert, const char *key) {
  SSL_CTX *ctx = SSL_CTX_new(TLS_method());
  if (ctx == NULL || !SSL_CTX_use_certificate_chain_file(ctx, cert) ||
      !SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM)) {
    SSL_CTX_free(ctx);
    return NULL;
  }
  if (behaviour->no_session) {
    (void)SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  }
  return ctx;
}

static int run(const struct tg_behaviour *behaviour, const char *cert, const char *key, long connections) {
  uint16_t port = 0;
  const int listener = listen_on_loopback(&port);
  if (listener < 0) {
    return fail("listen");
  }
  if (behaviour->transport == TG_SERVE_NOTHING) {
    close(listener);
  }
  (void)printf("{\"tls_port\": %u}\n", (unsigned)port);
  (void)fflush(stdout);
  SSL_CTX *ctx = NULL;
  for (long served = 0; connections == 0 || served < connections; served++) {
    if (behaviour->transport == TG_SERVE_NOTHING) {
      (void)pause();
      continue;
    }
    const int fd = accept(listener, NULL, NULL);
    if (fd < 0) {
      return fail("accept");
    }
    if (served + 1 == connections) {
      close(listener);  // before it is served, so that the client's next connection is refused and not reset
    }
    if (ctx == NULL || behaviour->forget_session) {
      SSL_CTX_free(ctx);
      ctx = make_context(behaviour, cert, key);
    }
    if (ctx == NULL) {
      return fail("--cert and --key");
    }
    serve(ctx, fd, behaviour->every_second && served % 2 == 1 ? &tg_behaviours[0] : behaviour);
  }
  SSL_CTX_free(ctx);
  return 0;
}

int main(int argc, char **argv) {
  static const struct option long_options[] = {
      {"behaviour", required_argument, NULL, 'b'},
      {"cert", required_argument, NULL, 'c'},
      {"key", required_argument, NULL, 'k'},
      {"connections", required_argument, NULL, 'n'},
      {NULL, 0, NULL, 0},
  };
  const char *name = "good";
  const char *cert = NULL;
  const char *key = NULL;
  long connections = 0;
  int option;
  while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
    switch (option) {
      case 'b':
        name = optarg;
        break;
      case 'c':
        cert = optarg;
        break;
      case 'k':
        key = optarg;
        break;
      case 'n':
        connections = strtol(optarg, NULL, 10);
        break;
      default:
        return 2;
    }
  }
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGTERM, stop);
  for (size_t i = 0; i < sizeof(tg_behaviours) / sizeof(tg_behaviours[0]); i++) {
    if (strcmp(name, tg_behaviours[i].name) == 0 && cert != NULL && key != NULL) {
      return run(&tg_behaviours[i], cert, key, connections);
    }
  }
  (void)fprintf(stderr, "usage: fixture_server --behaviour NAME --cert FILE --key FILE [--connections N]\n");
  return 2;
}
