#include "harness/faults/report/docs.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "harness/faults/runner/record.h"

static const char kHead[] =
    "# The fault catalogue\n"
    "\n"
    "Written by `./tlsgate faults docs` from harness/faults/catalogue; do not edit. Each fault is a patch to the\n"
    "shipped sources, harness/faults/patches/NAME.patch. `bazel test //harness/faults:all` builds each patched, and\n"
    "passes if the check that the catalogue names catches all of them and the unpatched build passes the same runs.\n"
    "\n"
    "The check is a fuzz target (fuzz/BUILD) or a test. Given is what it must say: a property (docs/properties.md),\n"
    "an assertion of the shipped code, or the name of a test. In brackets: after how many executions the check said\n"
    "so when this page was written. *own* marks a fault that the check catches with the help of the file of its own\n"
    "name in corpora/CHECK/regressions; for all others that file, if there is one, is left out of the run.\n"
    "\n"
    "To add a fault: its patch, its entry in harness/faults/catalogue, an input that shows it in\n"
    "corpora/CHECK/regressions if the corpus has none, and `./tlsgate faults docs`. After a refactoring,\n"
    "`./tlsgate faults refresh`.\n";

static bool record_of(const char *name, const char *const *records, size_t num_records, struct tg_fault_record *out,
                      struct tg_error *err) {
  for (size_t i = 0; i < num_records; i++) {
    if (!tg_fault_record_load(records[i], out, err)) {
      return false;
    }
    if (strcmp(out->fault, name) == 0) {
      return true;
    }
  }
  tg_error_set(err, "there is no record of the fault %s", name);
  return false;
}

static void write_list(const json_t *texts, const char *between, FILE *out) {
  for (size_t i = 0; i < json_array_size(texts); i++) {
    fprintf(out, "%s%s", i == 0 ? "" : between, json_string_value(json_array_get(texts, i)));
  }
}

static void write_entry(const struct tg_fault_entry *entry, const struct tg_fault_record *record, FILE *out) {
  fprintf(out, "\n## %s\n\n%s.\n\n- Kind: %s; in ", entry->name, entry->breaks, entry->kind);
  write_list(entry->sources, ", ", out);
  fprintf(out, "\n- Shown by: %s.\n- Caught by: ", entry->input);
  write_list(entry->caught_by, " or ", out);
  fprintf(out, " in %s%s [%lld, %s]\n", entry->check, entry->without_own_regression ? "" : ", *own*",
          record->executions, record->how);
  fprintf(out, "- Public reports of the kind: ");
  for (size_t i = 0; i < entry->num_reports; i++) {
    const struct tg_fault_report *report = &entry->reports[i];
    fprintf(out, "%s[%s#%lld](https://github.com/%s/issues/%lld) (%s)", i == 0 ? "" : "; ", report->project,
            report->number, report->project, report->number, report->title);
  }
  fprintf(out, "%s\n", entry->num_reports == 0 ? "none known" : "");
}

static void write_table(const struct tg_catalogue *catalogue, const char *const *records, size_t num_records,
                        FILE *out) {
  fprintf(out, "\n| fault | kind | caught by | executions |\n| --- | --- | --- | --- |\n");
  for (size_t i = 0; i < catalogue->num_entries; i++) {
    const struct tg_fault_entry *entry = &catalogue->entries[i];
    struct tg_fault_record record;
    if (record_of(entry->name, records, num_records, &record, NULL)) {
      fprintf(out, "| [%s](#%s) | %s | ", entry->name, entry->name, entry->kind);
      write_list(entry->caught_by, ", ", out);
      fprintf(out, "; %s | [%lld] |\n", entry->check, record.executions);
    }
  }
}

bool tg_fault_docs_write(const struct tg_catalogue *catalogue, const char *const *records, size_t num_records,
                         FILE *out, struct tg_error *err) {
  fprintf(out, "%s\n%zu faults:\n", kHead, catalogue->num_entries);
  write_table(catalogue, records, num_records, out);
  for (size_t i = 0; i < catalogue->num_entries; i++) {
    struct tg_fault_record record;
    if (!record_of(catalogue->entries[i].name, records, num_records, &record, err)) {
      return false;
    }
    write_entry(&catalogue->entries[i], &record, out);
  }
  return true;
}

// Drops what is in brackets and begins with a digit.
static void drop_measured(char *line) {
  char *at = strchr(line, '[');
  while (at != NULL) {
    char *end = strchr(at, ']');
    if (end != NULL && isdigit((unsigned char)at[1])) {
      memmove(at, end + 1, strlen(end + 1) + 1);
    } else {
      at++;
    }
    at = strchr(at, '[');
  }
}

static bool same_lines(FILE *page, FILE *fresh, const char *page_file, struct tg_error *err) {
  char lines[2][4096];
  for (unsigned number = 1;; number++) {
    bool more = fgets(lines[0], sizeof(lines[0]), page) != NULL;
    bool more_fresh = fgets(lines[1], sizeof(lines[1]), fresh) != NULL;
    if (!more && !more_fresh) {
      return true;
    }
    if (more && more_fresh) {
      drop_measured(lines[0]);
      drop_measured(lines[1]);
    }
    if (more != more_fresh || strcmp(lines[0], lines[1]) != 0) {
      tg_error_set(err, "%s, line %u, is not what the catalogue says; write it anew with ./tlsgate faults docs",
                   page_file, number);
      return false;
    }
  }
}

bool tg_fault_docs_same(const char *page_file, const char *fresh_file, struct tg_error *err) {
  FILE *page = fopen(page_file, "r");
  FILE *fresh = fopen(fresh_file, "r");
  bool same = false;
  if (page == NULL || fresh == NULL) {
    tg_error_set(err, "cannot read %s: %s", page == NULL ? page_file : fresh_file, strerror(errno));
  } else {
    same = same_lines(page, fresh, page_file, err);
  }
  if (page != NULL) {
    fclose(page);
  }
  if (fresh != NULL) {
    fclose(fresh);
  }
  return same;
}
