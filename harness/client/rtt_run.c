#include "harness/client/rtt_run.h"

#include <assert.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/client/response_reader.h"
#include "harness/client/start_line.h"

// Why a connection failed, and where.
struct tg_failure {
  enum tg_client_phase phase;
  struct tg_error why;
};

// What all clients of a run share.
struct tg_rtt_crowd {
  const struct tg_rtt_options *options;
  struct tg_start_line line;
  atomic_uint shed;
  struct tg_rtt_failure *failure;  // of whoever fails first
};

// One client: everything about it that does not change from one connection to the next.
struct tg_rtt_plan {
  struct tg_rtt_crowd *crowd;
  const struct tg_rtt_options *options;
  struct tg_client *client;
  uint32_t index;
  uint32_t requests;  // a connection
  double *rtt_ms;     // its part of the result's
  double *handshake_ms;
  struct tg_rtt_result result;  // its counts alone
  char keep[2048];              // the request when more follow on the connection
  char last[2048];              // the last one of a connection
  char bytes[SSL3_RT_MAX_PLAIN_LENGTH];
  struct tg_response_reader reader;
};

// How a connection ended.
enum tg_connection_end {
  TG_CONNECTION_DONE,
  TG_CONNECTION_SHED,
  TG_CONNECTION_FAILED,
};

static void write_request(char *out, size_t len, const struct tg_rtt_options *options, const char *more) {
  const bool v6 = strchr(options->client.host, ':') != NULL;
  const int written =
      snprintf(out, len, "GET %s HTTP/1.1\r\nHost: %s%s%s:%u\r\nUser-Agent: rtt_client\r\n%s\r\n", options->path,
               v6 ? "[" : "", options->client.host, v6 ? "]" : "", (unsigned)options->client.port, more);
  assert(written > 0 && (size_t)written < len);
}

static double ms_between(int64_t from_ns, int64_t to_ns) {
  return (double)(to_ns - from_ns) / 1e6;
}

