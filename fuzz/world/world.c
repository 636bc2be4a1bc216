#include "fuzz/world/world.h"

#include <inttypes.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/nid.h>
#include <openssl/obj.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/base/rng.h"
#include "fuzz/world/black_box.h"
#include "fuzz/world/finding.h"
#include "fuzz/world/fixtures.h"
#include "fuzz/world/http_script.h"
#include "fuzz/world/oracle.h"
#include "fuzz/world/peer_tls.h"
#include "fuzz/world/steps.h"
#include "fuzz/world/world_state.h"

// When the simulated machine was started, seen from the first run's first call.
#define BOOTED_NS (UINT64_C(1000) * 1000 * TG_SIM_NS_PER_MS)

// Virtual time that a rest may take: trickles end by then.
#define REST_NS (UINT64_C(3600) * 1000 * TG_SIM_NS_PER_MS)

// System calls of a run. No input that is committed makes more than 30,000; eight clients that come again and again and
// trickle all they say make some millions.
#define CALLS_MAX UINT64_C(10000000)

// Rounds of "until the next event" that a rest may take: what makes calls ends by CALLS_MAX, and events of the kernel's
// own that never end make none.
#define REST_ROUNDS CALLS_MAX

// An accept path that does not say: a listener that is paused looks again within 100 ms, and twice that is enough.
#define RECOVERY_MS 200u

static struct tg_world world;
static bool trace_all;

static struct tg_kernel_options kernel_options(const struct tg_schedule_settings *settings,
                                               const struct tg_world_options *options) {
  struct tg_kernel_options kernel;
  tg_kernel_options_default(&kernel);
  kernel.start_ns = BOOTED_NS;
  kernel.wall_s = TG_FIXTURE_WALL_S;
  kernel.call_ns = tg_world_settings_call_ns(settings);
  kernel.tcp = tg_world_settings_tcp(settings);
  kernel.calls_max = CALLS_MAX;
  kernel.trace = options->trace != NULL ? options->trace : trace_all ? stderr : NULL;
  kernel.trace_silent = options->thrifty && kernel.trace == NULL;
  kernel.keep_blocks = options->thrifty;
  return kernel;
}

// A run as it was asked for.
struct run {
  bool bytes;  // `input` is what is run, else `schedule`
  const struct tg_schedule *schedule;
  const struct tg_byte_input *input;
  bool raw;
  const struct tg_world_options *options;
};

static struct run present;  // while it may have to be told again

static void do_run(const struct run *run, struct tg_world_outcome *out);

// What libraries allocate once and keep they allocate now, and the books of later runs are not troubled by it.
static void warm_up(const struct tg_schedule_settings *settings) {
  static const struct tg_world_options no_options;
  const struct tg_schedule schedule = {
      .settings = *settings,
      .num_steps = 4,
      .steps = {{.action = TG_SCHEDULE_CONNECT, .value = TG_CONNECT_CERTIFICATE, .wait = 255},
                {.action = TG_SCHEDULE_REQUEST, .wait = 255},
                {.action = TG_SCHEDULE_CONNECT, .client = 1, .value = TG_CONNECT_TLS12, .wait = 255},
                {.action = TG_SCHEDULE_RECORD, .wait = 255}},
  };
  struct tg_world_outcome outcome;
  bool traced = trace_all;
  trace_all = false;
  world.warming_up = true;
  do_run(&(struct run){.schedule = &schedule, .options = &no_options}, &outcome);
  world.warming_up = false;
  trace_all = traced;
}

// The TLS library makes a curve when it is first named, and keeps it.
static void warm_up_curves(void) {
  static const int kCurves[] = {NID_secp224r1, NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1};
  for (size_t i = 0; i < sizeof(kCurves) / sizeof(kCurves[0]); i++) {
    EC_GROUP *curve = EC_GROUP_new_by_curve_name(kCurves[i]);
    if (curve == NULL) {
      fprintf(stderr, "fuzz/world: no memory for elliptic curve %s\n", OBJ_nid2sn(kCurves[i]));
      abort();
    }
    EC_GROUP_free(curve);
  }
}

