#include "perf/tools/ab.h"

#include <inttypes.h>
#include <string.h>

static const char tg_remedy_cut[] =
    "the output is cut short or comes from another version than 2.3: run the command by hand and read what it prints";

// How ab.c begins the lines that report an error, on either stream.
static const char *const tg_complaints[] = {
    "apr_",          // apr_err(): the run was aborted
    "SSL ",          // "SSL handshake failed (1).", "SSL read failed (5) - closing connection"
    "Test aborted",  // after 10 failures in a row without -r
    "ab: ",          // usage and set-up errors
    "Total of ",     // printed when aborted
};

static bool complain(struct tg_text text, struct tg_error *err) {
  struct tg_line line = {NULL, 0, 0};
  size_t offset = 0;
  while (tg_text_next_line(text, &offset, &line)) {
    for (size_t i = 0; i < sizeof(tg_complaints) / sizeof(tg_complaints[0]); i++) {
      const size_t len = strlen(tg_complaints[i]);
      if (line.len >= len && memcmp(line.bytes, tg_complaints[i], len) == 0) {
        char shown[TG_LINE_SHOWN_MAX];
        tg_error_set(err, "ab: \"%s\": the server refused, broke or timed out connections: %s",
                     tg_line_show(&line, shown),
                     "see the server's own output and counters, and that it listens on the port given to ab");
        return true;
      }
    }
  }
  return false;
}

// A line that begins with `prefix`, ready to be read behind it. Sets `err` unless there is exactly one, or none and the
// line is optional.
static bool find(struct tg_text text, const char *prefix, bool optional, struct tg_line *line, struct tg_scan *scan,
                 struct tg_error *err) {
  const size_t found = tg_line_find(text, prefix, line);
  if (found == 1) {
    *scan = tg_scan_line(line);
    tg_scan_text(scan, prefix);
    tg_scan_text(scan, " ");
    return true;
  }
  if (found > 1) {
    tg_error_set(err, "ab: %zu lines \"%s\" where one is expected: pass the output of a single run", found, prefix);
  } else if (!optional) {
    tg_error_set(err, "ab: no line \"%s\": %s", prefix, tg_remedy_cut);
  }
  return false;
}

static bool unreadable(const struct tg_line *line, struct tg_error *err) {
  char shown[TG_LINE_SHOWN_MAX];
  tg_error_set(err, "ab: line %zu \"%s\" is not in the format of 2.3: %s", line->number, tg_line_show(line, shown),
               "install Debian's apache2-utils");
  return false;
}

static bool read_count(struct tg_text text, const char *prefix, const char *unit, uint64_t *out, struct tg_error *err) {
  struct tg_line line;
  struct tg_scan scan;
  if (!find(text, prefix, false, &line, &scan, err)) {
    return false;
  }
  tg_scan_count(&scan, out);
  tg_scan_text(&scan, unit);
  return tg_scan_end(&scan) || unreadable(&line, err);
}

static bool read_decimal(struct tg_text text, const char *prefix, const char *unit, double *out, struct tg_error *err) {
  struct tg_line line;
  struct tg_scan scan;
  if (!find(text, prefix, false, &line, &scan, err)) {
    return false;
  }
  tg_scan_decimal(&scan, out);
  tg_scan_text(&scan, unit);
  return tg_scan_end(&scan) || unreadable(&line, err);
}

// Lines that ab prints only when the count is not 0.
static bool read_optional(struct tg_text text, const char *prefix, uint64_t *out, struct tg_error *err) {
  struct tg_line line;
  struct tg_scan scan;
  *out = 0;
  err->text[0] = '\0';
  if (!find(text, prefix, true, &line, &scan, err)) {
    return err->text[0] == '\0';
  }
  tg_scan_count(&scan, out);
  return tg_scan_end(&scan) || unreadable(&line, err);
}

