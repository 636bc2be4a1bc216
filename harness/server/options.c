#include "harness/server/options.h"

#include <arpa/inet.h>
#include <assert.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

enum option_id {
  // Above any character, for which getopt_long has meanings of its own.
  OPTION_HELP = 256,
  OPTION_PORT,
  OPTION_HTTP_PORT,
  OPTION_BIND,
  OPTION_SHARDS,
  OPTION_CERT,
  OPTION_KEY,
  OPTION_KEY_TYPE,
  OPTION_GROUPS,
  OPTION_CLIENT_CA,
  OPTION_EARLY_DATA,
  OPTION_TICKET_LIFETIME_S,
  OPTION_QUICKACK,
  OPTION_FLUSH_TICKETS,
  OPTION_MAX_CONNECTIONS,
  OPTION_MAX_BODY,
  OPTION_HANDSHAKE_TIMEOUT_MS,
  OPTION_REQUEST_TIMEOUT_MS,
  OPTION_IDLE_TIMEOUT_MS,
  OPTION_RESPONSE_TIMEOUT_MS,
  OPTION_DRAIN_TIMEOUT_MS,
  OPTION_GRACE_MS,
};

static const struct option kOptions[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"port", required_argument, NULL, OPTION_PORT},
    {"http-port", required_argument, NULL, OPTION_HTTP_PORT},
    {"bind", required_argument, NULL, OPTION_BIND},
    {"shards", required_argument, NULL, OPTION_SHARDS},
    {"cert", required_argument, NULL, OPTION_CERT},
    {"key", required_argument, NULL, OPTION_KEY},
    {"key-type", required_argument, NULL, OPTION_KEY_TYPE},
    {"groups", required_argument, NULL, OPTION_GROUPS},
    {"client-ca", required_argument, NULL, OPTION_CLIENT_CA},
    {"early-data", no_argument, NULL, OPTION_EARLY_DATA},
    {"ticket-lifetime-s", required_argument, NULL, OPTION_TICKET_LIFETIME_S},
    {"quickack", required_argument, NULL, OPTION_QUICKACK},
    {"flush-tickets", no_argument, NULL, OPTION_FLUSH_TICKETS},
    {"max-connections", required_argument, NULL, OPTION_MAX_CONNECTIONS},
    {"max-body", required_argument, NULL, OPTION_MAX_BODY},
    {"handshake-timeout-ms", required_argument, NULL, OPTION_HANDSHAKE_TIMEOUT_MS},
    {"request-timeout-ms", required_argument, NULL, OPTION_REQUEST_TIMEOUT_MS},
    {"idle-timeout-ms", required_argument, NULL, OPTION_IDLE_TIMEOUT_MS},
    {"response-timeout-ms", required_argument, NULL, OPTION_RESPONSE_TIMEOUT_MS},
    {"drain-timeout-ms", required_argument, NULL, OPTION_DRAIN_TIMEOUT_MS},
    {"grace-ms", required_argument, NULL, OPTION_GRACE_MS},
    {NULL, 0, NULL, 0},
};

// RFC 8446, 4.6.1: a ticket lives 7 days at most.
#define TICKET_LIFETIME_MAX_S 604800
// A day, as in struct tg_deadlines.
#define DEADLINE_MAX_MS     86400000
#define MAX_BODY_MAX        (UINT64_C(1) << 40)
#define MAX_CONNECTIONS_MAX 1000000

static const char *option_name(int id) {
  for (const struct option *option = kOptions; option->name != NULL; option++) {
    if (option->val == id) {
      return option->name;
    }
  }
  assert(false);
  return "";
}

static bool number(int id, const char *text, uint64_t min, uint64_t max, uint64_t *out, struct tg_error *err) {
  uint64_t value = 0;
  bool valid = *text != '\0';
  for (const char *c = text; valid && *c != '\0'; c++) {
    // No range goes beyond 2^40, so that this cannot overflow.
    valid = *c >= '0' && *c <= '9' && value <= max;
    value = value * 10 + (uint64_t)(*c - '0');
  }
  if (!valid || value < min || value > max) {
    tg_error_set(err, "--%s takes a number from %" PRIu64 " to %" PRIu64 ", not '%s'", option_name(id), min, max, text);
    return false;
  }
  *out = value;
  return true;
}

