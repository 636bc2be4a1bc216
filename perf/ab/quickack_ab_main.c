// The table of the quickack fix, before (re-arm off) and after, measured in the same minutes: rounds alternate which
// side goes first (ABBA), and two controls must not change.
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/ab/ab_table.h"
#include "perf/ab/crowd.h"
#include "perf/process/server.h"
#include "perf/run/plan.h"
#include "perf/run/session.h"
#include "perf/workload/load.h"
#include "perf/workload/rtt.h"

#define DEFAULT_ROUNDS 5
#define ROOT_BYTES     15

struct bench {
  struct tg_toolbox tools;
  struct tg_server p256[TG_SIDES];
  struct tg_server rsa4096[TG_SIDES];
};

enum row {
  ROW_RTT,
  ROW_HANDSHAKE,
  ROW_CROWD_1,
  ROW_CROWD_8,
  ROW_CROWD_32,
  ROW_AB_8,
  ROW_AB_32,
  ROW_AB_32_RSA,
  ROW_HTTP_AB,
  ROW_HTTPS_WRK,
  ROWS,
};

static struct tg_ab_row rows[ROWS] = {
    [ROW_RTT] = {.title = "request RTT after handshake, p50", .unit = "ms", .expectation = TG_EXPECT_LESS},
    [ROW_HANDSHAKE] = {.title = "handshake, p50", .unit = "ms", .expectation = TG_EXPECT_UNCHANGED},
    [ROW_CROWD_1] = {.title = "handshake + request, 1 client", .unit = "/s", .expectation = TG_EXPECT_MORE},
    [ROW_CROWD_8] = {.title = "handshake + request, 8 clients", .unit = "/s", .expectation = TG_EXPECT_MORE},
    [ROW_CROWD_32] = {.title = "handshake + request, 32 clients", .unit = "/s", .expectation = TG_EXPECT_MORE},
    [ROW_AB_8] = {.title = "ab -c 8", .unit = "/s", .expectation = TG_EXPECT_MORE},
    [ROW_AB_32] = {.title = "ab -c 32", .unit = "/s", .expectation = TG_EXPECT_MORE},
    [ROW_AB_32_RSA] = {.title = "ab -c 32, RSA-4096", .unit = "/s", .expectation = TG_EXPECT_MORE},
    [ROW_HTTP_AB] = {.title = "control: plaintext, ab -c 32", .unit = "/s", .expectation = TG_EXPECT_UNCHANGED},
    [ROW_HTTPS_WRK] = {.title = "control: HTTPS keep-alive, wrk -c 100",
                       .unit = "/s",
                       .expectation = TG_EXPECT_UNCHANGED},
};

static bool measure_rtt(struct bench *bench, enum tg_side side, size_t round, struct tg_error *err) {
  const char *options[] = {"--tls", "1.3", "--warmup", "2", NULL};
  struct tg_rtt rtt;
  if (!tg_rtt_run(bench->tools.rtt_client, &bench->p256[side], 20, options, &rtt, err)) {
    return false;
  }
  json_decref(rtt.samples);
  rows[ROW_RTT].values[side][round] = rtt.p50_ms;
  rows[ROW_HANDSHAKE].values[side][round] = rtt.handshake_p50_ms;
  return true;
}

static bool measure_ab(struct tg_server *server, bool tls, unsigned concurrency, uint64_t requests, double *rate,
                       struct tg_error *err) {
  struct tg_target target = {.server = server, .tls = tls, .path = "/", .body_bytes = ROOT_BYTES};
  struct tg_load load;
  bool ok = tg_load_ab(&target, requests, concurrency, &load, err);
  *rate = ok ? load.rate : 0;
  return ok;
}

static bool measure_wrk(struct tg_server *server, double *rate, struct tg_error *err) {
  struct tg_target target = {.server = server, .tls = true, .path = "/", .body_bytes = ROOT_BYTES};
  struct tg_load load;
  bool ok = tg_load_wrk(&target, 2, 100, 2, NULL, 0, &load, err);
  *rate = ok ? load.rate : 0;
  return ok;
}

static bool measure_side(struct bench *bench, enum tg_side side, size_t round, struct tg_error *err) {
  struct tg_server *p256 = &bench->p256[side];
  const char *client = bench->tools.rtt_client;
  return measure_rtt(bench, side, round, err) &&
         tg_crowd_run(client, p256, 1, 20, &rows[ROW_CROWD_1].values[side][round], err) &&
         tg_crowd_run(client, p256, 8, 20, &rows[ROW_CROWD_8].values[side][round], err) &&
         tg_crowd_run(client, p256, 32, 20, &rows[ROW_CROWD_32].values[side][round], err) &&
         measure_ab(p256, true, 8, 240, &rows[ROW_AB_8].values[side][round], err) &&
         measure_ab(p256, true, 32, 960, &rows[ROW_AB_32].values[side][round], err) &&
         measure_ab(&bench->rsa4096[side], true, 32, 320, &rows[ROW_AB_32_RSA].values[side][round], err) &&
         measure_ab(p256, false, 32, 3000, &rows[ROW_HTTP_AB].values[side][round], err) &&
         measure_wrk(p256, &rows[ROW_HTTPS_WRK].values[side][round], err);
}