static bool read_breakdown(struct tg_text text, struct tg_ab *out, struct tg_error *err) {
  out->connect_failures = out->receive_failures = out->length_failures = out->exception_failures = 0;
  if (out->failed_requests == 0) {
    return true;
  }
  struct tg_line line;
  struct tg_scan scan;
  if (!find(text, "   (Connect:", false, &line, &scan, err)) {
    return false;
  }
  tg_scan_count(&scan, &out->connect_failures);
  tg_scan_text(&scan, ", Receive: ");
  tg_scan_count(&scan, &out->receive_failures);
  tg_scan_text(&scan, ", Length: ");
  tg_scan_count(&scan, &out->length_failures);
  tg_scan_text(&scan, ", Exceptions: ");
  tg_scan_count(&scan, &out->exception_failures);
  tg_scan_text(&scan, ")");
  if (!tg_scan_end(&scan)) {
    return unreadable(&line, err);
  }
  // Taken away one by one: the counts of a damaged text may be too large to be added.
  const uint64_t parts[] = {out->connect_failures, out->receive_failures, out->length_failures,
                            out->exception_failures};
  uint64_t rest = out->failed_requests;
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
    if (parts[i] > rest) {
      return unreadable(&line, err);
    }
    rest -= parts[i];
  }
  return rest == 0 || unreadable(&line, err);
}

bool tg_ab_parse(struct tg_text standard_output, struct tg_text standard_error, struct tg_ab *out,
                 struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  if (complain(standard_error, err) || complain(standard_output, err)) {
    return false;
  }
  const struct tg_text text = standard_output;
  if (!read_count(text, "Document Length:", " bytes", &out->document_bytes, err) ||
      !read_count(text, "Concurrency Level:", "", &out->concurrency, err) ||
      !read_decimal(text, "Time taken for tests:", " seconds", &out->seconds, err) ||
      !read_count(text, "Complete requests:", "", &out->complete_requests, err) ||
      !read_count(text, "Failed requests:", "", &out->failed_requests, err) || !read_breakdown(text, out, err) ||
      !read_optional(text, "Write errors:", &out->write_errors, err) ||
      !read_optional(text, "Non-2xx responses:", &out->non_2xx_responses, err) ||
      !read_optional(text, "Keep-Alive requests:", &out->keep_alive_requests, err) ||
      !read_count(text, "Total transferred:", " bytes", &out->total_bytes, err) ||
      !read_count(text, "HTML transferred:", " bytes", &out->body_bytes, err) ||
      !read_decimal(text, "Requests per second:", " [#/sec] (mean)", &out->requests_per_second, err) ||
      !read_decimal(text, "Transfer rate:", " [Kbytes/sec] received", &out->bytes_per_second, err)) {
    return false;
  }
  out->bytes_per_second *= 1024;
  return true;
}

bool tg_ab_judge(const struct tg_ab *run, uint64_t requests, uint64_t body_bytes, struct tg_error *err) {
  static const char look[] = "see the server's own output and counters";
  if (run->failed_requests != 0) {
    tg_error_set(err,
                 "ab: \"Failed requests: %" PRIu64 "\" (connect %" PRIu64 ", receive %" PRIu64 ", length %" PRIu64
                 ", exceptions %" PRIu64 "): %s",
                 run->failed_requests, run->connect_failures, run->receive_failures, run->length_failures,
                 run->exception_failures, look);
  } else if (run->write_errors != 0) {
    tg_error_set(err, "ab: \"Write errors: %" PRIu64 "\": %s", run->write_errors, look);
  } else if (run->non_2xx_responses != 0) {
    tg_error_set(err, "ab: \"Non-2xx responses: %" PRIu64 "\": ask for a path that the server serves",
                 run->non_2xx_responses);
  } else if (run->complete_requests != requests) {
    tg_error_set(err, "ab: \"Complete requests: %" PRIu64 "\" where %" PRIu64 " were asked for: %s",
                 run->complete_requests, requests, look);
  } else if (run->document_bytes != body_bytes) {
    tg_error_set(err,
                 "ab: \"Document Length: %" PRIu64 " bytes\" where the body has %" PRIu64
                 ": the server closed early or serves something else: %s",
                 run->document_bytes, body_bytes, look);
  } else if (body_bytes != 0 && (run->body_bytes % body_bytes != 0 || run->body_bytes / body_bytes != requests)) {
    tg_error_set(err, "ab: \"HTML transferred: %" PRIu64 " bytes\" is not %" PRIu64 " bodies of %" PRIu64 " bytes: %s",
                 run->body_bytes, requests, body_bytes, look);
  } else {
    return true;
  }
  return false;
}
