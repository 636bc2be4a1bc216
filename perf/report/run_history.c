// Reading the logs of runs: see run_log.h.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/report/json_fields.h"
#include "perf/report/run_log.h"

static const char *mode_name(int mode) {
  return tg_mode_name((enum tg_mode)mode);
}

static const char *profile_name(int profile) {
  return tg_profile_name((enum tg_profile)profile);
}

static const char *outcome_name(int outcome) {
  return tg_outcome_name((enum tg_outcome)outcome);
}

static bool decode_start(struct tg_logged_run *out, struct tg_json_place *place) {
  struct tg_json_place provenance;
  int mode = 0;
  int profile = 0;
  if (!tg_field_time(place, "start", &out->start) ||
      !tg_field_name(place, "mode", mode_name, TG_MODE_ONLY + 1, &mode) ||
      !tg_field_name(place, "profile", profile_name, TG_PROFILE_PUBLISHED + 1, &profile) ||
      !tg_field_bool(place, "genuine", &out->genuine) || !tg_json_optional_text(place, "server", &out->server) ||
      !tg_json_object(place, "provenance", &provenance) || !tg_environment_decode(&out->environment, &provenance)) {
    return false;
  }
  out->mode = (enum tg_mode)mode;
  out->profile = (enum tg_profile)profile;
  out->dirty = !tg_environment_is_clean(&out->environment);
  return tg_json_close(place);
}

static bool decode_values(struct tg_logged_run *out, struct tg_json_place *place) {
  struct tg_json_place values;
  bool present = false;
  if (!tg_field_object_or_null(place, "values", &present, &values)) {
    return false;
  }
  const char *key = NULL;
  json_t *value = NULL;
  if (present) {
    json_object_foreach(values.object, key, value) {
      if (!json_is_number(value)) {
        return tg_json_fail(&values, key, "must be a number");
      }
    }
    out->values = values.object;
  }
  return true;
}

static bool decode_end(struct tg_logged_run *out, struct tg_json_place *place) {
  const char *finish = NULL;
  long long status = 0;
  int verdict = 0;
  if (!tg_field_time(place, "finish", &finish) ||
      !tg_field_name(place, "verdict", outcome_name, TG_OUTCOME_ERROR + 1, &verdict) ||
      !tg_json_integer(place, "exit_status", TG_EXIT_PASS, TG_EXIT_UNENFORCED, &status) ||
      !tg_field_bool(place, "readable", &out->readable) || !decode_values(out, place)) {
    return false;
  }
  out->finished = true;
  out->verdict = (enum tg_outcome)verdict;
  out->exit_status = (enum tg_exit)status;
  return tg_json_close(place);
}

static struct tg_logged_run *find(const struct tg_run_history *history, const char *id) {
  // The newest are looked for most.
  for (size_t i = history->num; i > 0; i--) {
    if (strcmp(history->runs[i - 1].id, id) == 0) {
      return &history->runs[i - 1];
    }
  }
  return NULL;
}

// A line of one log may be in another as well; a "start" is the run's first line in any of them.
static bool take_line(struct tg_run_history *out, const char *file, json_t *value, struct tg_error *err) {
  static const char *const events[] = {"start", "end"};
  struct tg_json_place root;
  struct tg_logged_run line = {.id = NULL};
  int event = 0;
  if (!tg_json_open(&root, file, value, err) || !tg_json_schema(&root, TG_RUN_LOG_SCHEMA) ||
      !tg_json_choice(&root, "event", events, 2, &event) || !tg_field_hex(&root, "id", TG_RUN_ID_LEN, &line.id) ||
      !(event == 0 ? decode_start(&line, &root) : decode_end(&line, &root))) {
    return false;
  }
  struct tg_logged_run *known = find(out, line.id);
  if (event == 0) {
    if (known != NULL) {
      return true;
    }
    struct tg_logged_run *larger = realloc(out->runs, (out->num + 1) * sizeof(*larger));
    if (larger == NULL) {
      tg_error_set(err, "%s: out of memory", file);
      return false;
    }
    out->runs = larger;
    out->runs[out->num++] = line;
    return true;
  }
  if (known == NULL) {
    tg_error_set(err, "%s: the end of a run that has no start", file);
    return false;
  }
  known->finished = true;
  known->verdict = line.verdict;
  known->exit_status = line.exit_status;
  known->readable = line.readable;
  known->values = line.values;
  return true;
}