static bool start_servers(struct bench *bench, const char *program, struct tg_error *err) {
  static const char *const modes[TG_SIDES] = {"off", "rearm"};
  static const char *const names[TG_SIDES] = {"before", "after"};
  memset(bench->p256, 0, sizeof(bench->p256));
  memset(bench->rsa4096, 0, sizeof(bench->rsa4096));
  for (int side = 0; side < TG_SIDES; side++) {
    const char *p256[] = {program, "--port", "0", "--http-port", "0", "--quickack", modes[side], NULL};
    const char *rsa[] = {program, "--port", "0", "--key-type", "rsa4096", "--quickack", modes[side], NULL};
    if (!tg_server_start(&bench->p256[side], names[side], p256, NULL, err) ||
        !tg_server_start(&bench->rsa4096[side], names[side], rsa, NULL, err)) {
      return false;
    }
  }
  return true;
}

static bool stop_servers(struct bench *bench, struct tg_error *err) {
  bool ok = true;
  for (int side = 0; side < TG_SIDES; side++) {
    ok = tg_server_stop(&bench->p256[side], ok ? err : NULL) && ok;
    ok = tg_server_stop(&bench->rsa4096[side], ok ? err : NULL) && ok;
  }
  return ok;
}

static bool measure(struct bench *bench, size_t rounds, struct tg_error *err) {
  for (size_t round = 0; round < rounds; round++) {
    for (size_t i = 0; i < TG_SIDES; i++) {
      enum tg_side side = (round + i) % 2 == 0 ? TG_BEFORE : TG_AFTER;
      fprintf(stderr, "round %zu of %zu, %s\n", round + 1, rounds, side == TG_BEFORE ? "before" : "after");
      if (!measure_side(bench, side, round, err)) {
        return false;
      }
    }
  }
  for (size_t i = 0; i < ROWS; i++) {
    rows[i].rounds = rounds;
  }
  return true;
}

static bool parse_rounds(const char *text, size_t *out) {
  char *end = NULL;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  *out = value;
  return errno == 0 && end != text && *end == '\0' && value >= 2 && value <= TG_AB_ROUNDS_MAX;
}

static int run(size_t rounds) {
  struct tg_session session;
  struct bench bench;
  struct tg_error err;
  if (!tg_session_open(&session, "baselines/gates.json", &err)) {
    fprintf(stderr, "quickack_ab: %s\n", err.text);
    return 1;
  }
  bool ok = tg_toolbox_find(&bench.tools, &err);
  if (ok) {
    ok = start_servers(&bench, session.server, &err) && measure(&bench, rounds, &err);
    ok = stop_servers(&bench, ok ? &err : NULL) && ok;
  }
  int status = 1;
  if (ok) {
    size_t contradicted = 0;
    size_t undecided = 0;
    tg_ab_print(stdout, rows, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
      enum tg_ab_verdict verdict = tg_ab_row_judge(&rows[i]);
      contradicted += verdict == TG_AB_NO;
      undecided += verdict == TG_AB_UNDECIDED;
    }
    printf(
        "before: --quickack off; after: --quickack rearm; %zu interleaved rounds, medians; %zu rows not as expected, "
        "%zu undecided%s\n",
        rounds, contradicted, undecided, undecided > 0 ? " (more --rounds narrow the intervals)" : "");
    status = contradicted > 0 ? 1 : undecided > 0 ? 3 : 0;
  } else {
    fprintf(stderr, "quickack_ab: %s\n", err.text);
  }
  tg_session_close(&session);
  return status;
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"rounds", required_argument, NULL, 'r'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  static char name[] = "quickack_ab";  // what getopt_long calls the program
  size_t rounds = DEFAULT_ROUNDS;
  argv[0] = name;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == 'h') {
      printf(
          "usage: quickack_ab [--rounds N]\n\n"
          "Prints what re-arming TCP_QUICKACK changes: before (--quickack off) and after (rearm), interleaved.\n"
          "  --rounds N   2 to %d, default %d; a round takes about 12 s\n\n"
          "Exit status: 0 if every row is as expected, 1 if one is not or a run failed, 2 usage, 3 undecided.\n",
          TG_AB_ROUNDS_MAX, DEFAULT_ROUNDS);
      return 0;
    }
    if (option == '?') {  // getopt_long has said what is wrong
      fprintf(stderr, "quickack_ab: --help lists the options\n");
      return 2;
    }
    if (!parse_rounds(optarg, &rounds)) {
      fprintf(stderr, "quickack_ab: --rounds takes 2 to %d; --help lists the options\n", TG_AB_ROUNDS_MAX);
      return 2;
    }
  }
  if (optind < argc) {
    fprintf(stderr, "quickack_ab: unexpected argument %s; --help lists the options\n", argv[optind]);
    return 2;
  }
  return run(rounds);
}