static bool number32(int id, const char *text, uint32_t min, uint32_t max, uint32_t *out, struct tg_error *err) {
  uint64_t value;
  if (!number(id, text, min, max, &value, err)) {
    return false;
  }
  *out = (uint32_t)value;
  return true;
}

static bool port(int id, const char *text, uint16_t *out, struct tg_error *err) {
  uint64_t value;
  if (!number(id, text, 0, UINT16_MAX, &value, err)) {
    return false;
  }
  *out = (uint16_t)value;
  return true;
}

static bool deadline(int id, const char *text, uint32_t *out, struct tg_error *err) {
  return number32(id, text, 1, DEADLINE_MAX_MS, out, err);
}

struct word {
  const char *text;
  int value;
};

static bool word(int id, const char *text, const struct word *words, int *out, struct tg_error *err) {
  char choices[64] = "";
  for (size_t i = 0; words[i].text != NULL; i++) {
    if (strcmp(text, words[i].text) == 0) {
      *out = words[i].value;
      return true;
    }
    size_t used = strlen(choices);
    snprintf(choices + used, sizeof(choices) - used, "%s%s",
             i == 0                      ? ""
             : words[i + 1].text == NULL ? " or "
                                         : ", ",
             words[i].text);
  }
  tg_error_set(err, "--%s takes %s, not '%s'", option_name(id), choices, text);
  return false;
}

static bool key_type(const char *text, enum tg_key_type *out, struct tg_error *err) {
  static const struct word words[] = {
      {"p256", TG_KEY_P256}, {"rsa2048", TG_KEY_RSA2048}, {"rsa4096", TG_KEY_RSA4096}, {NULL, 0}};
  int value;
  if (!word(OPTION_KEY_TYPE, text, words, &value, err)) {
    return false;
  }
  *out = (enum tg_key_type)value;
  return true;
}

static bool quickack(const char *text, enum tg_quickack *out, struct tg_error *err) {
  static const struct word words[] = {
      {"rearm", TG_QUICKACK_REARM}, {"accept", TG_QUICKACK_ACCEPT}, {"off", TG_QUICKACK_OFF}, {NULL, 0}};
  int value;
  if (!word(OPTION_QUICKACK, text, words, &value, err)) {
    return false;
  }
  *out = (enum tg_quickack)value;
  return true;
}

static bool address(const char *text, const char **out, struct tg_error *err) {
  unsigned char parsed[sizeof(struct in6_addr)];
  if (inet_pton(AF_INET, text, parsed) != 1 && inet_pton(AF_INET6, text, parsed) != 1) {
    tg_error_set(err, "--bind takes a numeric IPv4 or IPv6 address, not '%s'", text);
    return false;
  }
  *out = text;
  return true;
}

static bool text_value(int id, const char *text, const char **out, struct tg_error *err) {
  if (*text == '\0') {
    tg_error_set(err, "--%s takes a value that is not empty", option_name(id));
    return false;
  }
  *out = text;
  return true;
}

