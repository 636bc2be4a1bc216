#include "fuzz/world/refused.h"

#include <assert.h>
#include <openssl/err.h>
#include <unistd.h>

#include "fuzz/world/finding.h"
#include "fuzz/world/fixtures.h"
#include "fuzz/world/server.h"
#include "harness/accept/accept.h"
#include "harness/accept/listener.h"
#include "harness/accept/tls_context.h"

static const char *meaning_of(enum tg_schedule_refusal refused) {
#define TG_MEANING(name, text, meaning) meaning,
  static const char *const kMeanings[] = {TG_SCHEDULE_REFUSALS(TG_MEANING)};
#undef TG_MEANING
  return kMeanings[refused];
}

static bool refuses_tls(enum tg_schedule_refusal refused, struct tg_error *err) {
  const struct tg_identity *identity = tg_fixture_server(TG_SCHEDULE_KEY_P256);
  struct tg_tls_config config = {.key = identity->key, .chain = identity->chain, .ticket_key_lifetime_s = 1};
  if (refused == TG_REFUSAL_TICKET_LIFETIME) {
    config.ticket_key_lifetime_s = 0;
  } else if (refused == TG_REFUSAL_NO_CERTIFICATE) {
    config.chain = NULL;
  } else if (refused == TG_REFUSAL_OTHER_KEY) {
    config.key = tg_fixture_client()->key;
  } else if (refused == TG_REFUSAL_UNKNOWN_GROUP) {
    config.groups = "no-such-group";
  } else {
    config.client_ca_file = "/nowhere";
  }
  struct tg_tls_context *made = tg_tls_context_create(&config, err);
  tg_tls_context_destroy(made);
  return made == NULL;
}

static bool refuses_listener(const char *address, uint16_t port, struct tg_error *err) {
  const int made = tg_listener_open(address, port, true, err);
  if (made >= 0) {
    close(made);
  }
  return made < 0;
}

// Opens a listener, and asks for another at the same place.
static bool refuses_port_in_use(struct tg_kernel *kernel, const char *address, uint16_t port, struct tg_error *err) {
  const int first = tg_listener_open(address, port, true, err);
  if (first < 0 || (port != 0 && tg_listener_port(first) != port) || tg_listener_port(first) == 0) {
    tg_finding(kernel, "P1", TG_NO_CLIENT, NULL, "a listener on %s is not bound to the port that it was opened on",
               address);
  }
  const bool refuses = refuses_listener(address, tg_listener_port(first), err);
  close(first);
  return refuses;
}

static bool refuses_ports_in_use(struct tg_kernel *kernel, struct tg_error *err) {
  return refuses_port_in_use(kernel, "::1", TG_WORLD_TLS_PORT, err) &&
         refuses_port_in_use(kernel, "127.0.0.1", TG_WORLD_PLAIN_PORT, err) &&
         refuses_port_in_use(kernel, "127.0.0.1", 0, err);
}

static bool refuses_descriptor(struct tg_kernel *kernel, struct tg_error *err) {
  const int last = tg_listener_open("127.0.0.1", TG_WORLD_TLS_PORT, true, err);
  tg_kernel_set_max_fds(kernel, 1);
  const bool refuses = refuses_listener("127.0.0.1", TG_WORLD_PLAIN_PORT, err);
  tg_kernel_set_max_fds(kernel, TG_KERNEL_FDS_MAX);
  close(last);
  return refuses;
}

static bool refuses_shard(enum tg_schedule_refusal refused, struct tg_error *err) {
  static const struct tg_app kApp;
  struct tg_shard_config config;
  tg_shard_config_default(&config);
  config.app = &kApp;
  if (refused == TG_REFUSAL_NO_DEADLINE) {
    config.deadlines.drain_ms = 0;
  } else if (refused == TG_REFUSAL_NO_CONNECTIONS) {
    config.max_connections = 0;
  } else if (refused == TG_REFUSAL_NO_APPLICATION) {
    config.app = NULL;
  } else {
    config.tls_listener = 0;
  }
  struct tg_shard *made = tg_shard_create(&config, err);
  tg_shard_destroy(made);
  return made == NULL;
}

static bool refuses(struct tg_kernel *kernel, enum tg_schedule_refusal refused, struct tg_error *err) {
  switch (refused) {
    case TG_REFUSAL_NOTHING:
    case TG_SCHEDULE_REFUSALS_COUNT:
      break;
    case TG_REFUSAL_TICKET_LIFETIME:
    case TG_REFUSAL_NO_CERTIFICATE:
    case TG_REFUSAL_OTHER_KEY:
    case TG_REFUSAL_UNKNOWN_GROUP:
    case TG_REFUSAL_NO_CA_FILE:
      return refuses_tls(refused, err);
    case TG_REFUSAL_NAMED_ADDRESS:
      return refuses_listener("localhost", TG_WORLD_TLS_PORT, err);
    case TG_REFUSAL_PORT_IN_USE:
      return refuses_ports_in_use(kernel, err);
    case TG_REFUSAL_NO_DESCRIPTOR:
      return refuses_descriptor(kernel, err);
    case TG_REFUSAL_NO_DEADLINE:
    case TG_REFUSAL_NO_CONNECTIONS:
    case TG_REFUSAL_NO_APPLICATION:
    case TG_REFUSAL_NO_TLS:
      return refuses_shard(refused, err);
  }
  return false;
}

void tg_world_refuse(struct tg_kernel *kernel, enum tg_schedule_refusal refused) {
  assert(refused < TG_SCHEDULE_REFUSALS_COUNT);
  if (refused == TG_REFUSAL_NOTHING) {
    return;
  }
  struct tg_error err = {.text = ""};
  tg_kernel_allow_files(kernel, true);
  tg_kernel_enter(kernel, 0);
  const bool refused_in_words = refuses(kernel, refused, &err) && err.text[0] != '\0';
  ERR_clear_error();
  tg_kernel_leave(kernel);
  tg_kernel_allow_files(kernel, false);
  if (!refused_in_words) {
    tg_finding(kernel, "P1", TG_NO_CLIENT, NULL, "a server is not refused in words for %s", meaning_of(refused));
  }
  if (tg_kernel_open_fds(kernel) > 0 || tg_kernel_allocations(kernel) > 0) {
    tg_kernel_print_allocations(kernel, stderr);
    tg_finding(kernel, "P1", TG_NO_CLIENT, NULL,
               "a server that was refused for %s leaves %u descriptors and %zu "
               "allocations",
               meaning_of(refused), tg_kernel_open_fds(kernel), (size_t)tg_kernel_allocations(kernel));
  }
}