static void take_text(struct tg_run_history *out, const char *path, char *text) {
  size_t number = 0;
  for (char *line; (line = strsep(&text, "\n")) != NULL;) {
    char place[PATH_MAX + 32];
    struct tg_error why;
    number++;
    if (line[0] == '\0') {
      continue;
    }
    (void)snprintf(place, sizeof(place), "%s line %zu", path, number);
    json_t *value = tg_json_parse(place, line, strlen(line), &why);
    if (value == NULL || !take_line(out, place, value, &why)) {
      out->first_damage = out->damaged == 0 ? why : out->first_damage;
      out->damaged++;
    }
    if (value != NULL) {
      (void)json_array_append_new(out->lines, value);
    }
  }
}

static bool load(struct tg_run_history *out, const char *path, struct tg_error *err) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    if (errno == ENOENT) {
      return true;
    }
    tg_error_set(err, "cannot read the log of runs %s: %s", path, strerror(errno));
    return false;
  }
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char *text = size >= 0 && size <= TG_RUN_LOG_BYTES_MAX ? malloc((size_t)size + 1) : NULL;
  bool ok = text != NULL && fseek(file, 0, SEEK_SET) == 0;
  if (ok) {
    text[fread(text, 1, (size_t)size, file)] = '\0';
    ok = ferror(file) == 0;
  }
  if (ok) {
    take_text(out, path, text);
  } else if (size > TG_RUN_LOG_BYTES_MAX) {
    tg_error_set(err, "the log of runs %s is larger than %ld bytes; move it away", path, TG_RUN_LOG_BYTES_MAX);
  } else {
    tg_error_set(err, "cannot read the log of runs %s", path);
  }
  free(text);
  (void)fclose(file);
  return ok;
}

static int older_first(const void *a, const void *b) {
  const struct tg_logged_run *x = a;
  const struct tg_logged_run *y = b;
  int order = strcmp(x->start, y->start);
  return order != 0 ? order : strcmp(x->id, y->id);
}

bool tg_run_history_load(const struct tg_run_logs *logs, struct tg_run_history *out, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  out->lines = json_array();
  bool ok = out->lines != NULL;
  if (!ok) {
    tg_error_set(err, "out of memory for the log of runs");
  }
  for (size_t i = 0; ok && i < logs->num; i++) {
    ok = load(out, logs->paths[i], err);
  }
  if (!ok) {
    tg_run_history_free(out);
    return false;
  }
  if (out->num > 0) {
    qsort(out->runs, out->num, sizeof(*out->runs), older_first);
  }
  return true;
}

void tg_run_history_free(struct tg_run_history *history) {
  free(history->runs);
  json_decref(history->lines);
  memset(history, 0, sizeof(*history));
}

bool tg_run_judged_the_same(const struct tg_logged_run *run, const struct tg_report *report) {
  return run->server == NULL || report->server == NULL ? run->server == report->server
                                                       : strcmp(run->server, report->server) == 0;
}

void tg_run_history_list(const struct tg_run_history *history, struct tg_report *report) {
  report->num_earlier = 0;
  report->num_earlier_total = 0;
  report->earlier = calloc(TG_REPORT_EARLIER_MAX, sizeof(*report->earlier));
  for (size_t i = history->num; report->earlier != NULL && i > 0; i--) {
    const struct tg_logged_run *run = &history->runs[i - 1];
    if (strcmp(run->id, report->id) == 0 || !tg_run_judged_the_same(run, report) ||
        strcmp(run->environment.host, report->environment.host) != 0 ||
        !tg_environment_same_revision(&run->environment, &report->environment)) {
      continue;
    }
    // The newest come first here, and are the ones that are listed.
    if (report->num_earlier_total++ < TG_REPORT_EARLIER_MAX) {
      report->earlier[report->num_earlier++] = (struct tg_earlier_run){.id = run->id,
                                                                       .start = run->start,
                                                                       .mode = run->mode,
                                                                       .dirty = run->dirty,
                                                                       .finished = run->finished,
                                                                       .verdict = run->verdict,
                                                                       .exit_status = run->exit_status};
    }
  }
  for (size_t i = 0; i < report->num_earlier / 2; i++) {
    struct tg_earlier_run swapped = report->earlier[i];
    report->earlier[i] = report->earlier[report->num_earlier - 1 - i];
    report->earlier[report->num_earlier - 1 - i] = swapped;
  }
}
