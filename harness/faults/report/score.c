#include "harness/faults/report/score.h"

#include <stdio.h>

#include "harness/faults/runner/record.h"

static void print(const struct tg_fault_record *record) {
  if (record->caught) {
    printf("caught      %-36s %-26s %s, %s, after %lld execution%s in %.1f s\n", record->fault, record->said,
           record->check, record->how, record->executions, record->executions == 1 ? "" : "s", record->seconds);
  } else if (record->said[0] == '\0') {
    printf("NOT CAUGHT  %-36s %s says nothing in %lld executions and %.1f s\n", record->fault, record->check,
           record->executions, record->seconds);
  } else {
    printf("NOT CAUGHT  %-36s %s says %s, which is not what the catalogue asks for: %s\n", record->fault, record->check,
           record->said, record->line);
  }
  if (record->input[0] != '\0') {
    printf("            input %s\n", record->input);
  }
}

bool tg_fault_score(const char *const *files, size_t num_files, struct tg_error *err) {
  size_t caught = 0;
  for (size_t i = 0; i < num_files; i++) {
    struct tg_fault_record record;
    if (!tg_fault_record_load(files[i], &record, err)) {
      return false;
    }
    print(&record);
    caught += record.caught;
  }
  printf("faults: caught %zu / %zu\n", caught, num_files);
  if (caught < num_files) {
    tg_error_set(err, "%zu of %zu faults are not caught; ./tlsgate faults list says what must catch each",
                 num_files - caught, num_files);
  }
  return caught == num_files;
}