static void warm_up_all(void) {
  warm_up_curves();
  for (int key = 0; key < TG_SCHEDULE_KEYS; key++) {
    const struct tg_schedule_settings settings = {
        .shards = 1, .key = (uint8_t)key, .client_ca = true, .plaintext_listener = true};
    warm_up(&settings);
  }
}

// Gives the next server a TLS context that is there already.
static void keep_tls(const struct tg_schedule_settings *settings) {
  bool made;
  if (world.path->keep_tls == NULL) {
    return;
  }
  world.kept = world.path->keep_tls(settings, &made);
  if (made) {
    const struct tg_schedule_settings same_context = {.shards = 1,
                                                      .key = settings->key,
                                                      .client_ca = settings->client_ca,
                                                      .early_data = settings->early_data,
                                                      .ticket_lifetime = settings->ticket_lifetime};
    warm_up(&same_context);
  }
}

// The settings that the accept path heeds.
static struct tg_schedule_settings heeded(const struct tg_schedule_settings *settings) {
  const struct tg_accept_path *path = world.path;
  struct tg_schedule_settings out = *settings;
  out.key = path->takes.key ? out.key : TG_SCHEDULE_KEY_P256;
  out.client_ca = out.client_ca && path->takes.client_ca;
  out.early_data = out.early_data && path->takes.early_data;
  out.plaintext_listener = out.plaintext_listener && path->plaintext_port != 0;
  out.deadlines = path->takes.deadlines ? out.deadlines : 0;
  out.max_connections = path->takes.max_connections ? out.max_connections : 0;
  out.refused = path->refuse != NULL ? out.refused : TG_REFUSAL_NOTHING;
  return out;
}

static struct tg_promises promises(const struct tg_schedule_settings *settings) {
  static const uint32_t kDivisor[] = {1, 10, 100, UINT32_MAX};
  const uint32_t by = kDivisor[settings->deadlines % 4];
  struct tg_promises out = world.path->deadlines;
  uint32_t *all[] = {&out.handshake_ms, &out.request_ms, &out.idle_ms, &out.response_ms, &out.drain_ms};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    *all[i] = *all[i] == 0 || *all[i] / by > 0 ? *all[i] / by : 1;
  }
  return out;
}

void tg_world_init(void) {
  tg_world_init_with(&tg_world_accept_path);
}

void tg_world_init_with(const struct tg_accept_path *path) {
  world.path = path;
  world.adapter = world.path->adapter;
  if (!world.path->inside.checks_itself) {
    world.adapter.check = tg_black_box_check;
  }
  const char *trace = getenv("TRACE");
  trace_all = trace != NULL && strcmp(trace, "1") == 0;
  tg_fixtures_init();
  static const struct tg_schedule_settings defaults = {.shards = 1};
  static const struct tg_world_options no_options;
  struct tg_kernel_options kernel = kernel_options(&defaults, &no_options);
  world.kernel = tg_kernel_create(&kernel);
  if (world.kernel == NULL) {
    fprintf(stderr, "fuzz/world: no memory for a simulated kernel\n");
    abort();
  }
  tg_kernel_set_breach(world.kernel, tg_oracle_breach, &world);
  world.client_ctx = tg_peer_tls_context();
  warm_up_all();
}

bool tg_world_lenient(struct tg_world *lenient) {
  return lenient->excused || lenient->starved || lenient->winding_down || tg_black_box_cut_some(lenient);
}

void tg_world_pass(struct tg_world *passing, uint64_t ns) {
  uint64_t until_ns = tg_world_now_ns(passing) + ns;
  if (!tg_adapter_run(passing->kernel, &passing->adapter, passing->server, passing, until_ns) &&
      tg_world_now_ns(passing) < until_ns) {
    tg_sim_pass_to(tg_kernel_sim(passing->kernel), until_ns);
  }
}

