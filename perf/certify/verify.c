#include "perf/certify/verify.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/certify/folder.h"
#include "perf/certify/keep.h"
#include "perf/certify/page.h"
#include "perf/host/provenance.h"
#include "perf/manifest/strict_json.h"

struct verification {
  struct tg_certify certify;  // for tg_keep_judge
  struct tg_source source;
  json_t *value;
  struct tg_certificate certificate;
  struct tg_verified *result;
  FILE *out;
};

__attribute__((format(printf, 2, 3))) static void differs(struct verification *v, const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("DIFFERS  ", v->out);
  vfprintf(v->out, format, list);
  fputc('\n', v->out);
  va_end(list);
  v->result->differences++;
}

static bool attempt_path(struct verification *v, const struct tg_attempt *attempt, char out[PATH_MAX]) {
  return snprintf(out, PATH_MAX, "%s/%s", v->certify.out, attempt->folder) < PATH_MAX;
}

// The raw files of an attempt are those that were hashed.
static void check_files(struct verification *v, const char *name, const struct tg_attempt *attempt) {
  char path[PATH_MAX];
  struct tg_error err;
  if (attempt->folder == NULL) {
    return;
  }
  if (!attempt_path(v, attempt, path)) {
    differs(v, "%s: the path is too long", name);
  } else if (json_object_size(attempt->files) == 0 && access(path, F_OK) != 0) {
    return;  // killed before it had a folder
  } else if (!tg_folder_compare(path, attempt->files, &err)) {
    differs(v, "%s: %s", name, err.text);
  }
}

// What it rested on is what the commit has.
static void check_inputs(struct verification *v, const struct tg_part *part, const struct tg_attempt *attempt) {
  struct tg_error err;
  json_t *inputs = tg_keep_inputs(&v->source, part, &err);
  if (inputs == NULL) {
    differs(v, "%s: %s", part->name, err.text);
  } else if (!json_equal(inputs, attempt->inputs)) {
    differs(v, "%s: its inputs are not those of commit %.12s", part->name, v->source.commit);
  }
  json_decref(inputs);
}

// The verdict, the message and the figures are what the raw files come to.
static void check_verdict(struct verification *v, const struct tg_part *part, const struct tg_attempt *attempt) {
  char folder[PATH_MAX] = "";
  struct tg_part_verdict drawn;
  struct tg_error err;
  if (attempt->outcome == TG_OUTCOME_ERROR || (attempt->folder != NULL && !attempt_path(v, attempt, folder))) {
    return;  // nothing to draw: it did not run to its end, and says so
  }
  if (!tg_keep_judge(&v->certify, v->value, part, folder, &drawn, &err)) {
    differs(v, "%s: %s", part->name, err.text);
    return;
  }
  if (drawn.outcome != attempt->outcome) {
    differs(v, "%s: says %s, its raw files come to %s", part->name, tg_outcome_name(attempt->outcome),
            tg_outcome_name(drawn.outcome));
  }
  if (strcmp(drawn.message, attempt->message) != 0) {
    differs(v, "%s: says \"%s\", its raw files come to \"%s\"", part->name, attempt->message, drawn.message);
  }
  if (!json_equal(drawn.figures, attempt->figures)) {
    differs(v, "%s: its figures are not what its raw files come to", part->name);
  }
  json_decref(drawn.figures);
}

static void check_part(struct verification *v, const struct tg_cert_part *part) {
  size_t before = v->result->differences;
  for (size_t i = 0; i < part->num_attempts; i++) {
    const struct tg_attempt *attempt = &part->attempts[i];
    bool last = i + 1 == part->num_attempts;
    check_files(v, part->part->name, attempt);
    check_inputs(v, part->part, attempt);
    // An earlier attempt may have judged raw files of another part, or have been planned, by an earlier attempt.
    if (last) {
      check_verdict(v, part->part, attempt);
    }
  }
  if (v->result->differences == before) {
    fprintf(v->out, "agrees   %s: %s\n", part->part->name, tg_outcome_name(tg_cert_part_last(part)->outcome));
  }
}

static void check_page(struct verification *v) {
  char path[PATH_MAX];
  char digest[TG_SHA256_HEX + 1];
  struct tg_error err;
  (void)snprintf(path, sizeof(path), "%.4000s/" TG_PAGE_FILE, v->certify.out);
  if (!tg_sha256_of_file(path, digest, &err)) {
    differs(v, "%s", err.text);
  } else if (strcmp(digest, v->certificate.html_sha256) != 0) {
    differs(v, "%s: is not the page that was written with the certificate", path);
  } else {
    fprintf(v->out, "agrees   " TG_PAGE_FILE "\n");
  }
}

static bool open_certificate(struct verification *v, const char *workspace, struct tg_error *err) {
  char path[PATH_MAX];
  (void)snprintf(path, sizeof(path), "%.4000s/" TG_CERTIFICATE_STATE, v->certify.out);
  if (access(path, F_OK) == 0) {
    tg_error_set(err, "%s: the certification is not finished: run ./tlsgate certify with the same --out", path);
    return false;
  }
  (void)snprintf(path, sizeof(path), "%.4000s/" TG_CERTIFICATE_FILE, v->certify.out);
  v->value = tg_json_load(path, err);
  if (v->value == NULL || !tg_certificate_decode(&v->certificate, TG_CERTIFICATE_FILE, v->value, v->certify.parts,
                                                 v->certify.num_parts, err)) {
    return false;
  }
  if (!v->certificate.complete) {
    tg_error_set(err, "%s: is not complete", path);
    return false;
  }
  (void)snprintf(v->source.workspace, sizeof(v->source.workspace), "%s", workspace);
  (void)snprintf(v->source.commit, sizeof(v->source.commit), "%s", v->certificate.commit);
  v->certify.minutes = v->certificate.minutes;
  return tg_source_is_here(&v->source, err);
}

void tg_verify(struct tg_verified *result, const char *folder, const char *workspace, const struct tg_part *parts,
               size_t num_parts, FILE *out) {
  struct tg_error err;
  *result = (struct tg_verified){.verdict = TG_OUTCOME_ERROR};
  struct verification *v = calloc(1, sizeof(*v));
  if (v == NULL) {
    fprintf(out, "DIFFERS  out of memory\n");
    result->differences = 1;
    return;
  }
  v->certify = (struct tg_certify){.parts = parts, .num_parts = num_parts, .source = &v->source, .out = folder};
  v->result = result;
  v->out = out;
  if (!open_certificate(v, workspace, &err)) {
    differs(v, "%s", err.text);
  } else {
    result->verdict = v->certificate.verdict;
    for (size_t i = 0; i < num_parts; i++) {
      check_part(v, &v->certificate.parts[i]);
    }
    check_page(v);
  }
  json_decref(v->value);
  free(v);
}
