#include "harness/client/rtt_options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "harness/client/option_values.h"

enum {
  OPT_HOST = 256,
  OPT_PORT,
  OPT_COUNT,
  OPT_WARMUP,
  OPT_CLIENTS,
  OPT_MAX_SHED,
  OPT_TLS,
  OPT_RESUME,
  OPT_SPLIT,
  OPT_GROUPS,
  OPT_EXPECT_HRR,
  OPT_CERT,
  OPT_KEY,
  OPT_CA,
  OPT_PATH,
  OPT_EXPECT_BYTES,
  OPT_TIMEOUT,
  OPT_NODELAY,
  OPT_QUICKACK,
  OPT_JSON,
  OPT_HELP,
};

static const struct option tg_long_options[] = {
    {"host", required_argument, NULL, OPT_HOST},
    {"port", required_argument, NULL, OPT_PORT},
    {"count", required_argument, NULL, OPT_COUNT},
    {"warmup", required_argument, NULL, OPT_WARMUP},
    {"clients", required_argument, NULL, OPT_CLIENTS},
    {"max-shed", required_argument, NULL, OPT_MAX_SHED},
    {"tls", required_argument, NULL, OPT_TLS},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"keepalive-split", required_argument, NULL, OPT_SPLIT},
    {"groups", required_argument, NULL, OPT_GROUPS},
    {"expect-hrr", no_argument, NULL, OPT_EXPECT_HRR},
    {"cert", required_argument, NULL, OPT_CERT},
    {"key", required_argument, NULL, OPT_KEY},
    {"ca", required_argument, NULL, OPT_CA},
    {"path", required_argument, NULL, OPT_PATH},
    {"expect-bytes", required_argument, NULL, OPT_EXPECT_BYTES},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT},
    {"nodelay", no_argument, NULL, OPT_NODELAY},
    {"quickack", no_argument, NULL, OPT_QUICKACK},
    {"json", required_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

void tg_rtt_options_help(FILE *to) {
  (void)fputs(
      "usage: rtt_client --port N [options]\n"
      "Makes TLS connections one after the other, without TCP_NODELAY, asks for one page on each, and reports how "
      "long\n"
      "the first byte of the response took from the moment the request was written.\n"
      "\n"
      "  --host ADDRESS       numeric IPv4 or IPv6 address (127.0.0.1)\n"
      "  --port N             TLS port\n"
      "  --count N            measured connections (100)\n"
      "  --warmup N           connections before them that are not sampled (0; at least 1 with --resume)\n"
      "  --clients N          clients at the same time, each with its own connections (1); none measures before all "
      "have\n"
      "                       warmed up\n"
      "  --max-shed N         answers that may be load shedding, a 503 with the code capacity-unavailable (0); such a\n"
      "                       connection is counted, not sampled, and made again\n"
      "  --tls 1.2|1.3|any    protocol version (any)\n"
      "  --resume             resume a session on each measured connection; one that is not resumed fails the run\n"
      "  --keepalive-split R  R requests on each connection, each in two writes, cut inside the head\n"
      "  --groups LIST        key exchange groups in order of preference, e.g. X25519:P-384; the first gets a key "
      "share\n"
      "  --expect-hrr         a connection without a HelloRetryRequest fails the run\n"
      "  --cert FILE          client certificate chain (PEM)\n"
      "  --key FILE           its key (PEM)\n"
      "  --ca FILE            verify the server's chain against these certificates (PEM); without it nothing is "
      "verified\n"
      "  --path PATH          what to ask for (/)\n"
      "  --expect-bytes N     the body's length; any other fails the run\n"
      "  --timeout-ms N       longest wait for a connection or a byte (10000)\n"
      "  --nodelay            set TCP_NODELAY: a wait that this ends was for an ACK of the server's\n"
      "  --quickack           hold back no ACK: a wait that this ends was for an ACK of this client's\n"
      "  --json FILE          where the result goes; - is standard output (-)\n"
      "\n"
      "Exit status: 0, 1 when a connection failed (the JSON then holds `error` and no sample), 2 for wrong usage.\n",
      to);
}

// What goes into the request line as it is.
static bool read_path(const char *text, const char **out, struct tg_error *err) {
  bool ok = text[0] == '/' && strlen(text) <= 1024;
  for (const char *at = text; ok && *at != '\0'; at++) {
    ok = *at > ' ' && *at < 0x7f;
  }
  if (!ok) {
    tg_error_set(err, "--path %.100s: give a path that begins with / , without spaces, of at most 1024 characters",
                 text);
  }
  *out = text;
  return ok;
}

static bool read_option(int option, const char *value, struct tg_rtt_options *out, struct tg_error *err) {
  uint64_t number = 0;
  switch (option) {
    case OPT_HOST:
      out->client.host = value;
      return true;
    case OPT_PORT:
      if (!tg_option_number("port", value, 1, 65535, &number, err)) {
        return false;
      }
      out->client.port = (uint16_t)number;
      return true;
    case OPT_COUNT:
      return tg_option_u32("count", value, 1, 100000, &out->count, err);
    case OPT_WARMUP:
      return tg_option_u32("warmup", value, 0, 100000, &out->warmup, err);
    case OPT_CLIENTS:
      return tg_option_u32("clients", value, 1, TG_RTT_CLIENTS_MAX, &out->clients, err);
    case OPT_MAX_SHED:
      return tg_option_u32("max-shed", value, 0, 1000000, &out->max_shed, err);
    case OPT_TLS:
      return tg_option_tls(value, true, &out->client.tls_version, err);
    case OPT_RESUME:
      out->resume = true;
      return true;
    case OPT_SPLIT:
      return tg_option_u32("keepalive-split", value, 1, 10000, &out->split_requests, err);
    case OPT_GROUPS:
      out->client.groups = value;
      return true;
    case OPT_EXPECT_HRR:
      out->expect_hrr = true;
      return true;
    case OPT_CERT:
      out->client.cert_file = value;
      return true;
    case OPT_KEY:
      out->client.key_file = value;
      return true;
    case OPT_CA:
      out->client.ca_file = value;
      return true;
    case OPT_PATH:
      return read_path(value, &out->path, err);
    case OPT_EXPECT_BYTES:
      if (!tg_option_number("expect-bytes", value, 0, INT64_C(1) << 40, &number, err)) {
        return false;
      }
      out->expect_bytes = (int64_t)number;
      return true;
    case OPT_NODELAY:
      out->client.nodelay = true;
      return true;
    case OPT_QUICKACK:
      out->client.quickack = true;
      return true;
    case OPT_TIMEOUT:
      return tg_option_u32("timeout-ms", value, 1, 600000, &out->client.timeout_ms, err);
    default:
      out->json_file = value;
      return true;
  }
}

static bool check(const struct tg_rtt_options *options, struct tg_error *err) {
  if (options->client.port == 0) {
    tg_error_set(err, "--port is missing");
    return false;
  }
  if ((options->client.cert_file == NULL) != (options->client.key_file == NULL)) {
    tg_error_set(err, "--cert and --key go together");
    return false;
  }
  const uint64_t requests = options->split_requests > 0 ? options->split_requests : 1;
  if (options->count * requests * options->clients > TG_RTT_SAMPLES_MAX) {
    tg_error_set(err, "--count times --keepalive-split times --clients is more than %d samples", TG_RTT_SAMPLES_MAX);
    return false;
  }
  return true;
}

enum tg_rtt_verdict tg_rtt_options_parse(int argc, char *const argv[], struct tg_rtt_options *out,
                                         struct tg_error *err) {
  *out = (struct tg_rtt_options){
      .client = {.host = "127.0.0.1", .timeout_ms = 10000},
      .count = 100,
      .clients = 1,
      .path = "/",
      .expect_bytes = -1,
      .json_file = "-",
  };
  optind = 0;  // start over, whoever used getopt before
  for (;;) {
    const int word = optind > 0 ? optind : 1;
    const int option = getopt_long(argc, argv, "+:", tg_long_options, NULL);
    if (option == -1) {
      break;
    }
    if (option == OPT_HELP) {
      return TG_RTT_HELP;
    }
    if (option == '?' || option == ':') {
      tg_error_set(err, option == ':' ? "%.100s: its value is missing" : "%.100s: no such option, see --help",
                   argv[word]);
      return TG_RTT_WRONG;
    }
    if (!read_option(option, optarg, out, err)) {
      return TG_RTT_WRONG;
    }
  }
  if (optind < argc) {
    tg_error_set(err, "%.100s: no such argument, see --help", argv[optind]);
    return TG_RTT_WRONG;
  }
  return check(out, err) ? TG_RTT_RUN : TG_RTT_WRONG;
}