static bool all_parked(struct tg_world *resting) {
  const uint32_t num_threads = resting->adapter.threads(resting->server);
  for (uint32_t i = 0; i < num_threads; i++) {
    if (tg_kernel_runnable(resting->kernel, i)) {
      return false;
    }
  }
  return true;
}

void tg_world_pass_to_rest(struct tg_world *resting) {
  uint64_t end_ns = tg_world_now_ns(resting) + REST_NS;
  for (uint64_t round = 0;; round++) {
    if (round == REST_ROUNDS) {
      tg_finding(resting->kernel, "P10", TG_NO_CLIENT, NULL,
                 "endless: after %" PRIu64 " events the run has not come to rest", round);
    }
    uint64_t next_ns = tg_sim_next_ns(tg_kernel_sim(resting->kernel));
    bool parked = all_parked(resting);
    if ((next_ns == TG_SIM_NEVER && parked) || tg_world_now_ns(resting) >= end_ns) {
      return;
    }
    uint64_t until_ns = parked && next_ns > tg_world_now_ns(resting) ? next_ns : tg_world_now_ns(resting) + 1;
    tg_adapter_run(resting->kernel, &resting->adapter, resting->server, resting, until_ns);
  }
}

static void look_inside_at_rest(struct tg_world *resting) {
  if (resting->path->inside.check_rest != NULL) {
    resting->path->inside.check_rest(resting->server);
  }
}

static void look_at_rest(struct tg_world *resting) {
  if (tg_sim_next_ns(tg_kernel_sim(resting->kernel)) != TG_SIM_NEVER || !all_parked(resting)) {
    return;
  }
  look_inside_at_rest(resting);
  for (size_t i = 0; i < TG_WORLD_PEERS; i++) {
    tg_oracle_rest(&resting->peers[i]);
  }
}

static void make_server(void) {
  const struct tg_identity *identity = tg_fixture_server(world.settings.key);
  world.given =
      (struct tg_accept_path_config){.kernel = world.kernel,
                                     .settings = &world.settings,
                                     .deadlines = promises(&world.settings),
                                     .max_body = tg_http_script_max_body(&world.path->http, world.options.post_unit),
                                     .key = identity->key,
                                     .chain = identity->chain,
                                     .key_pem = tg_fixture_server_key_pem(world.settings.key),
                                     .chain_pem = tg_fixture_server_chain_pem(world.settings.key),
                                     .client_ca_file = world.settings.client_ca ? tg_fixture_ca_file() : NULL,
                                     .quickack = world.options.quickack,
                                     .kept = world.kept};
  tg_kernel_allow_files(world.kernel, true);
  tg_kernel_enter(world.kernel, 0);
  world.server = world.adapter.create(&world.given);
  tg_kernel_leave(world.kernel);
  tg_kernel_allow_files(world.kernel, false);
  ERR_clear_error();
}

// A server that cannot be made leaves nothing behind, and can be made when nothing is short any more.
static void make_server_again(void) {
  if (world.settings.key == TG_SCHEDULE_KEY_RSA2048) {
    // The key keeps what it computes.
    tg_fixtures_renew();
  }
  if (tg_kernel_open_fds(world.kernel) > 0 || tg_kernel_allocations(world.kernel) > 0) {
    tg_kernel_print_allocations(world.kernel, stderr);
    tg_finding(world.kernel, "P1", TG_NO_CLIENT, NULL,
               "a server that cannot be made leaves %u descriptors open and %zu allocations",
               tg_kernel_open_fds(world.kernel), (size_t)tg_kernel_allocations(world.kernel));
  }
  tg_kernel_clear_injections(world.kernel);
  make_server();
}

