// certify: a certificate for the commit that the tree is at. `certify --help` and docs/certification.md say more.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/certify/html.h"
#include "perf/certify/options.h"
#include "perf/certify/page.h"
#include "perf/certify/runner.h"
#include "perf/host/provenance.h"
#include "perf/process/child.h"
#include "perf/process/runfiles.h"

static int fail(const struct tg_error *err, int status) {
  fprintf(stderr, "certify: %s\n", err->text);
  return status;
}

// What would make parts weaker than this certificate says.
static void forget_leniency(void) {
  (void)unsetenv("TLSGATE_UNDECIDED");
}

static int conclude(const struct tg_certify *certify, json_t *value) {
  struct tg_certificate *certificate = malloc(sizeof(*certificate));
  struct tg_error err;
  int status = TG_EXIT_FAIL;
  if (certificate != NULL &&
      tg_certificate_decode(certificate, TG_CERTIFICATE_FILE, value, certify->parts, certify->num_parts, &err)) {
    for (size_t i = 0; i < certificate->num_parts; i++) {
      const struct tg_attempt *last = tg_cert_part_last(&certificate->parts[i]);
      printf("%-11s %-20s %s\n", tg_outcome_name(last->outcome), certificate->parts[i].part->title, last->message);
    }
    printf("\n%s: commit %s\n%s/%s\n", tg_html_word(certificate->verdict), certificate->commit, certify->out,
           TG_PAGE_FILE);
    status = certificate->exit_status;
  }
  free(certificate);
  return fflush(stdout) == 0 ? status : TG_EXIT_FAIL;
}

// A folder in the tree would make it unclean, but for what .gitignore names.
static bool leaves_tree_clean(const char *out, const char *workspace, struct tg_error *err) {
  size_t len = strlen(workspace);
  if (strncmp(out, workspace, len) == 0 && out[len] == '/' &&
      strncmp(out + len, "/reports/", strlen("/reports/")) != 0) {
    tg_error_set(err,
                 "--out: %s lies in the source tree, which must stay clean; take a folder in %s/reports/, or outside",
                 out, workspace);
    return false;
  }
  return true;
}

static int certify_tree(const struct tg_certify_options *options, const struct tg_source *source,
                        const json_t *provenance) {
  char out[PATH_MAX];
  struct tg_progress progress = {
      .out = stderr, .terminal = isatty(STDERR_FILENO) != 0, .total = tg_num_parts, .started_s = tg_now_s()};
  if (options->out[0] != '\0') {
    (void)snprintf(out, sizeof(out), "%s", options->out);
  } else {
    (void)snprintf(out, sizeof(out), "%.3900s/reports/certify-%.12s", source->workspace, source->commit);
  }
  const struct tg_certify certify = {.parts = tg_parts,
                                     .num_parts = tg_num_parts,
                                     .source = source,
                                     .out = out,
                                     .minutes = options->minutes,
                                     .label = getenv("TLSGATE_PERF_HOST"),
                                     .provenance = provenance,
                                     .progress = &progress};
  json_t *value;
  struct tg_error err;
  if (!leaves_tree_clean(out, source->workspace, &err)) {
    return fail(&err, TG_EXIT_USAGE);
  }
  switch (tg_certify_run(&certify, &value, &err)) {
    case TG_CERTIFY_REFUSED:
      return fail(&err, TG_EXIT_USAGE);
    case TG_CERTIFY_IMPOSSIBLE:
      return fail(&err, TG_EXIT_FAIL);
    default:
      break;
  }
  int status = conclude(&certify, value);
  json_decref(value);
  return status;
}

int main(int argc, char **argv) {
  struct tg_certify_options options;
  int ended = tg_certify_options_parse(&options, argc, argv);
  if (ended >= 0) {
    return ended;
  }
  char workspace[PATH_MAX];
  char server[PATH_MAX];
  struct tg_source source;
  struct tg_error err;
  forget_leniency();
  if (!tg_workspace("baselines/gates.json", workspace)) {
    tg_error_set(&err, "the source tree cannot be told: start it by ./tlsgate certify");
    return fail(&err, TG_EXIT_FAIL);
  }
  if (!tg_source_open(&source, workspace, &err) || !tg_runfile("harness/server/https_server", server, &err)) {
    return fail(&err, TG_EXIT_FAIL);
  }
  // Before minutes are spent on the figures of a tree that cannot be certified.
  if (!tg_source_is_clean(&source, &err)) {
    return fail(&err, TG_EXIT_USAGE);
  }
  if (chdir(workspace) != 0) {
    tg_error_set(&err, "%s: cannot be entered", workspace);
    return fail(&err, TG_EXIT_FAIL);
  }
  json_t *provenance = tg_provenance(workspace, server, &err);
  int status = provenance != NULL ? certify_tree(&options, &source, provenance) : fail(&err, TG_EXIT_FAIL);
  json_decref(provenance);
  return status;
}
