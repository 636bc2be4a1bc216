#include "perf/baseline/deposit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/baseline/fields.h"
#include "perf/manifest/strict_json.h"
#include "perf/report/folder.h"
#include "perf/report/json_fields.h"
#include "perf/report/run_log.h"

#define SERIES_FILE   "series.json"
#define SERIES_SCHEMA 1
#define SUFFIX        ".json"

static bool in_folder(char out[PATH_MAX], const char *folder, const char *name, const char *suffix,
                      struct tg_error *err) {
  if (snprintf(out, PATH_MAX, "%s/%s%s", folder, name, suffix) < PATH_MAX) {
    return true;
  }
  tg_error_set(err, "%s: the path is too long", folder);
  return false;
}

// Writes `text` to a new file in `folder`, whose path is stored in `beside`.
static bool write_beside(char beside[PATH_MAX], const char *folder, const char *text, struct tg_error *err) {
  if (!in_folder(beside, folder, ".deposit-XXXXXX", "", err)) {
    return false;
  }
  const int fd = mkostemp(beside, O_CLOEXEC);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (file == NULL) {
    tg_error_set(err, "%s: cannot be made: %s", beside, strerror(errno));
    if (fd >= 0) {
      (void)close(fd);
      (void)unlink(beside);
    }
    return false;
  }
  const bool written = fputs(text, file) >= 0 && fchmod(fd, 0644) == 0;
  if (fclose(file) == 0 && written) {
    return true;
  }
  tg_error_set(err, "%s: cannot be written: %s", beside, strerror(errno));
  (void)unlink(beside);
  return false;
}

static bool is_same(const char *path, const char *text, struct tg_error *err) {
  json_t *there = tg_json_load(path, err);
  json_t *here = tg_json_parse(path, text, strlen(text), err);
  const bool same = there != NULL && here != NULL && json_equal(there, here) != 0;
  if (!same && there != NULL) {
    tg_error_set(err, "%s: another report of the same run is there already; one run has one report", path);
  }
  json_decref(there);
  json_decref(here);
  return same;
}

bool tg_deposit_add(const char *folder, const struct tg_report *report, struct tg_error *err) {
  char path[PATH_MAX];
  char beside[PATH_MAX];
  if (!in_folder(path, folder, report->id, SUFFIX, err) || !tg_folder_make(folder, err)) {
    return false;
  }
  char *text = tg_json_dump(tg_report_encode(report));
  if (text == NULL) {
    tg_error_set(err, "%s: out of memory", path);
    return false;
  }
  bool ok = write_beside(beside, folder, text, err);
  if (ok) {
    // link(2), unlike rename(2), never replaces.
    if (link(beside, path) != 0) {
      const int failure = errno;
      ok = failure == EEXIST && is_same(path, text, err);
      if (failure != EEXIST) {
        tg_error_set(err, "%s: cannot be made: %s", path, strerror(failure));
      }
    }
    (void)unlink(beside);
  }
  free(text);
  return ok;
}

static bool is_deposit(const char *name) {
  const size_t len = strlen(name);
  return name[0] != '.' && strcmp(name, SERIES_FILE) != 0 && len > strlen(SUFFIX) &&
         strcmp(name + len - strlen(SUFFIX), SUFFIX) == 0;
}

static int newest_first(const void *a, const void *b) {
  const struct tg_report *const *left = a;
  const struct tg_report *const *right = b;
  const int order = strcmp((*right)->start, (*left)->start);
  return order != 0 ? order : strcmp((*left)->id, (*right)->id);
}

static void add_problem(struct tg_deposits *out, const char *text) {
  (void)snprintf(out->problems[out->num_problems++], sizeof(out->problems[0]), "%s", text);
}

