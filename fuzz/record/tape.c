#include "fuzz/record/tape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/schedule/prefix.h"
#include "fuzz/world/world.h"

// An input of the byte targets may be at least this long (max_len in fuzz/BUILD).
#define INPUT_MAX   16384u
#define PAYLOAD_MAX (INPUT_MAX - TG_BYTE_INPUT_PREFIX)

struct bytes {
  size_t len;  // more than PAYLOAD_MAX: too long, and not all is kept
  uint8_t data[PAYLOAD_MAX];
};

struct client {
  unsigned connections;
  struct bytes sent;
  struct bytes said;
};

struct tape {
  const struct tg_exchange *exchange;
  bool many;  // connections, so that their seeds are numbered
  struct client clients[TG_SCHEDULE_CLIENTS_MAX];
  struct tg_seeds *seeds;
  // The inputs for handshake_bytes, replayed when the exchange is over.
  struct tg_seeds wire;
  bool ok;
  struct tg_error *err;
};

static bool wants(const struct tape *tape, enum tg_record_target target) {
  return (tape->exchange->corpora & 1u << target) != 0;
}

static void keep(struct bytes *bytes, const uint8_t *data, size_t len) {
  if (bytes->len + len <= PAYLOAD_MAX) {
    memcpy(bytes->data + bytes->len, data, len);
  }
  bytes->len += len;
}

static void sent(void *context, unsigned client, const uint8_t *data, size_t len) {
  struct tape *tape = context;
  if (client < TG_SCHEDULE_CLIENTS_MAX) {
    keep(&tape->clients[client].sent, data, len);
  }
}

static void said(void *context, unsigned client, const uint8_t *data, size_t len) {
  struct tape *tape = context;
  if (client < TG_SCHEDULE_CLIENTS_MAX) {
    keep(&tape->clients[client].said, data, len);
  }
}

// The first value that the schedule has the client take for the action; 0: none.
static uint16_t first_value(const struct tg_schedule *schedule, unsigned client, enum tg_schedule_action action) {
  for (size_t i = 0; i < schedule->num_steps; i++) {
    const struct tg_schedule_step *step = &schedule->steps[i];
    if (step->client == client && step->action == action && step->value != 0) {
      return step->value;
    }
  }
  return 0;
}

static void add(struct tape *tape, unsigned client, const struct tg_world_connection *connection,
                enum tg_record_target target, const struct bytes *payload) {
  const struct tg_exchange *exchange = tape->exchange;
  if (!tape->ok || payload->len == 0) {
    return;
  }
  if (payload->len > PAYLOAD_MAX) {
    tg_error_set(tape->err,
                 "%s: client %u sends %zu bytes, and an input of %s has %u at most: take it out of the corpora",
                 exchange->name, client, payload->len, tg_record_target_name(target), PAYLOAD_MAX);
    tape->ok = false;
    return;
  }
  char name[TG_EXCHANGE_NAME_MAX + 16];
  const unsigned number = tape->clients[client].connections;
  if (!tape->many) {
    (void)snprintf(name, sizeof(name), "%s", exchange->name);
  } else if (number == 0) {
    (void)snprintf(name, sizeof(name), "%s.c%u", exchange->name, client);
  } else {
    (void)snprintf(name, sizeof(name), "%s.c%u.%u", exchange->name, client, number + 1);
  }
  const struct tg_byte_input input = {
      .settings = exchange->schedule.settings,
      .plaintext = connection->plaintext,
      .nodelay = (connection->bits & TG_CONNECT_NODELAY) != 0,
      .cut = first_value(&exchange->schedule, client, TG_SCHEDULE_CUT),
      .gap = (uint8_t)first_value(&exchange->schedule, client, TG_SCHEDULE_GAP),
      .end = connection->end,
      .payload = payload->data,
      .payload_len = payload->len,
  };
  static uint8_t encoded[INPUT_MAX];
  const size_t len = tg_byte_input_encode(&input, encoded);
  tape->ok = tg_seeds_add(tape->seeds, target, name, encoded, len, tape->err) &&
             (target != TG_RECORD_HANDSHAKE_BYTES || tg_seeds_add(&tape->wire, target, name, encoded, len, tape->err));
}

static void over(void *context, unsigned client, const struct tg_world_connection *connection) {
  struct tape *tape = context;
  if (client >= TG_SCHEDULE_CLIENTS_MAX) {
    return;
  }
  struct client *one = &tape->clients[client];
  if (wants(tape, TG_RECORD_HANDSHAKE_BYTES) && !connection->plaintext) {
    add(tape, client, connection, TG_RECORD_HANDSHAKE_BYTES, &one->sent);
  }
  if (wants(tape, TG_RECORD_REQUEST_BYTES)) {
    add(tape, client, connection, TG_RECORD_REQUEST_BYTES, &one->said);
  }
  one->sent.len = one->said.len = 0;
  one->connections++;
}

