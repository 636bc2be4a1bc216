#include "perf/servers/expand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kNames[TG_PLACES] = {"scratch", "here",         "www",       "cert",     "key",
                                              "pem",     "tls_port",     "http_port", "workers",  "user",
                                              "group",   "https_server", "variant",   "client_ca"};

const char *tg_expand_names(void) {
  return "scratch here www cert key pem tls_port http_port workers user group https_server variant client_ca";
}

// Finds the next @word@ at or after `text`; *len is the word's. Returns NULL if there is none.
static const char *next_word(const char *text, size_t *len) {
  for (const char *at = strchr(text, '@'); at != NULL; at = strchr(at + 1, '@')) {
    *len = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
    if (*len > 0 && *len <= TG_EXPAND_NAME_MAX && at[1 + *len] == '@') {
      return at;
    }
  }
  return NULL;
}

static int find(const char *word, size_t len) {
  for (int i = 0; i < TG_PLACES; i++) {
    if (strlen(kNames[i]) == len && memcmp(kNames[i], word, len) == 0) {
      return i;
    }
  }
  return -1;
}

bool tg_expand_knows(const char *text, char unknown[TG_EXPAND_NAME_MAX + 1]) {
  size_t len = 0;
  for (const char *at = next_word(text, &len); at != NULL; at = next_word(at + len + 2, &len)) {
    if (find(at + 1, len) < 0) {
      (void)snprintf(unknown, TG_EXPAND_NAME_MAX + 1, "%.*s", (int)len, at + 1);
      return false;
    }
  }
  return true;
}

// Returns false with `err` filled in.
static bool write_to(FILE *out, const char *where, const char *text, const char *const values[TG_PLACES],
                     struct tg_error *err) {
  size_t len = 0;
  for (const char *at = next_word(text, &len); at != NULL; at = next_word(text, &len)) {
    int place = find(at + 1, len);
    if (place < 0) {
      tg_error_set(err, "%s: there is no placeholder @%.*s@; there are: %s", where, (int)len, at + 1,
                   tg_expand_names());
      return false;
    }
    if (values[place] == NULL) {
      tg_error_set(err, "%s: @%s@ cannot be filled in: this server has none, by its description", where, kNames[place]);
      return false;
    }
    (void)fprintf(out, "%.*s%s", (int)(at - text), text, values[place]);
    text = at + len + 2;
  }
  (void)fputs(text, out);
  return true;
}

char *tg_expand(const char *where, const char *text, const char *const values[TG_PLACES], struct tg_error *err) {
  char *made = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&made, &len);
  if (out == NULL) {
    tg_error_set(err, "out of memory");
    return NULL;
  }
  bool ok = write_to(out, where, text, values, err);
  if (fclose(out) != 0 && ok) {
    tg_error_set(err, "out of memory");
    ok = false;
  }
  if (!ok) {
    free(made);
    return NULL;
  }
  return made;
}
