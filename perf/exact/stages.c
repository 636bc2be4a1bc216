#include "perf/exact/stages.h"

#include <inttypes.h>
#include <string.h>

#include "perf/exact/figures.h"

#define NOT_MEASURED TG_STAGES

// What ends each part, in order, and the stage that it is of. What precedes measuring may be cut as well: the first
// line is found, not expected. Before the second step the library calls some of its functions again, and valgrind 3.19
// cuts again without cost where it comes back to them: all that is of the flight.
static const struct {
  const char *trigger;
  enum tg_stage_name stage;
} kOrder[] = {
    {"tg_exact_measured_begins", NOT_MEASURED},
    {"tg_handshake_step", TG_STAGE_ACCEPT},
    {"bssl::SSLKeyShare::Accept", TG_STAGE_HELLO},
    {"bssl::tls13_advance_key_schedule", TG_STAGE_KEY_EXCHANGE},
    {"bssl::tls13_add_certificate_verify", TG_STAGE_FLIGHT},
    {"bssl::tls13_add_finished", TG_STAGE_SIGN},
    {"tg_handshake_step", TG_STAGE_FLIGHT},
    {"tg_conn_serve", TG_STAGE_FINISH},
    // The turn goes on to its end, and the next begins.
    {"tg_conn_serve", TG_STAGE_FINISH},
    {"tg_http_response_head", TG_STAGE_REQUEST},
    {"tg_conn_serve", TG_STAGE_RESPONSE},
    {"tg_conn_drain", TG_STAGE_TEARDOWN},
    {"tg_exact_measured_ends", TG_STAGE_TEARDOWN},
};
#define NUM_ORDER (sizeof(kOrder) / sizeof(kOrder[0]))

static const char *const kNames[TG_STAGES] = {"accept", "hello",   "key exchange", "flight",  "sign",
                                              "finish", "request", "response",     "teardown"};

// On the model a wait that parks is made again when it is over, and the vDSO answers the clock: neither is a call here.
static bool is_shown(enum tg_call call) {
  return call != TG_CALL_EPOLL_WAIT && call != TG_CALL_CLOCK && call != TG_CALL_MALLOC;
}

const char *const *tg_stages_cuts(void) {
  static const char *const kCuts[] = {"tg_exact_measured_begins",
                                      "tg_exact_measured_ends",
                                      "tg_handshake_step",
                                      "bssl::SSLKeyShare::Accept*",
                                      "bssl::tls13_advance_key_schedule*",
                                      "bssl::tls13_add_certificate_verify*",
                                      "bssl::tls13_add_finished*",
                                      "tg_conn_serve",
                                      "tg_http_response_head",
                                      "tg_conn_drain",
                                      NULL};
  return kCuts;
}

static void add(struct tg_stage_cost *to, const struct tg_callgrind_part *part) {
  for (int owner = 0; owner < TG_CODE_OWNERS; owner++) {
    to->instructions[owner] += part->sums.by_owner[owner];
  }
  for (int call = 0; call < TG_CALL_COUNT; call++) {
    to->calls[call] += part->calls[call];
  }
}

// Whether a part ends at one of the library's functions that has been met before, while the next step is awaited.
static bool is_again(const char *awaited, const char *trigger) {
  return strcmp(awaited, "tg_handshake_step") == 0 &&
         (strcmp(trigger, "bssl::tls13_advance_key_schedule") == 0 || strcmp(trigger, "bssl::tls13_add_finished") == 0);
}

bool tg_stages_add_up(const struct tg_callgrind_part *parts, size_t num, struct tg_stage_cost out[TG_STAGES],
                      struct tg_error *err) {
  size_t first = 0;
  memset(out, 0, TG_STAGES * sizeof(out[0]));
  while (first < num && strcmp(parts[first].trigger, kOrder[0].trigger) != 0) {
    first++;
  }
  for (size_t i = 0; i < NUM_ORDER; i++) {
    const enum tg_stage_name stage = kOrder[i].stage;
    while (stage == TG_STAGE_FLIGHT && first < num && is_again(kOrder[i].trigger, parts[first].trigger)) {
      add(&out[stage], &parts[first++]);
    }
    if (first == num || strcmp(parts[first].trigger, kOrder[i].trigger) != 0) {
      tg_error_set(err,
                   "stage %zu of the profile ends at %s, not at %s: the accept path or BoringSSL calls something else "
                   "now; perf/exact/stages.c has the order",
                   i, first == num ? "its end" : parts[first].trigger, kOrder[i].trigger);
      return false;
    }
    if (stage != NOT_MEASURED) {
      add(&out[stage], &parts[first]);
    }
    first++;
  }
  return true;
}

// The simulated kernel and the C library are left out: tg_exact_instructions leaves them out as well.
static int64_t counted(const struct tg_stage_cost *stage) {
  return stage->instructions[TG_CODE_ACCEPT] + stage->instructions[TG_CODE_SERVER] + stage->instructions[TG_CODE_SSL] +
         stage->instructions[TG_CODE_CRYPTO];
}

static void print_calls(FILE *out, const struct tg_stage_cost *stage) {
  for (int call = 0; call < TG_CALL_COUNT; call++) {
    if (is_shown((enum tg_call)call) && stage->calls[call] > 0) {
      fprintf(out, " %s", tg_exact_metric_name(call));
      if (stage->calls[call] > 1) {
        fprintf(out, " x %" PRId64, stage->calls[call]);
      }
    }
  }
  fputc('\n', out);
}

void tg_stages_print(FILE *out, const struct tg_stage_cost stages[TG_STAGES]) {
  int64_t all = 0;
  for (int i = 0; i < TG_STAGES; i++) {
    all += counted(&stages[i]);
  }
  fprintf(out, "%-13s %9s %9s %9s %9s %10s %7s  system calls, epoll_wait aside\n", "stage", "accept", "server",
          "libssl", "libcrypto", "all", "share");
  for (int i = 0; i < TG_STAGES; i++) {
    const int64_t *by = stages[i].instructions;
    fprintf(out, "%-13s %9" PRId64 " %9" PRId64 " %9" PRId64 " %9" PRId64 " %10" PRId64 " %5.1f %% ", kNames[i],
            by[TG_CODE_ACCEPT], by[TG_CODE_SERVER], by[TG_CODE_SSL], by[TG_CODE_CRYPTO], counted(&stages[i]),
            all > 0 ? 100.0 * (double)counted(&stages[i]) / (double)all : 0);
    print_calls(out, &stages[i]);
  }
  fprintf(out, "%-13s %50" PRId64 "\n", "all", all);
}
