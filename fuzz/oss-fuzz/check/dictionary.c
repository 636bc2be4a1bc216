#include "fuzz/oss-fuzz/check/dictionary.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The bytes that the text between two quotes stands for; 0 if it is no token.
static size_t token_len(const char *text, const char *end) {
  size_t len = 0;
  for (; text < end; len++) {
    if (!isprint((unsigned char)*text) || *text == '"') {
      return 0;
    }
    if (*text != '\\') {
      text++;
    } else if (end - text >= 2 && (text[1] == '\\' || text[1] == '"')) {
      text += 2;
    } else if (end - text >= 4 && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
               isxdigit((unsigned char)text[3])) {
      text += 4;
    } else {
      return 0;
    }
  }
  return len;
}

static bool is_name(const char *text, const char *end) {
  if (text == end) {
    return true;
  }
  if (end[-1] != '=' || end - text == 1) {
    return false;
  }
  for (; text < end - 1; text++) {
    if (!isalnum((unsigned char)*text) && *text != '_' && *text != '@') {
      return false;
    }
  }
  return true;
}

static const char *wrong_with(const char *line) {
  const char *open = strchr(line, '"');
  const char *close = strrchr(line, '"');
  if (open == NULL || open == close || close[1] != '\0' || !is_name(line, open)) {
    return "not name=\"token\"";
  }
  size_t len = token_len(open + 1, close);
  if (len == 0) {
    return "a token is empty, or has an escape other than \\\\, \\\" and \\xAB";
  }
  return len > TG_DICTIONARY_TOKEN_MAX ? "a token is longer than AFL++'s 128 bytes" : NULL;
}

bool tg_dictionary_check(const char *path, struct tg_error *err) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    tg_error_set(err, "%s cannot be read: %s", path, strerror(errno));
    return false;
  }
  char *line = NULL;
  size_t capacity = 0;
  size_t tokens = 0;
  const char *wrong = NULL;
  int number = 0;
  while (wrong == NULL && getline(&line, &capacity, file) > 0) {
    number++;
    line[strcspn(line, "\r\n")] = '\0';
    const char *text = line + strspn(line, " \t");
    if (*text != '\0' && *text != '#') {
      wrong = wrong_with(text);
      tokens++;
    }
  }
  free(line);
  (void)fclose(file);
  if (wrong != NULL) {
    tg_error_set(err, "%s:%d: %s", path, number, wrong);
  } else if (tokens == 0) {
    tg_error_set(err, "%s has no token", path);
  }
  return wrong == NULL && tokens > 0;
}