static bool apply(int id, const char *text, struct tg_options *out, struct tg_error *err) {
  switch ((enum option_id)id) {
    case OPTION_HELP:
      return true;
    case OPTION_PORT:
      return port(id, text, &out->tls_port, err);
    case OPTION_HTTP_PORT:
      out->with_http = true;
      return port(id, text, &out->http_port, err);
    case OPTION_BIND:
      return address(text, &out->bind, err);
    case OPTION_SHARDS:
      return number32(id, text, 1, TG_SHARDS_MAX, &out->shards, err);
    case OPTION_CERT:
      return text_value(id, text, &out->cert_file, err);
    case OPTION_KEY:
      return text_value(id, text, &out->key_file, err);
    case OPTION_KEY_TYPE:
      return key_type(text, &out->key_type, err);
    case OPTION_GROUPS:
      return text_value(id, text, &out->groups, err);
    case OPTION_CLIENT_CA:
      return text_value(id, text, &out->client_ca_file, err);
    case OPTION_EARLY_DATA:
      out->early_data = true;
      return true;
    case OPTION_TICKET_LIFETIME_S:
      return number32(id, text, 1, TICKET_LIFETIME_MAX_S, &out->ticket_lifetime_s, err);
    case OPTION_QUICKACK:
      return quickack(text, &out->quickack, err);
    case OPTION_FLUSH_TICKETS:
      out->flush_tickets = true;
      return true;
    case OPTION_MAX_CONNECTIONS:
      return number32(id, text, 1, MAX_CONNECTIONS_MAX, &out->max_connections, err);
    case OPTION_MAX_BODY:
      return number(id, text, 0, MAX_BODY_MAX, &out->max_body, err);
    case OPTION_HANDSHAKE_TIMEOUT_MS:
      return deadline(id, text, &out->deadlines.handshake_ms, err);
    case OPTION_REQUEST_TIMEOUT_MS:
      return deadline(id, text, &out->deadlines.request_ms, err);
    case OPTION_IDLE_TIMEOUT_MS:
      return deadline(id, text, &out->deadlines.idle_ms, err);
    case OPTION_RESPONSE_TIMEOUT_MS:
      return deadline(id, text, &out->deadlines.response_ms, err);
    case OPTION_DRAIN_TIMEOUT_MS:
      return deadline(id, text, &out->deadlines.drain_ms, err);
    case OPTION_GRACE_MS:
      return deadline(id, text, &out->grace_ms, err);
  }
  assert(false);
  return false;
}

static void defaults(struct tg_options *out) {
  struct tg_shard_config shard;
  tg_shard_config_default(&shard);
  *out = (struct tg_options){
      .tls_port = 8443,
      .bind = "127.0.0.1",
      .ticket_lifetime_s = 3600,
      .quickack = TG_QUICKACK_REARM,
      .max_connections = MAX_CONNECTIONS_MAX,
      .max_body = UINT64_C(64) << 20,
      .deadlines = shard.deadlines,
      .grace_ms = 5000,
  };
}

static bool consistent(const struct tg_options *options, bool key_type_given, struct tg_error *err) {
  if ((options->cert_file == NULL) != (options->key_file == NULL)) {
    tg_error_set(err, "--cert and --key go together: --%s is missing", options->cert_file == NULL ? "cert" : "key");
    return false;
  }
  if (key_type_given && options->cert_file != NULL) {
    tg_error_set(err, "--key-type is for the self-signed certificate: leave it out beside --cert");
    return false;
  }
  if (options->with_http && options->http_port != 0 && options->http_port == options->tls_port) {
    tg_error_set(err, "--port and --http-port are both %u", (unsigned)options->http_port);
    return false;
  }
  return true;
}

enum tg_options_verdict tg_options_parse(int argc, char *const argv[], struct tg_options *out, struct tg_error *err) {
  defaults(out);
  bool help = false;
  bool key_type_given = false;
  // getopt(3): 0 makes glibc forget an earlier command line; the leading ':' tells a missing value from an unknown
  // option, and with '+' the first operand ends the options.
  optind = 0;
  opterr = 0;
  int id;
  while ((id = getopt_long(argc, argv, "+:", kOptions, NULL)) != -1) {
    if (id == '?') {
      // A short option leaves its letter in optopt, and optind may not have passed it.
      if (optopt != 0 && optopt < OPTION_HELP) {
        tg_error_set(err, "unknown option '-%c'", optopt);
      } else {
        tg_error_set(err, "%s '%s'", optopt == 0 ? "unknown or ambiguous option" : "no value is taken by",
                     argv[optind - 1]);
      }
      return TG_OPTIONS_WRONG;
    }
    if (id == ':') {
      tg_error_set(err, "--%s takes a value", option_name(optopt));
      return TG_OPTIONS_WRONG;
    }
    help |= id == OPTION_HELP;
    key_type_given |= id == OPTION_KEY_TYPE;
    if (!apply(id, optarg, out, err)) {
      return TG_OPTIONS_WRONG;
    }
  }
  if (optind < argc) {
    tg_error_set(err, "unexpected argument '%s'", argv[optind]);
    return TG_OPTIONS_WRONG;
  }
  if (!consistent(out, key_type_given, err)) {
    return TG_OPTIONS_WRONG;
  }
  return help ? TG_OPTIONS_HELP : TG_OPTIONS_RUN;
}

