#include "tools/workflows/commands.h"

#include <string.h>

#define INDENT "    "

json_t *tg_commands_of(const char *text) {
  json_t *commands = json_array();
  while (*text != '\0') {
    size_t len = strcspn(text, "\n");
    const char *line = text;
    text += len + (text[len] == '\n' ? 1 : 0);
    if (len <= strlen(INDENT) || strncmp(line, INDENT, strlen(INDENT)) != 0) {
      continue;
    }
    line += strlen(INDENT);
    len -= strlen(INDENT);
    for (size_t i = 0; i + 4 <= len; i++) {
      if (strncmp(line + i, "   #", 4) == 0) {
        len = i;
      }
    }
    while (len > 0 && line[len - 1] == ' ') {
      len--;
    }
    if (len > 0) {
      (void)json_array_append_new(commands, json_stringn(line, len));
    }
  }
  return commands;
}

bool tg_commands_has(const json_t *commands, const char *line) {
  for (size_t i = 0; i < json_array_size(commands); i++) {
    if (strcmp(json_string_value(json_array_get(commands, i)), line) == 0) {
      return true;
    }
  }
  return false;
}
