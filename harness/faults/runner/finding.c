#include "harness/faults/runner/finding.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// A mark in a line, and what it means; with no name the word behind the mark is the name.
static const struct {
  const char *mark;
  const char *name;
} kMarks[] = {
    {"property ", NULL},
    {"[  FAILED  ] ", NULL},
    {"ERROR: AddressSanitizer", "P1"},
    {"ERROR: LeakSanitizer", "P1"},
    {"WARNING: ThreadSanitizer", "P1"},
    {"runtime error: ", "P1"},
    {": Assertion `", "assertion"},
    {"ERROR: libFuzzer: timeout", "timeout"},
    {"ERROR: libFuzzer: out-of-memory", "memory"},
    {"ERROR: libFuzzer: deadly signal", "signal"},
};

// A line, made printable: a program under test may print anything, and records are UTF-8.
static void copy_line(const char *from, char *out, size_t size) {
  size_t len = strcspn(from, "\n");
  if (len >= size) {
    len = size - 1;
  }
  for (size_t i = 0; i < len; i++) {
    out[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
  }
  out[len] = '\0';
}

// The word behind a mark. A sum ("[  FAILED  ] 2 test(s)") is none.
static bool copy_word(const char *from, char *out, size_t size) {
  size_t len = 0;
  while (len + 1 < size && (isalnum((unsigned char)from[len]) || from[len] == '_')) {
    out[len] = from[len];
    len++;
  }
  out[len] = '\0';
  return len > 0 && !isdigit((unsigned char)out[0]);
}

static bool read_mark(const char *line, size_t mark, struct tg_finding *out) {
  const char *at = strstr(line, kMarks[mark].mark);
  if (at == NULL || at > line + strcspn(line, "\n")) {
    return false;
  }
  if (kMarks[mark].name != NULL) {
    (void)snprintf(out->name, sizeof(out->name), "%s", kMarks[mark].name);
  } else if (!copy_word(at + strlen(kMarks[mark].mark), out->name, sizeof(out->name))) {
    return false;
  }
  // "property P5 broken", and no other sentence about properties.
  if (mark == 0 && strncmp(at + strlen(kMarks[mark].mark) + strlen(out->name), " broken", strlen(" broken")) != 0) {
    return false;
  }
  copy_line(line, out->line, sizeof(out->line));
  return true;
}

static const char *next_line(const char *line) {
  line += strcspn(line, "\n");
  return *line == '\n' ? line + 1 : line;
}

bool tg_finding_first(const char *output, struct tg_finding *out) {
  for (const char *line = output; *line != '\0'; line = next_line(line)) {
    for (size_t mark = 0; mark < sizeof(kMarks) / sizeof(kMarks[0]); mark++) {
      if (read_mark(line, mark, out)) {
        return true;
      }
    }
  }
  return false;
}

unsigned tg_finding_count(const char *output, const char *prefix) {
  unsigned count = 0;
  for (const char *line = output; *line != '\0'; line = next_line(line)) {
    count += strncmp(line, prefix, strlen(prefix)) == 0;
  }
  return count;
}

bool tg_finding_last_line(const char *output, const char *prefix, char *out, unsigned long size) {
  bool found = false;
  for (const char *line = output; *line != '\0'; line = next_line(line)) {
    if (strncmp(line, prefix, strlen(prefix)) == 0) {
      copy_line(line + strlen(prefix), out, size);
      found = true;
    }
  }
  return found;
}
