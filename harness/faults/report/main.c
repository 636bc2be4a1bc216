// report score RECORD...               a line for each record, and the score; fails unless all are caught
// report list CATALOGUE                the catalogue, for a person
// report docs OUT CATALOGUE RECORD...  writes docs/faults.md
// report same PAGE FRESH               fails unless docs/faults.md is what the catalogue says
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/faults/report/catalogue.h"
#include "harness/faults/report/docs.h"
#include "harness/faults/report/score.h"

static bool write_docs(const char *out, const char *catalogue_file, char **records, int num_records,
                       struct tg_error *err) {
  struct tg_catalogue *catalogue = tg_catalogue_load(catalogue_file, err);
  if (catalogue == NULL) {
    return false;
  }
  FILE *file = fopen(out, "w");
  bool ok =
      file != NULL && tg_fault_docs_write(catalogue, (const char *const *)records, (size_t)num_records, file, err);
  if (file == NULL || fclose(file) != 0) {
    tg_error_set(err, "cannot write %s: %s", out, strerror(errno));
    ok = false;
  }
  tg_catalogue_free(catalogue);
  return ok;
}

static bool list(const char *catalogue_file, struct tg_error *err) {
  struct tg_catalogue *catalogue = tg_catalogue_load(catalogue_file, err);
  if (catalogue == NULL) {
    return false;
  }
  for (size_t i = 0; i < catalogue->num_entries; i++) {
    const struct tg_fault_entry *entry = &catalogue->entries[i];
    printf("%s\n    %s\n    kind: %s\n    must be caught by: %s, which says", entry->name, entry->breaks, entry->kind,
           entry->check);
    for (size_t j = 0; j < json_array_size(entry->caught_by); j++) {
      printf("%s %s", j == 0 ? "" : " or", json_string_value(json_array_get(entry->caught_by, j)));
    }
    printf("\n");
  }
  printf("%zu faults; one test each: bazel test //harness/faults:NAME, all: bazel test //harness/faults:all\n",
         catalogue->num_entries);
  tg_catalogue_free(catalogue);
  return true;
}

int main(int argc, char **argv) {
  struct tg_error err = {""};
  bool ok;
  if (argc >= 3 && strcmp(argv[1], "score") == 0) {
    ok = tg_fault_score((const char *const *)argv + 2, (size_t)argc - 2, &err);
  } else if (argc == 3 && strcmp(argv[1], "list") == 0) {
    ok = list(argv[2], &err);
  } else if (argc >= 5 && strcmp(argv[1], "docs") == 0) {
    ok = write_docs(argv[2], argv[3], argv + 4, argc - 4, &err);
  } else if (argc == 4 && strcmp(argv[1], "same") == 0) {
    ok = tg_fault_docs_same(argv[2], argv[3], &err);
  } else {
    fprintf(stderr,
            "usage: report score RECORD... | list CATALOGUE | docs OUT CATALOGUE RECORD... | same PAGE FRESH\n");
    return 2;
  }
  (void)fflush(stdout);
  if (!ok) {
    fprintf(stderr, "faults: %s\n", err.text);
  }
  return ok ? 0 : 1;
}
