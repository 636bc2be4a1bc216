#include "fuzz/launcher/finding.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN 512
#define LOG_MAX      (1u << 20)  // of a log that is printed

// "property P5 broken ..." of the simulated world, or "G10: ...": a letter, a number and a colon.
static bool names_property(const char *line) {
  if (strncmp(line, "property P", strlen("property P")) == 0) {
    return true;
  }
  if (line[0] < 'A' || line[0] > 'Z' || !isdigit((unsigned char)line[1])) {
    return false;
  }
  return line[2 + (isdigit((unsigned char)line[2]) ? 1 : 0)] == ':';
}

static bool names_error(const char *line) {
  static const char *const kMarks[] = {"runtime error:", "ERROR: ", "Assertion", "WARNING: MemorySanitizer",
                                       "WARNING: ThreadSanitizer"};
  for (size_t i = 0; i < sizeof(kMarks) / sizeof(kMarks[0]); i++) {
    if (strstr(line, kMarks[i]) != NULL) {
      return true;
    }
  }
  return false;
}

void tg_finding_print(const struct tg_fuzz_target *target, const char *log_path, const char *input_path) {
  char property[LINE_MAX_LEN] = "";
  char error[LINE_MAX_LEN] = "";
  FILE *log = fopen(log_path, "re");
  char line[LINE_MAX_LEN];
  while (log != NULL && fgets(line, sizeof(line), log) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (property[0] == '\0' && names_property(line)) {
      snprintf(property, sizeof(property), "%s", line);
    } else if (error[0] == '\0' && names_error(line)) {
      snprintf(error, sizeof(error), "%s", line);
    }
  }
  if (log != NULL) {
    fclose(log);
  }
  char absolute[PATH_MAX];
  const char *path = realpath(input_path, absolute) != NULL ? absolute : input_path;
  const char *what = property[0] != '\0' ? property : error[0] != '\0' ? error : "(its output names no property)";
  printf("FINDING %s: %s\n", target->name, what);
  printf("  input:  %s\n", path);
  printf("  output: %s\n", log_path);
  printf("  replay: %s %s\n", target->replay, path);
}

// libFuzzer says "Running: FILE" before each: what came before the last is about inputs that are fine.
static long last_input(FILE *log) {
  static const char kMark[] = "Running: ";
  char line[LINE_MAX_LEN];
  long start = 0;
  for (long at = 0; fgets(line, sizeof(line), log) != NULL; at = ftell(log)) {
    if (strncmp(line, kMark, strlen(kMark)) == 0) {
      start = at;
    }
  }
  return start;
}

void tg_finding_print_log(const char *log_path) {
  FILE *log = fopen(log_path, "re");
  if (log == NULL) {
    return;
  }
  char buffer[65536];
  size_t total = 0;
  if (fseek(log, last_input(log), SEEK_SET) == 0) {
    for (size_t len; total < LOG_MAX && (len = fread(buffer, 1, sizeof(buffer), log)) > 0; total += len) {
      fwrite(buffer, 1, len, stdout);
    }
  }
  fclose(log);
}