static bool replay(struct tape *tape, const struct tg_counters *recorded) {
  static const struct tg_world_options kOptions;
  struct tg_counters replayed = {0};
  for (size_t i = 0; i < tape->wire.num; i++) {
    struct tg_byte_input input;
    struct tg_world_outcome outcome;
    tg_byte_input_decode(tape->wire.all[i].bytes, tape->wire.all[i].len, &input);
    tg_world_run_bytes(&input, true, &kOptions, &outcome);
    tg_counters_add(&replayed, &outcome.counters);
  }
  const struct {
    const char *what;
    uint64_t then;
    uint64_t now;
  } kSame[] = {
      {"handshakes completed", recorded->established, replayed.established},
      {"of them resumed", recorded->resumed, replayed.resumed},
      {"with early data", recorded->early_data_accepted, replayed.early_data_accepted},
      {"with a client certificate", recorded->client_certificates, replayed.client_certificates},
  };
  for (size_t i = 0; i < sizeof(kSame) / sizeof(kSame[0]); i++) {
    if (kSame[i].then != kSame[i].now) {
      tg_error_set(tape->err,
                   "%s: %" PRIu64 " %s, and %" PRIu64
                   " when its bytes are replayed: take handshake_bytes out of its corpora, or make it replayable",
                   tape->exchange->name, kSame[i].then, kSame[i].what, kSame[i].now);
      return false;
    }
  }
  return true;
}

static unsigned connects(const struct tg_schedule *schedule) {
  unsigned count = 0;
  for (size_t i = 0; i < schedule->num_steps; i++) {
    count += schedule->steps[i].action == TG_SCHEDULE_CONNECT;
  }
  return count;
}

static void tell(const struct tg_exchange *exchange, const struct tg_world_outcome *outcome) {
  const struct tg_counters *counters = &outcome->counters;
  uint64_t responses = 0;
  for (size_t i = 0; i < TG_WORLD_PEERS; i++) {
    responses += outcome->clients[i].responses;
  }
  const struct {
    const char *what;
    uint64_t count;
  } kTold[] = {
      {"established", counters->established},
      {"resumed", counters->resumed},
      {"with early data", counters->early_data_accepted},
      {"with a certificate", counters->client_certificates},
      {"plaintext", counters->plain_accepted},
      {"failed", counters->handshake_failed},
      {"timed out", counters->handshake_timed_out + counters->open_timed_out + counters->drain_timed_out},
      {"reset", counters->peer_reset},
      {"shed", counters->over_capacity},
      {"pauses", counters->accept_paused},
      {"quickack refused", counters->quickack_failed},
      {"responses", responses},
  };
  printf("%s:", exchange->name);
  const char *separator = " ";
  for (size_t i = 0; i < sizeof(kTold) / sizeof(kTold[0]); i++) {
    if (kTold[i].count > 0) {
      printf("%s%" PRIu64 " %s", separator, kTold[i].count, kTold[i].what);
      separator = ", ";
    }
  }
  printf("\n");
}

static bool run(const struct tg_exchange *exchange, struct tg_seeds *seeds, struct tg_error *err) {
  static struct tape tape;
  tape = (struct tape){
      .exchange = exchange, .many = connects(&exchange->schedule) > 1, .seeds = seeds, .ok = true, .err = err};
  const struct tg_world_tap tap = {.context = &tape, .sent = sent, .said = said, .over = over};
  // As the target does it, if it is the only one.
  const bool teardown = exchange->corpora == 1u << TG_RECORD_TEARDOWN_SCHEDULE;
  const struct tg_world_options options = {.tap = &tap, .open_clients = teardown ? 2 : 0};
  struct tg_world_outcome outcome;
  tg_world_run(&exchange->schedule, &options, &outcome);
  tell(exchange, &outcome);
  if (tape.ok && wants(&tape, TG_RECORD_HANDSHAKE_BYTES)) {
    tape.ok = replay(&tape, &outcome.counters);
  }
  tg_seeds_free(&tape.wire);
  return tape.ok;
}

bool tg_tape_record(const struct tg_exchange *exchange, struct tg_seeds *seeds, struct tg_error *err) {
  static const enum tg_record_target kSchedules[] = {TG_RECORD_ACCEPT_SCHEDULE, TG_RECORD_TEARDOWN_SCHEDULE,
                                                     TG_RECORD_EXHAUSTION};
  for (size_t i = 0; i < sizeof(kSchedules) / sizeof(kSchedules[0]); i++) {
    if ((exchange->corpora & 1u << kSchedules[i]) != 0) {
      uint8_t encoded[TG_SCHEDULE_BYTES_MAX];
      const size_t len = tg_schedule_encode(&exchange->schedule, encoded);
      if (!tg_seeds_add(seeds, kSchedules[i], exchange->name, encoded, len, err)) {
        return false;
      }
    }
  }
  return run(exchange, seeds, err);
}
