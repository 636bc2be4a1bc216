#include "perf/tools/wrk.h"

#include <inttypes.h>
#include <string.h>

static const char tg_remedy_cut[] =
    "the output is cut short or comes from another version than 4.1.0: run the command by hand and read what it prints";

static bool gave_up(struct tg_text text, struct tg_error *err) {
  static const char *const complaints[] = {"unable to ", "invalid ", "Usage: "};
  for (size_t i = 0; i < sizeof(complaints) / sizeof(complaints[0]); i++) {
    struct tg_line line;
    if (tg_line_find(text, complaints[i], &line) > 0) {
      char shown[TG_LINE_SHOWN_MAX];
      tg_error_set(err, "wrk: \"%s\": check the URL and that the server listens there", tg_line_show(&line, shown));
      return true;
    }
  }
  return false;
}

static bool unreadable(const struct tg_line *line, struct tg_error *err) {
  char shown[TG_LINE_SHOWN_MAX];
  tg_error_set(err, "wrk: line %zu \"%s\" is not in the format of 4.1.0: %s", line->number, tg_line_show(line, shown),
               "install Debian's wrk");
  return false;
}

// One line that begins with `prefix`, ready to be read behind it.
static bool find(struct tg_text text, const char *prefix, struct tg_line *line, struct tg_scan *scan,
                 struct tg_error *err) {
  const size_t found = tg_line_find(text, prefix, line);
  if (found != 1) {
    if (found == 0) {
      tg_error_set(err, "wrk: no line \"%s\": %s", prefix, tg_remedy_cut);
    } else {
      tg_error_set(err, "wrk: %zu lines \"%s\" where one is expected: pass the output of a single run", found, prefix);
    }
    return false;
  }
  *scan = tg_scan_line(line);
  tg_scan_text(scan, prefix);
  return true;
}

// The only lines that begin with their figure: "  4 threads and 100 connections", "  9 requests in 1.00s, 9.00KB read".
static bool read_load(struct tg_text text, struct tg_wrk *out, struct tg_error *err) {
  struct tg_line line = {NULL, 0, 0};
  size_t offset = 0;
  bool threads = false;
  bool requests = false;
  while (tg_text_next_line(text, &offset, &line)) {
    struct tg_scan scan = tg_scan_line(&line);
    tg_scan_text(&scan, " ");
    tg_scan_count(&scan, &out->threads);
    tg_scan_text(&scan, " threads and ");
    tg_scan_count(&scan, &out->connections);
    tg_scan_text(&scan, " connections");
    if (tg_scan_end(&scan)) {
      threads = true;
      break;
    }
  }
  while (threads && !requests && tg_text_next_line(text, &offset, &line)) {
    struct tg_scan scan = tg_scan_line(&line);
    tg_scan_text(&scan, " ");
    tg_scan_count(&scan, &out->requests);
    tg_scan_text(&scan, " requests in ");
    tg_scan_quantity(&scan, TG_UNIT_SECONDS, &out->seconds);
    tg_scan_text(&scan, ", ");
    tg_scan_quantity(&scan, TG_UNIT_BYTES, &out->bytes_read);
    tg_scan_text(&scan, " read");
    requests = tg_scan_end(&scan);
  }
  if (!threads || !requests) {
    tg_error_set(err, "wrk: no line \"%s\": %s",
                 threads ? "N requests in N.NNs, N.NNMB read" : "N threads and N connections", tg_remedy_cut);
    return false;
  }
  return true;
}

static bool read_quantity(struct tg_text text, const char *prefix, enum tg_unit unit, double *out,
                          struct tg_error *err) {
  struct tg_line line;
  struct tg_scan scan;
  if (!find(text, prefix, &line, &scan, err)) {
    return false;
  }
  tg_scan_text(&scan, " ");
  tg_scan_quantity(&scan, unit, out);
  return tg_scan_end(&scan) || unreadable(&line, err);
}

