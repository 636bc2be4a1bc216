#include "perf/manifest/problem.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

bool tg_problem_set(struct tg_problem *problem, const char *format, ...) {
  if (problem == NULL) return false;
  va_list args;
  va_start(args, format);
  vsnprintf(problem->text, sizeof(problem->text), format, args);
  va_end(args);
  // Texts quote file names and keys, which may hold anything.
  for (char *c = problem->text; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ') *c = ' ';
  }
  return false;
}
