#include "perf/run/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/process/child.h"

#define OPENSSL_TIMEOUT_S 30
#define ARGS_MAX          12

static bool make_scratch(struct tg_fleet *fleet, struct tg_error *err) {
  (void)snprintf(fleet->scratch, sizeof(fleet->scratch), "/tmp/tlsgate-XXXXXX");
  if (mkdtemp(fleet->scratch) == NULL) {
    tg_error_set(err, "cannot make a folder in /tmp: %s", strerror(errno));
    fleet->scratch[0] = '\0';
    return false;
  }
  (void)snprintf(fleet->client_cert, sizeof(fleet->client_cert), "%s/client.pem", fleet->scratch);
  (void)snprintf(fleet->client_key, sizeof(fleet->client_key), "%s/client.key", fleet->scratch);
  return true;
}

// A self-signed client certificate is its own CA.
static bool make_client_certificate(struct tg_fleet *fleet, struct tg_error *err) {
  const char *argv[] = {"openssl",
                        "req",
                        "-x509",
                        "-newkey",
                        "ec",
                        "-pkeyopt",
                        "ec_paramgen_curve:P-256",
                        "-nodes",
                        "-days",
                        "2",
                        "-subj",
                        "/CN=tlsgate client",
                        "-keyout",
                        fleet->client_key,
                        "-out",
                        fleet->client_cert,
                        NULL};
  struct tg_child_result result;
  if (!tg_child_run(argv, OPENSSL_TIMEOUT_S, &result, err)) {
    return false;
  }
  bool ok = result.exit_status == 0;
  if (!ok) {
    tg_error_set(err, "openssl cannot make a client certificate: %.300s", result.err);
  }
  tg_child_result_free(&result);
  return ok;
}

static bool start_member(struct tg_fleet *fleet, enum tg_member member, const struct tg_fleet_config *config,
                         struct tg_error *err) {
  static const char *const names[TG_MEMBERS] = {"main", "hrr", "client-ca", "rsa4096"};
  const char *argv[ARGS_MAX] = {config->server, "--port", "0", "--http-port", "0", "--quickack", config->quickack};
  size_t n = 7;
  switch (member) {
    case TG_MEMBER_HRR:
      argv[n++] = "--groups";
      argv[n++] = "P-384";
      break;
    case TG_MEMBER_CLIENT_CA:
      argv[n++] = "--client-ca";
      argv[n++] = fleet->client_cert;
      break;
    case TG_MEMBER_RSA4096:
      argv[n++] = "--key-type";
      argv[n++] = "rsa4096";
      break;
    case TG_MEMBER_MAIN:
    case TG_MEMBERS:
      break;
  }
  argv[n] = NULL;
  char fault[64];
  const char *env[] = {NULL, NULL};
  if (config->fault != NULL) {
    (void)snprintf(fault, sizeof(fault), "TLSGATE_FAULT=%s", config->fault);
    env[0] = fault;
  }
  return tg_server_start(&fleet->servers[member], names[member], argv, env, err);
}

bool tg_fleet_start(struct tg_fleet *fleet, const struct tg_fleet_config *config, const bool wanted[TG_MEMBERS],
                    struct tg_error *err) {
  memset(fleet, 0, sizeof(*fleet));
  bool ok = make_scratch(fleet, err) && make_client_certificate(fleet, err);
  for (int member = 0; ok && member < TG_MEMBERS; member++) {
    ok = !wanted[member] || start_member(fleet, (enum tg_member)member, config, err);
  }
  if (!ok) {
    (void)tg_fleet_stop(fleet, NULL);
  }
  return ok;
}

static void remove_scratch(const struct tg_fleet *fleet) {
  static const char *const files[] = {"client.pem", "client.key", "hyperfine.json", "ab.out"};
  char path[PATH_MAX];
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
    (void)snprintf(path, sizeof(path), "%s/%s", fleet->scratch, files[i]);
    (void)unlink(path);
  }
  (void)rmdir(fleet->scratch);
}

bool tg_fleet_stop(struct tg_fleet *fleet, struct tg_error *err) {
  bool ok = true;
  for (int member = 0; member < TG_MEMBERS; member++) {
    ok = tg_server_stop(&fleet->servers[member], ok ? err : NULL) && ok;
  }
  if (fleet->scratch[0] != '\0') {
    remove_scratch(fleet);
    fleet->scratch[0] = '\0';
  }
  return ok;
}