static void begin(const struct tg_schedule_settings *settings, const struct tg_world_options *options) {
  struct tg_kernel_options kernel = kernel_options(settings, options);
  tg_kernel_reset(world.kernel, &kernel);
  tg_fuzz_reset_rng();
  world.settings = *settings;
  world.options = *options;
  world.stalls = world.handshakes = 0;
  world.injected = world.excused = world.listener_broken = world.starved = world.winding_down = false;
  world.cut_short = world.cut_some = false;
  for (uint8_t i = 0; i < TG_WORLD_PEERS; i++) {
    tg_peer_init(&world.peers[i], &world, i);
  }
  if (world.path->refuse != NULL) {
    world.path->refuse(world.kernel, (enum tg_schedule_refusal)settings->refused);
  }
  for (size_t i = 0; i < options->num_first; i++) {
    tg_world_step(&world, &options->first[i]);
  }
  make_server();
  if (world.server == NULL && world.injected) {
    make_server_again();
  }
  if (world.server == NULL) {
    tg_finding(world.kernel, "P10", TG_NO_CLIENT, NULL, "the server cannot be made although nothing is short");
  }
  if (settings->max_fds > 0) {
    tg_world_limit_fds(&world, settings->max_fds);
  }
}

// Whether calls failed that a listener need not survive (docs/accept-path.md): one that cannot even be taken out of
// epoll for a while is given up, and one whose accept4 says that it is none.
static bool listener_may_be_lost(void) {
  return tg_kernel_was_hit(world.kernel, TG_CALL_EPOLL_CTL) ||
         (world.listener_broken && tg_kernel_was_hit(world.kernel, TG_CALL_ACCEPT));
}

// What a server sends before a client's Finished and after it, at most: the flight with its chain, tickets, a response.
#define FLIGHT_BYTES      4096u
#define LONG_FLIGHT_BYTES 16384u
// What each trip waits when what is under way is too little to be acknowledged at once (tcp_delack_timer: TCP_ATO_MIN).
#define DELAYED_ACK_NS (40 * TG_SIM_NS_PER_MS)
#define INITIAL_WINDOW 10u  // segments: TCP_INIT_CWND

// Whether a client can be answered at all within the deadlines: not if they are shorter than the way to it and back, as
// often as small buffers make it.
static bool answers_in_time(const struct tg_schedule_settings *settings) {
  const struct tg_promises all = promises(settings);
  const struct tg_tcp_options tcp = tg_world_settings_tcp(settings);
  const uint32_t flight = settings->key == TG_SCHEDULE_KEY_LONG_CHAIN ? LONG_FLIGHT_BYTES : FLIGHT_BYTES;
  uint32_t trip = INITIAL_WINDOW * tcp.mss;
  trip = tcp.window[TG_TCP_CLIENT] < trip ? tcp.window[TG_TCP_CLIENT] : trip;
  trip = tcp.send_buffer[TG_TCP_SERVER] < trip ? tcp.send_buffer[TG_TCP_SERVER] : trip;
  uint64_t needs_ns = 10 * tcp.delay_ns + 400 * tg_world_settings_call_ns(settings) +
                      flight / trip * (2 * tcp.delay_ns + DELAYED_ACK_NS);
  return (all.handshake_ms == 0 || all.handshake_ms * TG_SIM_NS_PER_MS > needs_ns) &&
         (all.drain_ms == 0 || all.drain_ms * TG_SIM_NS_PER_MS > needs_ns);
}

// Whoever comes after all that happened is served: P10.
static void require_recovery(void) {
  if (!world.injected && !world.starved) {
    return;
  }
  tg_kernel_clear_injections(world.kernel);
  tg_world_limit_fds(&world, 0);
  const uint64_t recovery_ms = world.path->recovery_ms > 0 ? world.path->recovery_ms : RECOVERY_MS;
  tg_world_pass(&world, recovery_ms * TG_SIM_NS_PER_MS);
  tg_world_pass_to_rest(&world);
  if (!answers_in_time(&world.settings)) {
    return;
  }
  if (world.winding_down || listener_may_be_lost()) {
    return;
  }
  struct tg_peer *probe = &world.peers[TG_WORLD_PROBE];
  uint16_t bits = TG_CONNECT_NODELAY | (world.settings.client_ca ? TG_CONNECT_CERTIFICATE : 0);
  if (!tg_peer_connect(probe, bits)) {
    tg_finding(world.kernel, "P10", TG_WORLD_PROBE, NULL, "nothing is short any more and a connection is refused");
  }
  tg_peer_request(probe, TG_REQUEST_CLOSE);
  tg_world_pass_to_rest(&world);
  if (probe->reader.responses != 1) {
    tg_finding(world.kernel, "P10", TG_WORLD_PROBE, NULL,
               "nothing is short any more and a new client is not answered (%s)",
               probe->established ? "its handshake was completed" : "nor its handshake completed");
  }
}

