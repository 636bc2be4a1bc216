#include "perf/run/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/process/child.h"
#include "perf/run/scratch.h"
#include "perf/workload/load.h"

#define OPENSSL_TIMEOUT_S 30
#define ARGS_MAX          12

// A self-signed client certificate is its own CA.
static bool make_client_certificate(struct tg_error *err) {
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
                        tg_scratch_path(TG_SCRATCH_CLIENT_KEY),
                        "-out",
                        tg_scratch_path(TG_SCRATCH_CLIENT_CERT),
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

const char *tg_member_name(enum tg_member member) {
  static const char *const names[TG_MEMBERS] = {"main", "hrr", "client-ca", "rsa4096"};
  return names[member];
}

enum tg_server_variant tg_member_variant(enum tg_member member) {
  static const enum tg_server_variant variants[TG_MEMBERS] = {
      [TG_MEMBER_MAIN] = TG_VARIANT_MAIN,
      [TG_MEMBER_HRR] = TG_VARIANT_HRR,
      [TG_MEMBER_CLIENT_CA] = TG_VARIANT_CLIENT_CA,
      [TG_MEMBER_RSA4096] = TG_VARIANT_RSA4096,
  };
  return variants[member];
}

static bool launch_member(struct tg_fleet *fleet, enum tg_member member, const struct tg_fleet_config *config,
                          struct tg_error *err) {
  const struct tg_launch_config launch = {
      .https_server = config->server,
      .workers = tg_usable_cpus(),
      .variant = tg_member_variant(member),
      .client_ca = tg_scratch_path(TG_SCRATCH_CLIENT_CERT),
  };
  struct tg_error why;
  if (!tg_launch_start(&fleet->launches[member], config->description, &launch, &why)) {
    tg_error_set(err, "variant %s: %.480s", tg_server_variant_name(launch.variant), why.text);
    return false;
  }
  fleet->servers[member] = fleet->launches[member].server;
  return true;
}

static bool start_member(struct tg_fleet *fleet, enum tg_member member, const struct tg_fleet_config *config,
                         struct tg_error *err) {
  if (config->description != NULL) {
    return launch_member(fleet, member, config, err);
  }
  const char *argv[ARGS_MAX] = {config->server, "--port", "0", "--http-port", "0", "--quickack", config->quickack};
  size_t n = 7;
  switch (member) {
    case TG_MEMBER_HRR:
      argv[n++] = "--groups";
      argv[n++] = "P-384";
      break;
    case TG_MEMBER_CLIENT_CA:
      argv[n++] = "--client-ca";
      argv[n++] = tg_scratch_path(TG_SCRATCH_CLIENT_CERT);
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
  return tg_server_start(&fleet->servers[member], tg_member_name(member), argv, env, err);
}

bool tg_fleet_start(struct tg_fleet *fleet, const struct tg_fleet_config *config, const bool wanted[TG_MEMBERS],
                    struct tg_error *err) {
  memset(fleet, 0, sizeof(*fleet));
  bool ok = tg_scratch_make(err) && make_client_certificate(err);
  for (int member = 0; ok && member < TG_MEMBERS; member++) {
    ok = !wanted[member] || start_member(fleet, (enum tg_member)member, config, err);
  }
  if (!ok) {
    (void)tg_fleet_stop(fleet, NULL);
  }
  return ok;
}

bool tg_fleet_stop(struct tg_fleet *fleet, struct tg_error *err) {
  bool ok = true;
  for (int member = 0; member < TG_MEMBERS; member++) {
    struct tg_launch *launch = &fleet->launches[member];
    if (launch->description != NULL) {
      // A launch that did not start has been stopped.
      ok = (launch->server.pid <= 0 || tg_launch_stop(launch, ok ? err : NULL)) && ok;
      fleet->servers[member] = (struct tg_server){.pid = 0};
    } else {
      ok = tg_server_stop(&fleet->servers[member], ok ? err : NULL) && ok;
    }
  }
  tg_scratch_remove();
  return ok;
}
