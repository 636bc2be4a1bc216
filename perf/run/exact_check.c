#include "perf/run/exact_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/exact/options.h"
#include "perf/exact/run.h"
#include "perf/process/child.h"
#include "perf/process/runfiles.h"

// It runs `measure` twice: by itself, and under callgrind.
#define TIMEOUT_S (2.0 * TG_EXACT_RUN_TIMEOUT_S + 60)

bool tg_exact_check_find(struct tg_exact_check *out, struct tg_error *err) {
  return tg_runfile("perf/exact/check", out->program, err) && tg_runfile("perf/exact/measure", out->measure, err) &&
         tg_runfile("perf/exact/scenarios", out->scenarios, err) &&
         tg_runfile("baselines/exact.json", out->baseline, err);
}

// The last line that the child had to say, without control characters: why it failed.
static void last_line(const char *text, char out[256]) {
  size_t end = strlen(text);
  while (end > 0 && text[end - 1] == '\n') {
    end--;
  }
  size_t start = end;
  while (start > 0 && text[start - 1] != '\n') {
    start--;
  }
  size_t len = 0;
  for (size_t i = start; i < end && len + 1 < 256; i++) {
    out[len++] = text[i];
    if ((unsigned char)text[i] < ' ') {
      out[len - 1] = ' ';
    }
  }
  out[len] = '\0';
}

static struct tg_exact_gates *read_result(const char *file, const struct tg_child_result *result,
                                          struct tg_error *err) {
  char said[256];
  last_line(result->err, said);
  const bool verdict = result->exit_status == TG_EXACT_EXIT_PASS || result->exit_status == TG_EXACT_EXIT_FAIL;
  if (!verdict || access(file, R_OK) != 0) {
    tg_error_set(err, "the check ended with status %d and without a result: %s", result->exit_status,
                 said[0] != '\0' ? said : "it said nothing");
    return NULL;
  }
  struct tg_exact_gates *gates = tg_exact_gates_load(file, err);
  if (gates != NULL && (gates->changed == 0) != (result->exit_status == TG_EXACT_EXIT_PASS)) {
    tg_error_set(err, "the check ended with status %d, but its result has %zu changed figures", result->exit_status,
                 gates->changed);
    tg_exact_gates_free(gates);
    return NULL;
  }
  return gates;
}

struct tg_exact_gates *tg_exact_check_run(const struct tg_exact_check *check, const char *folder,
                                          struct tg_run_failure *failure) {
  const char *const argv[] = {check->program, "--measure",     check->measure, "--scenarios", check->scenarios,
                              "--baseline",   check->baseline, "--out",        folder,        NULL};
  char file[PATH_MAX];
  struct tg_child_result result;
  struct tg_error why;
  struct tg_exact_gates *gates = NULL;
  *failure = (struct tg_run_failure){.stage = "exact"};
  if (snprintf(file, sizeof(file), "%s/" TG_EXACT_CHECK_FILE, folder) >= (int)sizeof(file)) {
    tg_error_set(&why, "%s: the path is too long", folder);
  } else if (unlink(file) != 0 && errno != ENOENT) {
    // Else it could be taken for this run's.
    tg_error_set(&why, "%s: an older result cannot be removed: %s", file, strerror(errno));
  } else if (tg_child_run(argv, TIMEOUT_S, &result, &why)) {
    gates = read_result(file, &result, &why);
    tg_child_result_free(&result);
  }
  if (gates == NULL) {
    tg_error_set(&failure->error, "exact gates: %.480s", why.text);
  }
  return gates;
}
