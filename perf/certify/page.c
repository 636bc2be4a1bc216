#include "perf/certify/page.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/certify/charts.h"
#include "perf/certify/html.h"
#include "perf/certify/page_sections.h"
#include "perf/certify/page_style.h"
#include "perf/host/provenance.h"

static const char *meaning(enum tg_outcome verdict) {
  switch (verdict) {
    case TG_OUTCOME_PASS:
      return "Both halves passed: the accept path of this revision is correct as far as it was tested and fuzzed, and "
             "as "
             "fast as its gates and the recorded baseline of this host ask for.";
    case TG_OUTCOME_UNDECIDED:
      return "Nothing failed, but not everything could be decided. This is no pass.";
    case TG_OUTCOME_UNENFORCED:
      return "Nothing failed, but what was recorded could not be enforced here. This is no pass: a certificate needs "
             "the "
             "recorded baseline of its host.";
    default:
      return "At least one part failed or did not run to its end.";
  }
}

static void put_fact(FILE *page, const char *name, const char *value) {
  if (value != NULL && value[0] != '\0') {
    fprintf(page, "<div><dt>%s</dt><dd>", name);
    tg_html_text(page, value);
    fputs("</dd></div>", page);
  }
}

static void put_json_fact(FILE *page, const char *name, const json_t *value) {
  char number[32];
  if (json_is_integer(value)) {
    (void)snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
    put_fact(page, name, number);
  } else {
    put_fact(page, name, json_string_value(value));
  }
}

static void put_head(FILE *page, const struct tg_certificate *certificate) {
  const json_t *where = certificate->provenance;
  char minutes[64];
  (void)snprintf(minutes, sizeof(minutes), "%lld minutes, all targets and engines", certificate->minutes);
  fprintf(page,
          "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width,initial-scale=1\"><title>tlsgate: %s, %.12s</title><style>\n%s</style></head>"
          "<body>%s<main>\n",
          tg_html_word(certificate->verdict), certificate->commit, tg_page_style, tg_chart_defs);
  fprintf(page, "<header class=\"verdict %s\"><h1>%s</h1><p>%s</p><dl class=\"facts\">",
          tg_outcome_name(certificate->verdict == TG_OUTCOME_ERROR ? TG_OUTCOME_FAIL : certificate->verdict),
          tg_html_word(certificate->verdict), meaning(certificate->verdict));
  put_fact(page, "Commit", certificate->commit);
  put_fact(page, "From", certificate->start);
  put_fact(page, "To", certificate->finish);
  put_json_fact(page, "Host", json_object_get(where, "host"));
  put_fact(page, "Baseline label", certificate->label != NULL ? certificate->label : "none given");
  put_fact(page, "Fresh fuzzing", minutes);
  fputs("</dl></header>\n", page);
}

// What keeps the certificate from being a pass, part by part.
static void put_open_points(FILE *page, const struct tg_certificate *certificate) {
  size_t open = 0;
  for (size_t i = 0; i < certificate->num_parts; i++) {
    const struct tg_attempt *last = tg_cert_part_last(&certificate->parts[i]);
    if (last->outcome == TG_OUTCOME_PASS) {
      continue;
    }
    if (open++ == 0) {
      fputs("<h2>Failed, undecided or not enforced</h2><ul class=\"plain\">", page);
    }
    fputs("<li>", page);
    tg_html_pill(page, tg_outcome_name(last->outcome));
    fprintf(page, " <strong>%s</strong> ", certificate->parts[i].part->title);
    tg_html_text(page, last->message);
    fputs("</li>\n", page);
  }
  fputs(open > 0 ? "</ul>\n" : "", page);
}

static double seconds_of(const struct tg_attempt *attempt) {
  int from[3];
  int to[3];
  if (attempt->finish == NULL || sscanf(attempt->start + 11, "%d:%d:%d", &from[0], &from[1], &from[2]) != 3 ||
      sscanf(attempt->finish + 11, "%d:%d:%d", &to[0], &to[1], &to[2]) != 3) {
    return 0;
  }
  double seconds = 3600.0 * (to[0] - from[0]) + 60.0 * (to[1] - from[1]) + (to[2] - from[2]);
  return seconds < 0 ? seconds + 86400 : seconds;
}

