// handshake_bench: what a TLS handshake costs each side's CPU, without a network. See handshake_pair.h.
//
// Prints JSON: schema "tlsgate.handshake/1", tls_version, resumed, key_type ("file" with --cert), count; server_cpu_us,
// client_cpu_us and both_cpu_us, the means of a handshake's CPU time in microseconds; server_cpu_p50_us and
// client_cpu_p50_us, their medians; clock_us, the cost of one measurement, which the figures do not include.
#include <getopt.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "harness/client/handshake_pair.h"
#include "harness/client/json_file.h"
#include "harness/client/option_values.h"
#include "perf/stats/quantile.h"

enum { EXIT_FINE = 0, EXIT_RUN_FAILED = 1, EXIT_USAGE = 2 };

struct bench_options {
  uint32_t count;
  uint32_t warmup;
  uint16_t tls_version;
  bool resume;
  const char *key_type;
  const char *cert_file;
  const char *key_file;
  bool help;
};

static const char bench_help[] =
    "usage: handshake_bench [options]\n"
    "Makes TLS handshakes in memory and reports the CPU time that each side took.\n"
    "\n"
    "  --count N                          measured handshakes (300)\n"
    "  --warmup N                         handshakes before them (20)\n"
    "  --tls 1.2|1.3                      protocol version (1.3)\n"
    "  --resume                           resume a session each time\n"
    "  --key-type p256|rsa2048|rsa4096    the key of the server's self-signed certificate (p256)\n"
    "  --cert FILE --key FILE             the server's certificate chain and key (PEM) instead\n"
    "\n"
    "Exit status: 0, 1 when a handshake failed, 2 for wrong usage.\n";

static const struct {
  const char *name;
  enum tg_key_type type;
} bench_key_types[] = {{"p256", TG_KEY_P256}, {"rsa2048", TG_KEY_RSA2048}, {"rsa4096", TG_KEY_RSA4096}};

static bool find_key_type(const char *name, enum tg_key_type *out) {
  for (size_t i = 0; i < sizeof(bench_key_types) / sizeof(bench_key_types[0]); i++) {
    if (strcmp(name, bench_key_types[i].name) == 0) {
      *out = bench_key_types[i].type;
      return true;
    }
  }
  return false;
}

static bool read_option(int option, const char *value, struct bench_options *out, struct tg_error *err) {
  enum tg_key_type type;
  switch (option) {
    case 'n':
      return tg_option_u32("count", value, 1, 1000000, &out->count, err);
    case 'w':
      return tg_option_u32("warmup", value, 0, 1000000, &out->warmup, err);
    case 't':
      return tg_option_tls(value, false, &out->tls_version, err);
    case 'r':
      out->resume = true;
      return true;
    case 'y':
      out->key_type = value;
      if (!find_key_type(value, &type)) {
        tg_error_set(err, "--key-type %.100s: give p256, rsa2048 or rsa4096", value);
        return false;
      }
      return true;
    case 'c':
      out->cert_file = value;
      return true;
    case 'k':
      out->key_file = value;
      return true;
    default:
      out->help = true;
      return true;
  }
}

static bool parse(int argc, char **argv, struct bench_options *out, struct tg_error *err) {
  static const struct option long_options[] = {
      {"count", required_argument, NULL, 'n'},
      {"warmup", required_argument, NULL, 'w'},
      {"tls", required_argument, NULL, 't'},
      {"resume", no_argument, NULL, 'r'},
      {"key-type", required_argument, NULL, 'y'},
      {"cert", required_argument, NULL, 'c'},
      {"key", required_argument, NULL, 'k'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  *out = (struct bench_options){.count = 300, .warmup = 20, .tls_version = TLS1_3_VERSION};
  for (;;) {
    const int word = optind;
    const int option = getopt_long(argc, argv, "+:", long_options, NULL);
    if (option == -1) {
      break;
    }
    if (option == '?' || option == ':') {
      tg_error_set(err, option == ':' ? "%.100s: its value is missing" : "%.100s: no such option, see --help",
                   argv[word]);
      return false;
    }
    if (!read_option(option, optarg, out, err)) {
      return false;
    }
  }
  if (optind < argc) {
    tg_error_set(err, "%.100s: no such argument, see --help", argv[optind]);
    return false;
  }
  if ((out->cert_file == NULL) != (out->key_file == NULL)) {
    tg_error_set(err, "--cert and --key go together");
    return false;
  }
  if (out->cert_file != NULL && out->key_type != NULL) {
    tg_error_set(err, "--key-type and --cert exclude each other");
    return false;
  }
  return true;
}

static double mean(const double *values, size_t num) {
  double sum = 0;
  for (size_t i = 0; i < num; i++) {
    sum += values[i];
  }
  return sum / (double)num;
}

static json_t *report(const struct bench_options *options, const char *key_type, struct tg_handshake_cost *cost) {
  const size_t num = options->count;
  const double server_us = mean(cost->server_us, num);
  const double client_us = mean(cost->client_us, num);
  tg_sort(cost->server_us, num);
  tg_sort(cost->client_us, num);
  return json_pack("{s:s, s:s, s:b, s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "schema", "tlsgate.handshake/1",
                   "tls_version", options->tls_version == TLS1_3_VERSION ? "1.3" : "1.2", "resumed",
                   (int)options->resume, "key_type", key_type, "count", (json_int_t)num, "server_cpu_us", server_us,
                   "client_cpu_us", client_us, "both_cpu_us", server_us + client_us, "server_cpu_p50_us",
                   tg_quantile_sorted(cost->server_us, num, 0.5), "client_cpu_p50_us",
                   tg_quantile_sorted(cost->client_us, num, 0.5), "clock_us", cost->clock_us);
}

static bool load_credentials(const struct bench_options *options, const char *key_type, struct tg_credentials *out,
                             struct tg_error *err) {
  if (options->cert_file != NULL) {
    return tg_credentials_load(options->cert_file, options->key_file, out, err);
  }
  enum tg_key_type type = TG_KEY_P256;
  (void)find_key_type(key_type, &type);
  return tg_credentials_self_signed(type, out, err);
}

static bool run(const struct bench_options *options, const struct tg_credentials *credentials, const char *key_type,
                struct tg_error *err) {
  const struct tg_handshake_plan plan = {
      .credentials = credentials,
      .tls_version = options->tls_version,
      .resume = options->resume,
      .count = options->count,
      .warmup = options->warmup,
  };
  struct tg_handshake_cost cost;
  if (!tg_handshakes_measure(&plan, &cost, err)) {
    return false;
  }
  json_t *json = report(options, key_type, &cost);
  tg_handshake_cost_free(&cost);
  return tg_json_write(json, "-", err);
}

static int complain(const struct tg_error *err, int status) {
  (void)fprintf(stderr, "handshake_bench: %s\n", err->text);
  return status;
}

int main(int argc, char **argv) {
  struct tg_error err;
  struct bench_options options;
  if (!parse(argc, argv, &options, &err)) {
    return complain(&err, EXIT_USAGE);
  }
  if (options.help) {
    (void)fputs(bench_help, stdout);
    return EXIT_FINE;
  }
  const char *key_type = options.cert_file != NULL ? "file" : options.key_type != NULL ? options.key_type : "p256";
  struct tg_credentials credentials;
  if (!load_credentials(&options, key_type, &credentials, &err)) {
    return complain(&err, EXIT_RUN_FAILED);
  }
  const bool ok = run(&options, &credentials, key_type, &err);
  tg_credentials_free(&credentials);
  return ok ? EXIT_FINE : complain(&err, EXIT_RUN_FAILED);
}