static uint64_t all_deadlines_ns(const struct tg_promises *promised) {
  const struct tg_promises all = *promised;
  uint64_t ms = (uint64_t)all.handshake_ms + all.request_ms + all.idle_ms + all.response_ms + all.drain_ms;
  return ms * TG_SIM_NS_PER_MS;
}

// A server without deadlines is rid of clients when they are gone.
static void reset_all(void) {
  for (size_t i = 0; i < TG_WORLD_PEERS; i++) {
    tg_peer_reset(&world.peers[i]);
  }
  tg_world_pass_to_rest(&world);
}

// Clients fall silent, all deadlines pass, and nothing may be left: P4, P1, P9.
static void require_end(void) {
  for (size_t i = 0; i < TG_WORLD_PEERS; i++) {
    struct tg_peer *peer = &world.peers[i];
    peer->hold = true;
    peer->pushed = 0;
    peer->fin_wanted = false;
    peer->silent = true;
  }
  const bool all_end = tg_black_box_all_end(&world.given.deadlines);
  if (!all_end) {
    reset_all();
  }
  uint64_t slack_ns = 10 * TG_SIM_NS_PER_MS + 4096 * tg_kernel_call_ns(world.kernel);
  tg_world_pass(&world, all_deadlines_ns(&world.given.deadlines) + slack_ns);
  tg_world_pass(&world, slack_ns);
  look_inside_at_rest(&world);
  const size_t left = tg_black_box_connections(&world);
  if (left > 0) {
    tg_finding(world.kernel, all_end ? "P4" : "P3", TG_NO_CLIENT, NULL, "%zu connections are left after every %s", left,
               all_end ? "deadline has passed" : "client has reset its own");
  }
}

static void end(struct tg_world_outcome *out) {
  struct tg_counters counters = {0};
  if (world.path->inside.counters != NULL) {
    world.path->inside.counters(world.server, &counters);
  }
  if (world.path->inside.failed != NULL && world.path->inside.failed(world.server) && !listener_may_be_lost()) {
    tg_finding(world.kernel, "P10", TG_NO_CLIENT, NULL, "a listener was given up");
  }
  for (size_t i = 0; i < TG_WORLD_PEERS; i++) {
    struct tg_peer *peer = &world.peers[i];
    tg_peer_release(peer);
    out->clients[i] = (struct tg_world_client_outcome){
        .established = peer->established_total, .responses = peer->responses_total, .hash = peer->hash_total};
  }
  SSL_SESSION_free(world.session);
  world.session = NULL;
  ERR_clear_error();
  tg_kernel_enter(world.kernel, 0);
  world.adapter.destroy(world.server);
  tg_kernel_leave(world.kernel);
  world.server = NULL;
  ERR_clear_error();
  if (world.kept != NULL) {
    world.path->kept_tls_end(world.kept);
  } else if (world.settings.key == TG_SCHEDULE_KEY_RSA2048) {
    tg_fixtures_renew();
  }
  if (tg_kernel_open_fds(world.kernel) > 0) {
    tg_finding(world.kernel, "P1", TG_NO_CLIENT, NULL, "%u descriptors are left open",
               tg_kernel_open_fds(world.kernel));
  }
  if (tg_kernel_allocations(world.kernel) > 0 && !world.warming_up) {
    tg_kernel_print_allocations(world.kernel, stderr);
    tg_finding(world.kernel, "P1", TG_NO_CLIENT, NULL, "%zu allocations are not freed",
               (size_t)tg_kernel_allocations(world.kernel));
  }
  out->stalls = world.stalls;
  out->handshakes = world.handshakes;
  out->counters = counters;
  const struct tg_trace *trace = tg_kernel_trace(world.kernel);
  out->trace_hash = trace->hash;
  out->trace_lines = trace->lines;
}