void tg_options_help(FILE *to) {
  struct tg_options options;
  defaults(&options);
  fprintf(
      to,
      "Usage: https_server [OPTION]...\n"
      "\n"
      "An HTTP/1.1 server on the TLS accept path under test. ALPN offers http/1.1 only; HTTP/2 is out of scope.\n"
      "When it accepts connections it prints one line of JSON,\n"
      "    {\"tls_port\":N,\"http_port\":N,\"pid\":N,\"shards\":N}      (http_port is null without --http-port)\n"
      "and after SIGTERM or SIGINT, when the requests in flight are answered, one with its counters. A second\n"
      "signal ends it at once.\n"
      "\n"
      "Routes: GET / (15 bytes of JSON), /big (1 MiB), /bytes/N, /stats (counters); POST /upload (counts the body)\n"
      "\n"
      "Where it listens\n"
      "  --port N                 TLS port, 0: any free one (default %u)\n"
      "  --http-port N            plaintext HTTP too, on this port, 0: any free one\n"
      "  --bind ADDRESS           numeric address (default %s)\n"
      "  --shards N               threads, each with its own listeners, 1 to %d (default: CPUs it may use)\n"
      "TLS\n"
      "  --cert FILE --key FILE   PEM chain, leaf first, and its key (default: self-signed, made at start)\n"
      "  --key-type TYPE          of the self-signed certificate: p256, rsa2048 or rsa4096 (default p256)\n"
      "  --groups LIST            key exchange groups by preference, such as P-384:P-256\n"
      "  --client-ca FILE         require a client certificate that one of these PEM certificates signed\n"
      "  --early-data             accept TLS 1.3 early data, answered once the handshake is confirmed\n"
      "  --ticket-lifetime-s N    a ticket key encrypts this long, then decrypts that long again (default %u)\n"
      "Acknowledgements\n"
      "  --quickack MODE          rearm: after every read of the handshake and of a partial request (default);\n"
      "                           accept: once at accept; off: never. The last two stall, and are controls\n"
      "  --flush-tickets          send session tickets at once, which hides the stall\n"
      "Limits\n"
      "  --max-connections N      of the whole server; beyond it requests get 503 and the connection ends\n"
      "                           (default %u)\n"
      "  --max-body N             bytes of a request body, 0 to 2^40 (default %" PRIu64
      ")\n"
      "  --handshake-timeout-ms N accept to established (default %u)\n"
      "  --request-timeout-ms N   first byte of a request to its last (default %u)\n"
      "  --idle-timeout-ms N      without a request (default %u)\n"
      "  --response-timeout-ms N  for the client to take the response or 64 KiB more of it (default %u)\n"
      "  --drain-timeout-ms N     for the client to close after the last response (default %u)\n"
      "  --grace-ms N             SIGTERM to the cutting of what is left (default %u)\n"
      "  --help                   this text\n"
      "\n"
      "Exit status: 0 after SIGTERM or SIGINT, 1 when it cannot start or go on, 2 for a wrong command line.\n",
      (unsigned)options.tls_port, options.bind, TG_SHARDS_MAX, options.ticket_lifetime_s, options.max_connections,
      options.max_body, options.deadlines.handshake_ms, options.deadlines.request_ms, options.deadlines.idle_ms,
      options.deadlines.response_ms, options.deadlines.drain_ms, options.grace_ms);
}
