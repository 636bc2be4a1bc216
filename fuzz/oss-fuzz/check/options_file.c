#include "fuzz/oss-fuzz/check/options_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// libFuzzer's flags that a target may set for itself: https://llvm.org/docs/LibFuzzer.html#options.
static const char *const libfuzzer_keys[] = {
    "close_fd_mask", "detect_leaks", "dict", "len_control", "malloc_limit_mb",   "max_len",
    "only_ascii",    "rss_limit_mb", "runs", "timeout",     "use_value_profile", NULL};
// https://github.com/google/sanitizers/wiki/SanitizerCommonFlags and AddressSanitizerFlags.
static const char *const sanitizer_keys[] = {"allocator_may_return_null",
                                             "allocator_release_to_os_interval_ms",
                                             "allow_user_segv_handler",
                                             "detect_leaks",
                                             "detect_stack_use_after_return",
                                             "handle_abort",
                                             "handle_segv",
                                             "malloc_context_size",
                                             "max_malloc_fill_size",
                                             "print_stacktrace",
                                             "quarantine_size_mb",
                                             "silence_unsigned_overflow",
                                             "strict_string_checks",
                                             "symbolize",
                                             "thread_local_quarantine_size_kb",
                                             NULL};
// The only ones that ClusterFuzz passes on.
static const char *const env_keys[] = {"AFL_DRIVER_DONT_DEFER", "GODEBUG", NULL};

static const struct section {
  const char *name;
  const char *const *keys;
} sections[] = {{"libfuzzer", libfuzzer_keys},
                {"asan", sanitizer_keys},
                {"ubsan", sanitizer_keys},
                {"msan", sanitizer_keys},
                {"env", env_keys}};

struct reader {
  const char *path;
  int line;
  const struct section *section;
  struct tg_options_file *out;
  struct tg_error *err;
};

static bool refuse(struct reader *reader, const char *what, const char *text) {
  tg_error_set(reader->err, "%s:%d: %s \"%.60s\"", reader->path, reader->line, what, text);
  return false;
}

static char *trimmed(char *text) {
  text += strspn(text, " \t\r");
  size_t len = strlen(text);
  while (len > 0 && isspace((unsigned char)text[len - 1])) {
    len--;
  }
  text[len] = '\0';
  return text;
}

static bool read_section(struct reader *reader, char *text) {
  size_t len = strlen(text);
  if (len < 2 || text[len - 1] != ']') {
    return refuse(reader, "a section must end with ]:", text);
  }
  text[len - 1] = '\0';
  for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
    if (strcmp(sections[i].name, text + 1) == 0) {
      reader->section = &sections[i];
      return true;
    }
  }
  return refuse(reader, "ClusterFuzz knows no section", text + 1);
}

static bool is_number(const char *text) {
  char *end = NULL;
  errno = 0;
  (void)strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && errno == 0;
}

static bool read_libfuzzer(struct reader *reader, const char *key, const char *value) {
  struct tg_options_file *out = reader->out;
  if (strcmp(key, "dict") == 0) {
    if (strlen(value) >= sizeof(out->dict) || strchr(value, '/') != NULL || *value == '\0') {
      return refuse(reader, "dict must be the name of a file beside this one, not", value);
    }
    (void)snprintf(out->dict, sizeof(out->dict), "%s", value);
    return true;
  }
  if (!is_number(value)) {
    return refuse(reader, "a number is wanted, not", value);
  }
  if (strcmp(key, "max_len") == 0) {
    out->max_len = (unsigned)strtoul(value, NULL, 10);
  }
  if (out->num_args == TG_OPTIONS_ARGS_MAX || strlen(key) + strlen(value) + 3 > sizeof(out->args[0])) {
    return refuse(reader, "too much for one file:", key);
  }
  (void)snprintf(out->args[out->num_args++], sizeof(out->args[0]), "-%.30s=%.30s", key, value);
  return true;
}

static bool read_key(struct reader *reader, char *text) {
  char *equals = strchr(text, '=');
  if (equals == NULL) {
    return refuse(reader, "neither [section] nor key = value:", text);
  }
  *equals = '\0';
  const char *key = trimmed(text);
  const char *value = trimmed(equals + 1);
  if (reader->section == NULL) {
    return refuse(reader, "no section above the key", key);
  }
  const char *const *known = reader->section->keys;
  while (*known != NULL && strcmp(*known, key) != 0) {
    known++;
  }
  if (*known == NULL) {
    return refuse(reader, "its section has no key", key);
  }
  return strcmp(reader->section->name, "libfuzzer") != 0 || read_libfuzzer(reader, key, value);
}

bool tg_options_file_read(const char *path, struct tg_options_file *out, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    tg_error_set(err, "%s cannot be read: %s", path, strerror(errno));
    return false;
  }
  struct reader reader = {.path = path, .out = out, .err = err};
  char *line = NULL;
  size_t capacity = 0;
  bool good = true;
  while (good && getline(&line, &capacity, file) > 0) {
    reader.line++;
    char *text = trimmed(line);
    if (*text == '\0' || *text == '#' || *text == ';') {
      continue;
    }
    good = *text == '[' ? read_section(&reader, text) : read_key(&reader, text);
  }
  free(line);
  (void)fclose(file);
  return good;
}
