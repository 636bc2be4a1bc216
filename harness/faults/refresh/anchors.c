#include "harness/faults/refresh/anchors.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool begins(const char *line, const char *prefix) {
  return strncmp(line, prefix, strlen(prefix)) == 0;
}

static const char *next_line(const char *line) {
  line += strcspn(line, "\n");
  return *line == '\n' ? line + 1 : line;
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// If `line` begins a definition or declaration of a function at its first column, copies the function's name.
static bool function_of(const char *line, char *out, size_t size) {
  if (!isalpha((unsigned char)line[0])) {
    return false;
  }
  const char *paren = memchr(line, '(', strcspn(line, "\n"));
  if (paren == NULL) {
    return false;
  }
  const char *begin = paren;
  while (begin > line && is_word(begin[-1])) {
    begin--;
  }
  // A name alone is a call, or a macro.
  if (begin == line || begin == paren || (size_t)(paren - begin) >= size) {
    return false;
  }
  (void)snprintf(out, size, "%.*s", (int)(paren - begin), begin);
  return true;
}

// What stands behind the second @@ of a hunk's head.
static const char *heading(const char *line) {
  const char *at = strstr(line + 2, "@@");
  if (at == NULL || at > line + strcspn(line, "\n")) {
    return "";
  }
  return at + 2 + strspn(at + 2, " ");
}

// The function of the hunk that begins at `line`: the last that begins before its first change, or the heading's.
static void read_hunk(const char *line, struct tg_anchor *out) {
  out->function[0] = '\0';
  (void)function_of(heading(line), out->function, sizeof(out->function));
  for (line = next_line(line); line[0] == ' '; line = next_line(line)) {
    (void)function_of(line + 1, out->function, sizeof(out->function));
  }
}

bool tg_anchors_read(const char *text, struct tg_anchors *out) {
  char path[128] = "";
  out->num = 0;
  for (const char *line = text; *line != '\0'; line = next_line(line)) {
    if (begins(line, "+++ b/")) {
      (void)snprintf(path, sizeof(path), "%.*s", (int)strcspn(line + 6, "\t\n"), line + 6);
    } else if (begins(line, "@@ ")) {
      if (out->num == TG_ANCHORS_MAX || path[0] == '\0') {
        return false;
      }
      struct tg_anchor *anchor = &out->list[out->num++];
      memcpy(anchor->path, path, sizeof(path));
      read_hunk(line, anchor);
    }
  }
  return out->num > 0;
}

bool tg_anchors_same(const struct tg_anchors *a, const struct tg_anchors *b) {
  if (a->num != b->num) {
    return false;
  }
  for (size_t i = 0; i < a->num; i++) {
    if (strcmp(a->list[i].function, b->list[i].function) != 0) {
      return false;
    }
  }
  return true;
}

bool tg_anchors_defines(const char *text, const char *function) {
  for (const char *line = text; *line != '\0'; line = next_line(line)) {
    char name[64];
    size_t len = strcspn(line, "\n");
    bool declares = len > 0 && line[len - 1] == ';';
    if (!declares && function_of(line, name, sizeof(name)) && strcmp(name, function) == 0) {
      return true;
    }
  }
  return false;
}
