#include "harness/client/rtt_run.h"

#include <assert.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/client/response_reader.h"

// Why a connection failed, and where.
struct tg_failure {
  enum tg_client_phase phase;
  struct tg_error why;
};

// Everything about a run that does not change from one connection to the next.
struct tg_rtt_plan {
  const struct tg_rtt_options *options;
  struct tg_client *client;
  uint32_t requests;  // a connection
  char keep[2048];    // the request when more follow on the connection
  char last[2048];    // the last one of a connection
  struct tg_response_reader reader;
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

static bool read_response(struct tg_rtt_plan *plan, struct tg_client_conn *conn, int64_t *first_byte_ns,
                          struct tg_error *err) {
  static char bytes[SSL3_RT_MAX_PLAIN_LENGTH];
  tg_response_reader_start(&plan->reader, plan->options->expect_bytes);
  *first_byte_ns = 0;
  for (;;) {
    struct tg_error why;
    const ssize_t got = tg_client_read(conn, bytes, sizeof(bytes), &why);
    if (*first_byte_ns == 0) {
      *first_byte_ns = tg_client_now_ns();
    }
    if (got <= 0) {
      char progress[100];
      tg_response_reader_progress(&plan->reader, progress, sizeof(progress));
      tg_error_set(err, "%s %s", got == 0 ? "the server closed the connection" : why.text, progress);
      return false;
    }
    switch (tg_response_reader_feed(&plan->reader, bytes, (size_t)got, err)) {
      case TG_RESPONSE_BAD:
        return false;
      case TG_RESPONSE_DONE:
        return true;
      case TG_RESPONSE_MORE:
        break;
    }
  }
}

static bool exchange(struct tg_rtt_plan *plan, struct tg_client_conn *conn, double *rtt_ms,
                     struct tg_failure *failure) {
  const bool split = plan->options->split_requests > 0;
  for (uint32_t i = 0; i < plan->requests; i++) {
    const bool last = i + 1 == plan->requests;
    failure->phase = TG_CLIENT_REQUEST;
    const int64_t sent_ns = tg_client_now_ns();
    if (!send_request(conn, last ? plan->last : plan->keep, split, &failure->why)) {
      return false;
    }
    failure->phase = TG_CLIENT_RESPONSE;
    int64_t first_byte_ns = 0;
    if (!read_response(plan, conn, &first_byte_ns, &failure->why)) {
      return false;
    }
    if (plan->reader.close && !last) {
      tg_error_set(&failure->why, "\"Connection: close\" on request %u of %u", i + 1, plan->requests);
      return false;
    }
    rtt_ms[i] = ms_between(sent_ns, first_byte_ns);
  }
  return true;
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
static bool one_connection(struct tg_rtt_plan *plan, bool resume, bool measured, double *rtt_ms, double *handshake_ms,
                           struct tg_rtt_result *result, struct tg_failure *failure) {
  struct tg_client_conn conn;
  if (!tg_client_connect(plan->client, resume, &conn, &failure->phase, &failure->why)) {
    return false;
  }
  // Looked at after the exchange: nothing may come between the Finished and the request.
  if (!exchange(plan, &conn, rtt_ms, failure)) {
    tg_client_abandon(&conn);
    return false;
  }
  failure->phase = TG_CLIENT_HANDSHAKE;
  if (!check_handshake(plan, conn.ssl, resume, measured, result, &failure->why)) {
    tg_client_abandon(&conn);
    return false;
  }
  *handshake_ms = ms_between(conn.connected_ns, conn.established_ns);
  const bool hrr = SSL_used_hello_retry_request(conn.ssl);
  const bool resumed = SSL_session_reused(conn.ssl);
  const enum tg_client_end end = tg_client_close(&conn);
  if (end == TG_CLIENT_END_DATA) {
    failure->phase = TG_CLIENT_RESPONSE;
    tg_error_set(&failure->why, "bytes beyond the body of the last response");
    return false;
  }
  if (measured) {
    result->hello_retry_requests += hrr;
    result->resumed += resumed;
    result->unclean_closes += end == TG_CLIENT_END_UNCLEAN;
  }
  return true;
}

static void explain(const struct tg_failure *failure, long index, const char *kind, struct tg_error *err) {
  tg_error_set(err, "%sconnection %ld: %s: %.400s", kind, index, tg_client_phase_name(failure->phase),
               failure->why.text);
}

// Connections that are not sampled. A run that resumes needs one to get a session from.
static bool warm_up(struct tg_rtt_plan *plan, double *scratch, struct tg_rtt_result *result, struct tg_error *err) {
  const struct tg_rtt_options *options = plan->options;
  const uint32_t warmup = options->resume && options->warmup == 0 ? 1 : options->warmup;
  for (uint32_t i = 0; i < warmup; i++) {
    struct tg_failure failure;
    double handshake_ms = 0;
    const bool resume = options->resume && i > 0;
    if (!one_connection(plan, resume, false, scratch, &handshake_ms, result, &failure)) {
      explain(&failure, (long)i, "warm-up ", err);
      return false;
    }
    if (options->resume && !tg_client_has_session(plan->client)) {
      tg_error_set(err, "warm-up connection %u: response: the server gave no session to resume", i);
      return false;
    }
  }
  return true;
}

static bool measure(struct tg_rtt_plan *plan, struct tg_rtt_result *result, struct tg_error *err) {
  if (!warm_up(plan, result->rtt_ms, result, err)) {
    return false;
  }
  const double cpu_ms = process_cpu_ms();
  for (size_t i = 0; i < result->num_handshake; i++) {
    struct tg_failure failure;
    if (!one_connection(plan, plan->options->resume, true, result->rtt_ms + i * plan->requests,
                        result->handshake_ms + i, result, &failure)) {
      explain(&failure, (long)i, "", err);
      return false;
    }
  }
  result->client_cpu_ms = process_cpu_ms() - cpu_ms;
  return true;
}

bool tg_rtt_run(struct tg_client *client, const struct tg_rtt_options *options, struct tg_rtt_result *out,
                struct tg_error *err) {
  struct tg_rtt_plan *plan = calloc(1, sizeof(*plan));
  const uint32_t requests = options->split_requests > 0 ? options->split_requests : 1;
  *out = (struct tg_rtt_result){.num_handshake = options->count, .num_rtt = (size_t)options->count * requests};
  out->rtt_ms = calloc(out->num_rtt, sizeof(*out->rtt_ms));
  out->handshake_ms = calloc(out->num_handshake, sizeof(*out->handshake_ms));
  bool ok = false;
  if (plan == NULL || out->rtt_ms == NULL || out->handshake_ms == NULL) {
    tg_error_set(err, "out of memory");
  } else {
    plan->options = options;
    plan->client = client;
    plan->requests = requests;
    write_request(plan->keep, sizeof(plan->keep), options, "");
    write_request(plan->last, sizeof(plan->last), options, "Connection: close\r\n");
    ok = measure(plan, out, err);
  }
  free(plan);
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