// Each descriptor that is open belongs to the server itself, once every connection is gone.
static void require_no_fds(uint32_t at_first) {
  uint32_t now = tg_kernel_open_fds(world.kernel);
  if (!world.winding_down && now > at_first) {
    tg_finding(world.kernel, "P1", TG_NO_CLIENT, NULL, "%u descriptors are open with no connection, %u at first", now,
               at_first);
  }
}

static void pass_wait(uint8_t wait) {
  uint64_t ns = tg_schedule_wait_ns(wait);
  if (ns == TG_SCHEDULE_REST) {
    tg_world_pass_to_rest(&world);
    look_at_rest(&world);
  } else {
    tg_world_pass(&world, ns);
  }
}

static void open_clients(uint8_t count) {
  for (uint8_t i = 0; i < count && i < TG_SCHEDULE_CLIENTS_MAX; i++) {
    uint16_t bits = TG_CONNECT_NODELAY | (world.settings.client_ca ? TG_CONNECT_CERTIFICATE : 0);
    if (tg_peer_connect(&world.peers[i], bits)) {
      tg_peer_request(&world.peers[i], TG_REQUEST_GET);
    }
    tg_world_pass_to_rest(&world);
  }
}

// Whether another timing of the same bytes must give the same outcome.
static bool comparable(void) {
  if (tg_world_lenient(&world) || world.injected || world.cut_short || world.settings.max_connections > 0) {
    return false;
  }
  for (size_t i = 0; i < TG_WORLD_PEERS; i++) {
    const struct tg_peer *peer = &world.peers[i];
    bool unsaid = tg_bytes_left(&peer->outbox) + tg_bytes_left(&peer->plain) > 0;
    if (peer->tcp != NULL && (!peer->reading || unsaid || tg_tcp_held(peer->tcp) > 0)) {
      return false;
    }
  }
  return true;
}

static void tell_meter(size_t step) {
  const struct tg_world_meter *meter = world.options.meter;
  if (meter != NULL) {
    meter->at_step(meter->context, world.kernel, step);
  }
}

static void run_schedule(const struct tg_schedule *schedule, const struct tg_world_options *options) {
  open_clients(options->open_clients);
  for (size_t i = 0; i < schedule->num_steps; i++) {
    tell_meter(i);
    tg_world_step(&world, &schedule->steps[i]);
    pass_wait(schedule->steps[i].wait);
  }
  tell_meter(schedule->num_steps);
  tg_world_pass_to_rest(&world);
  look_at_rest(&world);
}

static void close_in_the_end(struct tg_peer *peer, uint8_t how) {
  switch ((enum tg_byte_input_end)how) {
    case TG_BYTE_INPUT_HALF_CLOSE:
      tg_peer_half_close(peer);
      return;
    case TG_BYTE_INPUT_CLOSE:
      tg_peer_close(peer);
      return;
    case TG_BYTE_INPUT_RESET:
      tg_peer_reset(peer);
      return;
    case TG_BYTE_INPUT_STAYS:
    case TG_BYTE_INPUT_ENDS:
      return;
  }
}

static void run_bytes(const struct tg_byte_input *input, bool raw) {
  struct tg_peer *peer = &world.peers[0];
  uint16_t bits = (input->nodelay ? TG_CONNECT_NODELAY : 0) | (input->plaintext && !raw ? TG_CONNECT_PLAINTEXT : 0) |
                  (raw ? TG_CONNECT_NO_TLS : 0) | (input->settings.client_ca ? TG_CONNECT_CERTIFICATE : 0);
  if (!tg_peer_connect(peer, bits)) {
    tg_finding(world.kernel, "P3", 0, NULL, "the connection is refused although nothing is short");
  }
  if (!raw) {
    tg_world_pass_to_rest(&world);
    look_at_rest(&world);
    // From here on its bytes are whatever they are.
    peer->well_behaved = false;
  }
  peer->cut = input->cut;
  uint64_t gap_ns = tg_schedule_wait_ns(input->gap);
  peer->gap_ns = gap_ns == TG_SCHEDULE_REST ? 0 : gap_ns;
  if (raw) {
    tg_peer_raw(peer, input->payload, input->payload_len);
  } else {
    tg_peer_say(peer, input->payload, input->payload_len);
  }
  tg_world_pass_to_rest(&world);
  look_at_rest(&world);
  close_in_the_end(peer, input->end);
  tg_world_pass_to_rest(&world);
  look_at_rest(&world);
}

