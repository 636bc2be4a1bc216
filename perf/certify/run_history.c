#include "perf/certify/run_history.h"

#include "perf/report/run_log.h"

static bool is_alike(const struct tg_logged_run *run, const struct tg_report *report) {
  return run->finished && run->genuine && run->readable && run->values != NULL && run->profile == report->profile &&
         run->environment.commit != NULL && tg_environment_differs(&run->environment, &report->environment) == NULL;
}

json_t *tg_certify_history(const char *workspace, const struct tg_report *report, struct tg_error *err) {
  struct tg_run_logs logs;
  struct tg_run_history history;
  tg_run_logs_find(&logs, workspace, NULL);
  if (!tg_run_history_load(&logs, &history, err)) {
    return NULL;
  }
  json_t *runs = json_array();
  for (size_t i = 0; i < history.num; i++) {
    const struct tg_logged_run *run = &history.runs[i];
    if (is_alike(run, report)) {
      // Only the count of references of the values changes.
      (void)json_array_append_new(runs, json_pack("{s:s, s:s, s:s, s:O}", "id", run->id, "start", run->start, "commit",
                                                  run->environment.commit, "values", run->values));
    }
  }
  tg_run_history_free(&history);
  while (json_array_size(runs) > TG_CERTIFY_HISTORY_MAX) {
    (void)json_array_remove(runs, 0);
  }
  return json_pack("{s:i, s:o}", "schema", 1, "runs", runs);
}