static void read_one(struct tg_deposits *out, const char *folder, const char *name) {
  struct tg_error err;
  char path[PATH_MAX];
  struct tg_report *report = NULL;
  if (in_folder(path, folder, name, "", &err)) {
    report = tg_report_load(path, &err);
  }
  if (report == NULL) {
    add_problem(out, err.text);
  } else if (strncmp(report->id, name, strlen(report->id)) != 0 || strcmp(name + strlen(report->id), SUFFIX) != 0) {
    tg_error_set(&err, "%s: is the report of the run %s; a deposit is named for its run", path, report->id);
    add_problem(out, err.text);
    tg_report_free(report);
  } else {
    out->reports[out->num++] = report;
  }
}

bool tg_deposits_read(struct tg_deposits *out, const char *folder, struct tg_error *err) {
  *out = (struct tg_deposits){.num = 0};
  DIR *entries = opendir(folder);
  if (entries == NULL) {
    if (errno == ENOENT) {
      return true;
    }
    tg_error_set(err, "%s: cannot be read: %s", folder, strerror(errno));
    return false;
  }
  out->reports = calloc(TG_DEPOSITS_MAX, sizeof(struct tg_report *));
  out->problems = calloc(TG_DEPOSITS_MAX + 1, sizeof(out->problems[0]));
  if (out->reports == NULL || out->problems == NULL) {
    free((void *)out->reports);
    free(out->problems);
    *out = (struct tg_deposits){.num = 0};
    (void)closedir(entries);
    tg_error_set(err, "%s: out of memory", folder);
    return false;
  }
  bool ok = true;
  size_t seen = 0;
  for (const struct dirent *entry; ok && (entry = readdir(entries)) != NULL;) {
    if (!is_deposit(entry->d_name)) {
      continue;
    }
    if (++seen > TG_DEPOSITS_MAX) {
      tg_error_set(err, "%s: more than %d deposits; move the oldest away", folder, TG_DEPOSITS_MAX);
      ok = false;
    } else {
      read_one(out, folder, entry->d_name);
    }
  }
  (void)closedir(entries);
  if (!ok) {
    tg_deposits_release(out);
    return false;
  }
  qsort((void *)out->reports, out->num, sizeof(struct tg_report *), newest_first);
  return true;
}

void tg_deposits_release(struct tg_deposits *deposits) {
  for (size_t i = 0; i < deposits->num; i++) {
    tg_report_free(deposits->reports[i]);
  }
  free((void *)deposits->reports);
  free(deposits->problems);
  *deposits = (struct tg_deposits){.num = 0};
}

bool tg_series_start(const char *folder, struct tg_error *err) {
  char path[PATH_MAX];
  char beside[PATH_MAX];
  char date[32];
  tg_time_text(date);
  if (!in_folder(path, folder, SERIES_FILE, "", err) || !tg_folder_make(folder, err)) {
    return false;
  }
  char *text = tg_json_dump(json_pack("{s:i, s:s}", "schema", SERIES_SCHEMA, "started", date));
  bool ok = text != NULL && write_beside(beside, folder, text, err);
  if (ok && rename(beside, path) != 0) {
    tg_error_set(err, "%s: cannot be written: %s", path, strerror(errno));
    (void)unlink(beside);
    ok = false;
  }
  free(text);
  return ok;
}

bool tg_series_started(char out[32], const char *folder, struct tg_error *err) {
  char path[PATH_MAX];
  struct tg_json_place root;
  const char *started = NULL;
  out[0] = '\0';
  if (!in_folder(path, folder, SERIES_FILE, "", err)) {
    return false;
  }
  if (access(path, F_OK) != 0 && errno == ENOENT) {
    return true;
  }
  json_t *json = tg_json_load(path, err);
  const bool ok = json != NULL && tg_json_open(&root, path, json, err) &&
                  tg_generated_schema(&root, SERIES_SCHEMA, "start a series anew: ./tlsgate record --fresh-samples") &&
                  tg_field_time(&root, "started", &started) && tg_json_close(&root);
  if (ok) {
    (void)snprintf(out, 32, "%s", started);
  }
  json_decref(json);
  return ok;
}