static const struct tg_schedule_settings *settings_of(const struct run *run) {
  return run->bytes ? &run->input->settings : &run->schedule->settings;
}

static void do_run(const struct run *run, struct tg_world_outcome *out) {
  memset(out, 0, sizeof(*out));
  const struct tg_schedule_settings settings = heeded(settings_of(run));
  begin(&settings, run->options);
  uint32_t fds_at_first = tg_kernel_open_fds(world.kernel);
  if (!run->bytes) {
    run_schedule(run->schedule, run->options);
  } else {
    run_bytes(run->input, run->raw);
    // The one client has left when everything had come.
    world.cut_short = false;
  }
  out->comparable = comparable();
  require_recovery();
  require_end();
  require_no_fds(fds_at_first);
  end(out);
}

// The run in progress, from the beginning and with its trace, after it has broken a property without one.
static void tell_again(void) {
  struct tg_world_options in_full = *present.options;
  struct run again = present;
  struct tg_world_outcome outcome;
  in_full.thrifty = false;
  again.options = &in_full;
  // What the run has left behind, as it will not end. The rest of it is forgotten.
  world.kept = NULL;
  world.session = NULL;
  tg_fixtures_renew();
  ERR_clear_error();
  do_run(&again, &outcome);
}

// What a call that fails costs must not depend on what earlier runs have done.
static bool calls_fail(const struct run *run) {
  bool fail = run->options->num_first > 0;
  for (size_t i = 0; !run->bytes && i < run->schedule->num_steps; i++) {
    fail = fail || run->schedule->steps[i].action == TG_SCHEDULE_INJECT;
  }
  return fail;
}

static void run_as_asked(const struct run *run, struct tg_world_outcome *out) {
  if (run->options->thrifty) {
    if (!run->options->own_tls && !calls_fail(run)) {
      const struct tg_schedule_settings settings = heeded(settings_of(run));
      keep_tls(&settings);
    }
    present = *run;
    tg_finding_set_retell(tell_again);
  }
  do_run(run, out);
  tg_finding_set_retell(NULL);
  world.kept = NULL;
}

void tg_world_run(const struct tg_schedule *schedule, const struct tg_world_options *options,
                  struct tg_world_outcome *out) {
  run_as_asked(&(struct run){.schedule = schedule, .options = options}, out);
}

void tg_world_run_bytes(const struct tg_byte_input *input, bool raw, const struct tg_world_options *options,
                        struct tg_world_outcome *out) {
  run_as_asked(&(struct run){.bytes = true, .input = input, .raw = raw, .options = options}, out);
}

void tg_world_require_same(const struct tg_world_outcome *one, const struct tg_world_outcome *other) {
  if (!one->comparable || !other->comparable) {
    return;
  }
  for (int i = 0; i < (int)TG_WORLD_PEERS; i++) {
    const struct tg_world_client_outcome *a = &one->clients[i];
    const struct tg_world_client_outcome *b = &other->clients[i];
    if (a->established != b->established || a->responses != b->responses || a->hash != b->hash) {
      tg_finding(world.kernel, "P7", i, NULL,
                 "the same bytes cut and timed in another way give another outcome: %u handshakes and %u responses, "
                 "then %u and %u%s",
                 a->established, a->responses, b->established, b->responses,
                 a->hash != b->hash ? ", with other contents" : "");
    }
  }
}