static bool read_latency(struct tg_text text, struct tg_wrk *out, struct tg_error *err) {
  struct tg_line line;
  struct tg_scan scan;
  if (!find(text, "    Latency ", &line, &scan, err)) {
    return false;
  }
  tg_scan_quantity(&scan, TG_UNIT_SECONDS, &out->latency_mean_s);
  tg_scan_text(&scan, " ");
  tg_scan_quantity(&scan, TG_UNIT_SECONDS, &out->latency_stdev_s);
  tg_scan_text(&scan, " ");
  tg_scan_quantity(&scan, TG_UNIT_SECONDS, &out->latency_max_s);
  // The share within one standard deviation follows; it is "-nan%" when there was no request.
  tg_scan_text(&scan, " ");
  if (!scan.ok) {
    return unreadable(&line, err);
  }
  out->has_percentiles = tg_line_find(text, "  Latency Distribution", &line) > 0;
  return !out->has_percentiles || (read_quantity(text, "     50%", TG_UNIT_SECONDS, &out->latency_p50_s, err) &&
                                   read_quantity(text, "     75%", TG_UNIT_SECONDS, &out->latency_p75_s, err) &&
                                   read_quantity(text, "     90%", TG_UNIT_SECONDS, &out->latency_p90_s, err) &&
                                   read_quantity(text, "     99%", TG_UNIT_SECONDS, &out->latency_p99_s, err));
}

// Lines that wrk prints only when there is something to say.
static bool read_errors(struct tg_text text, struct tg_wrk *out, struct tg_error *err) {
  struct tg_line line;
  struct tg_scan scan;
  if (tg_line_find(text, "  Socket errors:", &line) > 0) {
    if (!find(text, "  Socket errors:", &line, &scan, err)) {
      return false;
    }
    tg_scan_text(&scan, " connect ");
    tg_scan_count(&scan, &out->connect_errors);
    tg_scan_text(&scan, ", read ");
    tg_scan_count(&scan, &out->read_errors);
    tg_scan_text(&scan, ", write ");
    tg_scan_count(&scan, &out->write_errors);
    tg_scan_text(&scan, ", timeout ");
    tg_scan_count(&scan, &out->timeouts);
    if (!tg_scan_end(&scan)) {
      return unreadable(&line, err);
    }
  }
  if (tg_line_find(text, "  Non-2xx or 3xx responses:", &line) > 0) {
    if (!find(text, "  Non-2xx or 3xx responses:", &line, &scan, err)) {
      return false;
    }
    tg_scan_text(&scan, " ");
    tg_scan_count(&scan, &out->non_2xx_responses);
    if (!tg_scan_end(&scan)) {
      return unreadable(&line, err);
    }
  }
  return true;
}

bool tg_wrk_parse(struct tg_text standard_output, struct tg_text standard_error, struct tg_wrk *out,
                  struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  const struct tg_text text = standard_output;
  return !gave_up(standard_error, err) && !gave_up(text, err) && read_load(text, out, err) &&
         read_latency(text, out, err) && read_errors(text, out, err) &&
         read_quantity(text, "Requests/sec:", TG_UNIT_COUNT, &out->requests_per_second, err) &&
         read_quantity(text, "Transfer/sec:", TG_UNIT_BYTES, &out->bytes_per_second, err);
}

bool tg_wrk_judge(const struct tg_wrk *run, uint64_t body_bytes, struct tg_error *err) {
  static const char look[] = "see the server's own output and counters";
  if (run->connect_errors != 0 || run->read_errors != 0 || run->write_errors != 0 || run->timeouts != 0) {
    tg_error_set(err,
                 "wrk: \"Socket errors: connect %" PRIu64 ", read %" PRIu64 ", write %" PRIu64 ", timeout %" PRIu64
                 "\": %s",
                 run->connect_errors, run->read_errors, run->write_errors, run->timeouts, look);
  } else if (run->non_2xx_responses != 0) {
    tg_error_set(err, "wrk: \"Non-2xx or 3xx responses: %" PRIu64 "\": ask for a path that the server serves",
                 run->non_2xx_responses);
  } else if (run->requests == 0) {
    tg_error_set(err, "wrk: \"0 requests in %.2fs\": the server accepted but never answered: %s", run->seconds, look);
  } else if (run->bytes_read < 0.99 * (double)run->requests * (double)body_bytes) {
    tg_error_set(err,
                 "wrk: \"%" PRIu64 " requests\" but only %.0f bytes read, less than %" PRIu64
                 " for each: the responses are short: %s",
                 run->requests, run->bytes_read, body_bytes, look);
  } else {
    return true;
  }
  return false;
}