static void put_earlier(FILE *page, const struct tg_cert_part *part) {
  for (size_t i = 0; i + 1 < part->num_attempts; i++) {
    const struct tg_attempt *attempt = &part->attempts[i];
    fputs("<br><span class=\"muted\">earlier, ", page);
    tg_html_text(page, attempt->start);
    fputs(":</span> ", page);
    tg_html_pill(page, tg_outcome_name(attempt->outcome));
    fputs(" ", page);
    tg_html_text(page, attempt->message);
  }
}

static void put_parts(FILE *page, const struct tg_certificate *certificate) {
  fputs(
      "<h2>Parts</h2><div class=\"scroll\"><table><tr><th>Part</th><th>Verdict</th><th>What was found</th>"
      "<th class=\"num roomy\">Time</th></tr>\n",
      page);
  for (size_t i = 0; i < certificate->num_parts; i++) {
    const struct tg_cert_part *part = &certificate->parts[i];
    const struct tg_attempt *last = tg_cert_part_last(part);
    fprintf(page, "<tr><td><strong>%s</strong><br><span class=\"muted roomy\">%s</span></td><td>", part->part->title,
            part->part->about);
    tg_html_pill(page, tg_outcome_name(last->outcome));
    fputs("</td><td>", page);
    tg_html_text(page, last->message);
    put_earlier(page, part);
    fprintf(page, "</td><td class=\"num roomy\">%.0f s</td></tr>\n", seconds_of(last));
  }
  fputs("</table></div>\n", page);
}

static void put_foot(FILE *page, const struct tg_certificate *certificate) {
  static const char *const keys[] = {"architecture", "cpu_model", "cpus",      "os",
                                     "kernel",       "compiler",  "boringssl", "server_sha256"};
  static const char *const names[] = {"Architecture", "CPU",      "CPUs on line", "System",
                                      "Kernel",       "Compiler", "BoringSSL",    "SHA-256 of the server"};
  fputs("<h2>Where it was measured</h2><dl class=\"facts\">", page);
  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
    put_json_fact(page, names[i], json_object_get(certificate->provenance, keys[i]));
  }
  put_json_fact(page, "Flags", json_object_get(certificate->provenance, "flags"));
  fputs(
      "</dl>\n<h2>Checking it</h2><p><code>./tlsgate verify DIR</code>, in a clone that has the commit, draws every "
      "verdict again from the raw files beside this page and from the commit. Hashes say that the files belong "
      "together; they are no signature, and do not say who made them.</p>\n</main></body></html>\n",
      page);
}

static bool write_page(FILE *page, const char *folder, const struct tg_certificate *certificate, struct tg_error *err) {
  put_head(page, certificate);
  put_open_points(page, certificate);
  put_parts(page, certificate);
  if (!tg_page_put_gates(page, folder, certificate, err)) {
    return false;
  }
  tg_page_put_fuzz(page, certificate);
  tg_page_put_faults(page, certificate);
  tg_page_put_exact(page, certificate);
  put_foot(page, certificate);
  return true;
}

static bool publish(const char *folder, const struct tg_certificate *certificate, json_t *value, struct tg_error *err) {
  char path[PATH_MAX];
  char beside[PATH_MAX];
  char digest[TG_SHA256_HEX + 1];
  (void)snprintf(path, sizeof(path), "%.4000s/" TG_PAGE_FILE, folder);
  (void)snprintf(beside, sizeof(beside), "%.4000s/." TG_PAGE_FILE ".%ld", folder, (long)getpid());
  FILE *page = fopen(beside, "we");
  if (page == NULL) {
    tg_error_set(err, "%s: %s", beside, strerror(errno));
    return false;
  }
  bool ok = write_page(page, folder, certificate, err);
  bool written = ferror(page) == 0;
  written = fclose(page) == 0 && written;
  if (ok && (!written || rename(beside, path) != 0)) {
    tg_error_set(err, "cannot write %s: %s", path, strerror(errno));
    ok = false;
  }
  if (!ok) {
    (void)unlink(beside);
  }
  return ok && tg_sha256_of_file(path, digest, err) &&
         json_object_set_new(value, "html_sha256", json_string(digest)) == 0;
}

bool tg_page_publish(const char *folder, const struct tg_part *parts, size_t num_parts, json_t *value,
                     struct tg_error *err) {
  struct tg_certificate *certificate = malloc(sizeof(*certificate));
  bool ok = certificate != NULL &&
            tg_certificate_decode(certificate, TG_CERTIFICATE_FILE, value, parts, num_parts, err) &&
            publish(folder, certificate, value, err);
  free(certificate);
  return ok;
}
