#include "fuzz/oss-fuzz/check/instrumentation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/process/child.h"

// The longest that a program of the service's size took was a tenth of it.
#define OBJDUMP_TIMEOUT_S 300.0

static bool is(const char *text, const char *other) {
  return strcmp(text, other) == 0;
}

static uint64_t edges_of(const struct tg_elf *elf, const struct tg_combination *combination) {
  if (is(combination->sanitizer, "coverage")) {
    return tg_elf_section_size(elf, "__llvm_prf_cnts") / 8;
  }
  if (is(combination->engine, "afl")) {
    // Without its runtime the counters count for nobody.
    return tg_elf_has_symbol(elf, "__afl_area_ptr") ? tg_elf_section_size(elf, "__sancov_guards") / 4 : 0;
  }
  return tg_elf_section_size(elf, "__sancov_cntrs");
}

// "  4011f6:  e8 b5 ...   callq  401030 <__asan_report_load8>"; newer ones write call.
static void count_line(const char *line, struct tg_instrumentation *out) {
  const char *call = strstr(line, "\tcall");
  const char *name = call == NULL ? NULL : strchr(call, '<');
  if (name == NULL) {
    return;
  }
  out->asan_calls += strncmp(name, "<__asan", 7) == 0;
  out->msan_calls += strncmp(name, "<__msan", 7) == 0;
  out->ubsan_calls += strncmp(name, "<__ubsan", 8) == 0;
}

bool tg_instrumentation_count(const char *program, const struct tg_elf *elf, const struct tg_combination *combination,
                              struct tg_instrumentation *out, struct tg_error *err) {
  *out = (struct tg_instrumentation){.edges = edges_of(elf, combination)};
  const char *argv[] = {"objdump", "-d", "--no-show-raw-insn", program, NULL};
  int fd = -1;
  pid_t pid = tg_child_start(argv, NULL, NULL, &fd, err);
  if (pid < 0) {
    return false;
  }
  FILE *lines = fdopen(fd, "r");
  char *line = NULL;
  size_t capacity = 0;
  while (lines != NULL && getline(&line, &capacity, lines) > 0) {
    count_line(line, out);
  }
  free(line);
  if (lines != NULL) {
    (void)fclose(lines);
  }
  bool killed = false;
  int status = tg_child_wait(pid, OBJDUMP_TIMEOUT_S, &killed);
  if (status != 0) {
    tg_error_set(err, "objdump -d %s failed with exit status %d (package binutils)", program, status);
  }
  return status == 0;
}

bool tg_instrumentation_check(const struct tg_instrumentation *counts, const struct tg_combination *combination,
                              struct tg_error *err) {
  if (counts->edges < TG_EDGES_MIN) {
    tg_error_set(err, "not instrumented: %" PRIu64 " edges counted by %s, at least %u wanted (CFLAGS did not reach it)",
                 counts->edges, is(combination->sanitizer, "coverage") ? "Clang's coverage" : combination->engine,
                 TG_EDGES_MIN);
    return false;
  }
  // As the service: with another engine than libFuzzer, UBSan's calls tell nothing.
  const struct {
    const char *sanitizer;
    const char *name;
    uint64_t calls;
    uint64_t min;      // of its own build
    uint64_t foreign;  // of another's, at most
  } rules[] = {
      {"address", "ASan", counts->asan_calls, TG_ASAN_CALLS_MIN, 0},
      {"memory", "MSan", counts->msan_calls, TG_MSAN_CALLS_MIN, TG_MSAN_CALLS_FOREIGN},
      {"undefined", "UBSan", counts->ubsan_calls, TG_UBSAN_CALLS_MIN, TG_UBSAN_CALLS_FOREIGN},
  };
  for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
    if (is(rules[i].sanitizer, combination->sanitizer)) {
      if (rules[i].calls < rules[i].min) {
        tg_error_set(err, "not compiled with %s: %" PRIu64 " calls into it, at least %" PRIu64 " wanted", rules[i].name,
                     rules[i].calls, rules[i].min);
        return false;
      }
    } else if (rules[i].calls > rules[i].foreign) {
      tg_error_set(err, "compiled with %s, which SANITIZER=%s does not ask for: %" PRIu64 " calls, at most %" PRIu64,
                   rules[i].name, combination->sanitizer, rules[i].calls, rules[i].foreign);
      return false;
    }
  }
  return true;
}