static double process_cpu_ms(void) {
  struct timespec used;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

// Sends one request, in one write or in two that cut the head in the middle.
static bool send_request(struct tg_client_conn *conn, const char *request, bool split, struct tg_error *err) {
  const size_t len = strlen(request);
  const size_t first = split ? len / 2 : len;
  return tg_client_write(conn, request, first, err) &&
         (first == len || tg_client_write(conn, request + first, len - first, err));
}

static enum tg_connection_end read_response(struct tg_rtt_plan *plan, struct tg_client_conn *conn,
                                            int64_t *first_byte_ns, struct tg_error *err) {
  tg_response_reader_start(&plan->reader, plan->options->expect_bytes);
  *first_byte_ns = 0;
  for (;;) {
    struct tg_error why;
    const ssize_t got = tg_client_read(conn, plan->bytes, sizeof(plan->bytes), &why);
    if (*first_byte_ns == 0) {
      *first_byte_ns = tg_client_now_ns();
    }
    if (got <= 0) {
      char progress[100];
      tg_response_reader_progress(&plan->reader, progress, sizeof(progress));
      tg_error_set(err, "%s %s", got == 0 ? "the server closed the connection" : why.text, progress);
      return TG_CONNECTION_FAILED;
    }
    switch (tg_response_reader_feed(&plan->reader, plan->bytes, (size_t)got, err)) {
      case TG_RESPONSE_BAD:
        return TG_CONNECTION_FAILED;
      case TG_RESPONSE_DONE:
        return TG_CONNECTION_DONE;
      case TG_RESPONSE_SHED:
        return TG_CONNECTION_SHED;
      case TG_RESPONSE_MORE:
        break;
    }
  }
}

static enum tg_connection_end exchange(struct tg_rtt_plan *plan, struct tg_client_conn *conn, double *rtt_ms,
                                       struct tg_failure *failure) {
  const bool split = plan->options->split_requests > 0;
  for (uint32_t i = 0; i < plan->requests; i++) {
    const bool last = i + 1 == plan->requests;
    failure->phase = TG_CLIENT_REQUEST;
    const int64_t sent_ns = tg_client_now_ns();
    if (!send_request(conn, last ? plan->last : plan->keep, split, &failure->why)) {
      return TG_CONNECTION_FAILED;
    }
    failure->phase = TG_CLIENT_RESPONSE;
    int64_t first_byte_ns = 0;
    const enum tg_connection_end end = read_response(plan, conn, &first_byte_ns, &failure->why);
    if (end != TG_CONNECTION_DONE) {
      return end;
    }
    if (plan->reader.close && !last) {
      tg_error_set(&failure->why, "\"Connection: close\" on request %u of %u", i + 1, plan->requests);
      return TG_CONNECTION_FAILED;
    }
    rtt_ms[i] = ms_between(sent_ns, first_byte_ns);
  }
  return TG_CONNECTION_DONE;
}

// Checks what was negotiated against what was asked for.
static bool check_handshake(const struct tg_rtt_plan *plan, const SSL *ssl, bool resume, bool measured,
                            struct tg_rtt_result *result, struct tg_error *err) {
  if (resume && !SSL_session_reused(ssl)) {
    tg_error_set(err, "the session was not resumed");
    return false;
  }
  if (measured && plan->options->expect_hrr && !SSL_used_hello_retry_request(ssl)) {
    tg_error_set(err, "no HelloRetryRequest: the server took the first of the groups offered");
    return false;
  }
  const uint16_t version = (uint16_t)SSL_version(ssl);
  if (result->tls_version != 0 && result->tls_version != version) {
    tg_error_set(err, "%s, and another version before", SSL_get_version(ssl));
    return false;
  }
  result->tls_version = version;
  return true;
}

// One connection from connect to close. `rtt_ms` takes plan->requests values, `handshake_ms` one.
static enum tg_connection_end one_connection(struct tg_rtt_plan *plan, bool resume, bool measured, double *rtt_ms,
                                             double *handshake_ms, struct tg_failure *failure) {
  struct tg_rtt_result *result = &plan->result;
  struct tg_client_conn conn;
  if (!tg_client_connect(plan->client, resume, &conn, &failure->phase, &failure->why)) {
    return TG_CONNECTION_FAILED;
  }
  // Looked at after the exchange: nothing may come between the Finished and the request.
  const enum tg_connection_end exchanged = exchange(plan, &conn, rtt_ms, failure);
  if (exchanged != TG_CONNECTION_DONE) {
    tg_client_abandon(&conn);
    return exchanged;
  }
  failure->phase = TG_CLIENT_HANDSHAKE;
  if (!check_handshake(plan, conn.ssl, resume, measured, result, &failure->why)) {
    tg_client_abandon(&conn);
    return TG_CONNECTION_FAILED;
  }
  *handshake_ms = ms_between(conn.connected_ns, conn.established_ns);
  const bool hrr = SSL_used_hello_retry_request(conn.ssl);
  const bool resumed = SSL_session_reused(conn.ssl);
  const enum tg_client_end end = tg_client_close(&conn);
  if (end == TG_CLIENT_END_DATA) {
    failure->phase = TG_CLIENT_RESPONSE;
    tg_error_set(&failure->why, "bytes beyond the body of the last response");
    return TG_CONNECTION_FAILED;
  }
  if (measured) {
    result->hello_retry_requests += hrr;
    result->resumed += resumed;
    result->unclean_closes += end == TG_CLIENT_END_UNCLEAN;
  }
  return TG_CONNECTION_DONE;
}

static void explain(const struct tg_rtt_plan *plan, const struct tg_failure *failure, long index, bool measured,
                    struct tg_error *err) {
  char client[48] = "";
  if (plan->options->clients > 1) {
    (void)snprintf(client, sizeof(client), "client %u of %u, ", plan->index + 1, plan->options->clients);
  }
  tg_error_set(err, "%s%s connection %ld: %s: %.400s", client, measured ? "measurement" : "warm-up", index,
               tg_client_phase_name(failure->phase), failure->why.text);
}

// Makes one connection, and again as often as the server sheds it and may.
static bool insist(struct tg_rtt_plan *plan, long index, bool resume, bool measured, double *rtt_ms,
                   double *handshake_ms, struct tg_error *err) {
  struct tg_failure failure;
  for (;;) {
    switch (one_connection(plan, resume, measured, rtt_ms, handshake_ms, &failure)) {
      case TG_CONNECTION_DONE:
        return true;
      case TG_CONNECTION_SHED:
        if (atomic_fetch_add(&plan->crowd->shed, 1) < plan->options->max_shed) {
          continue;
        }
        failure.phase = TG_CLIENT_RESPONSE;
        tg_error_set(&failure.why, "load shedding (503 capacity-unavailable) more than %u times",
                     plan->options->max_shed);
        break;
      case TG_CONNECTION_FAILED:
        break;
    }
    explain(plan, &failure, index, measured, err);
    return false;
  }
}

// Connections that are not sampled. A run that resumes needs one to get a session from.
static bool warm_up(struct tg_rtt_plan *plan, struct tg_error *err) {
  const struct tg_rtt_options *options = plan->options;
  const uint32_t warmup = options->resume && options->warmup == 0 ? 1 : options->warmup;
  for (uint32_t i = 0; i < warmup; i++) {
    double handshake_ms = 0;
    const bool resume = options->resume && i > 0;
    if (!insist(plan, (long)i, resume, false, plan->rtt_ms, &handshake_ms, err)) {
      return false;
    }
    if (options->resume && !tg_client_has_session(plan->client)) {
      const struct tg_failure failure = {.phase = TG_CLIENT_RESPONSE, .why = {"the server gave no session to resume"}};
      explain(plan, &failure, (long)i, false, err);
      return false;
    }
  }
  return true;
}

static bool measure(struct tg_rtt_plan *plan, struct tg_error *err) {
  // Looked at between connections: what one of them measures after another has failed is dropped anyway.
  for (uint32_t i = 0; i < plan->options->count && !tg_start_line_failed(&plan->crowd->line); i++) {
    if (!insist(plan, (long)i, plan->options->resume, true, plan->rtt_ms + (size_t)i * plan->requests,
                plan->handshake_ms + i, err)) {
      return false;
    }
  }
  return true;
}

static void *run_client(void *argument) {
  struct tg_rtt_plan *plan = argument;
  struct tg_error why;
  bool measuring = false;
  bool ok = warm_up(plan, &why);
  if (ok) {
    measuring = tg_start_line_wait(&plan->crowd->line);
    ok = !measuring || measure(plan, &why);
  }
  if (!ok && tg_start_line_fail(&plan->crowd->line)) {
    *plan->crowd->failure = (struct tg_rtt_failure){.in_warm_up = !measuring, .error = why};
  }
  return NULL;
}

// Sums up what each client counted, and checks that they were served alike.
static bool gather(struct tg_rtt_plan *plans, struct tg_rtt_result *out, struct tg_rtt_failure *failure) {
  const uint32_t clients = plans[0].options->clients;
  out->tls_version = plans[0].result.tls_version;
  for (uint32_t i = 0; i < clients; i++) {
    const struct tg_rtt_result *one = &plans[i].result;
    out->resumed += one->resumed;
    out->hello_retry_requests += one->hello_retry_requests;
    out->unclean_closes += one->unclean_closes;
    if (one->tls_version != out->tls_version) {
      failure->in_warm_up = false;
      tg_error_set(&failure->error, "client %u of %u negotiated another version than client 1", i + 1, clients);
      return false;
    }
  }
  return true;
}

// A client alone needs no thread, and its figures none of what a thread changes.
static bool run_clients(struct tg_rtt_plan *plans, struct tg_rtt_crowd *crowd) {
  const uint32_t clients = crowd->options->clients;
  pthread_t threads[TG_RTT_CLIENTS_MAX];
  uint32_t started = 0;
  if (clients == 1) {
    (void)run_client(&plans[0]);
    return !crowd->line.failed;
  }
  while (started < clients && pthread_create(&threads[started], NULL, run_client, &plans[started]) == 0) {
    started++;
  }
  if (started < clients && tg_start_line_fail(&crowd->line)) {
    crowd->failure->in_warm_up = true;
    tg_error_set(&crowd->failure->error, "client %u of %u: no thread can be made for it", started + 1, clients);
  }
  for (uint32_t i = 0; i < started; i++) {
    (void)pthread_join(threads[i], NULL);
  }
  return !crowd->line.failed;
}

static bool run_plans(struct tg_rtt_plan *plans, struct tg_rtt_crowd *crowd, struct tg_rtt_result *out) {
  const bool ok = run_clients(plans, crowd) && gather(plans, out, crowd->failure);
  out->seconds = (double)(tg_client_now_ns() - crowd->line.started_ns) / 1e9;
  out->client_cpu_ms = process_cpu_ms() - (double)crowd->line.started_cpu_ns / 1e6;
  out->shed = atomic_load(&crowd->shed);
  return ok;
}

static void fill_plan(struct tg_rtt_plan *plan, struct tg_rtt_crowd *crowd, struct tg_client *client, uint32_t index,
                      const struct tg_rtt_result *out) {
  const size_t requests = out->num_rtt / out->num_handshake;
  const size_t first = (size_t)index * crowd->options->count;
  plan->crowd = crowd;
  plan->options = crowd->options;
  plan->client = client;
  plan->index = index;
  plan->requests = (uint32_t)requests;
  plan->rtt_ms = out->rtt_ms + first * requests;
  plan->handshake_ms = out->handshake_ms + first;
  write_request(plan->keep, sizeof(plan->keep), plan->options, "");
  write_request(plan->last, sizeof(plan->last), plan->options, "Connection: close\r\n");
}

bool tg_rtt_run(struct tg_client *const clients[], const struct tg_rtt_options *options, struct tg_rtt_result *out,
                struct tg_rtt_failure *failure) {
  assert(options->clients >= 1 && options->clients <= TG_RTT_CLIENTS_MAX && options->count >= 1);
  struct tg_rtt_crowd crowd = {.options = options, .failure = failure};
  struct tg_rtt_plan *plans = calloc(options->clients, sizeof(*plans));
  const size_t requests = options->split_requests > 0 ? options->split_requests : 1;
  const size_t connections = (size_t)options->clients * options->count;
  *out = (struct tg_rtt_result){.num_handshake = connections, .num_rtt = connections * requests};
  out->rtt_ms = calloc(out->num_rtt, sizeof(*out->rtt_ms));
  out->handshake_ms = calloc(out->num_handshake, sizeof(*out->handshake_ms));
  bool ok = false;
  if (plans != NULL && out->rtt_ms != NULL && out->handshake_ms != NULL) {
    for (uint32_t i = 0; i < options->clients; i++) {
      fill_plan(&plans[i], &crowd, clients[i], i, out);
    }
    tg_start_line_init(&crowd.line, options->clients);
    ok = run_plans(plans, &crowd, out);
    tg_start_line_destroy(&crowd.line);
  } else {
    failure->in_warm_up = true;
    tg_error_set(&failure->error, "out of memory");
  }
  free(plans);
  if (!ok) {
    tg_rtt_result_free(out);
  }
  return ok;
}

void tg_rtt_result_free(struct tg_rtt_result *result) {
  free(result->rtt_ms);
  free(result->handshake_ms);
  *result = (struct tg_rtt_result){0};
}
