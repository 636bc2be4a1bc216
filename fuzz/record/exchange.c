#include "fuzz/record/exchange.h"

#include <string.h>

#include "fuzz/schedule/files.h"
#include "fuzz/schedule/text.h"

static const char kMark[] = "# corpora:";

const char *tg_record_target_name(enum tg_record_target target) {
  static const char *const kNames[] = {
#define TG_RECORD_TEXT(name, text) text,
      TG_RECORD_TARGETS(TG_RECORD_TEXT)
#undef TG_RECORD_TEXT
  };
  return kNames[target];
}

static bool name_of(const char *path, char out[TG_EXCHANGE_NAME_MAX], struct tg_error *err) {
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  const size_t len = strlen(name);
  static const char kSuffix[] = ".txt";
  const size_t suffix = sizeof(kSuffix) - 1;
  if (len <= suffix || len - suffix >= TG_EXCHANGE_NAME_MAX || strcmp(name + len - suffix, kSuffix) != 0) {
    tg_error_set(err, "%.300s: an exchange is named NAME.txt, with a NAME of at most %d bytes", path,
                 TG_EXCHANGE_NAME_MAX - 1);
    return false;
  }
  memcpy(out, name, len - suffix);
  out[len - suffix] = '\0';
  return true;
}

static bool add_target(const char *word, size_t len, unsigned *corpora) {
  for (int i = 0; i < TG_RECORD_TARGETS_COUNT; i++) {
    const char *name = tg_record_target_name((enum tg_record_target)i);
    if (strlen(name) == len && strncmp(name, word, len) == 0) {
      *corpora |= 1u << i;
      return true;
    }
  }
  return false;
}

// The names behind the mark, up to the end of the line.
static bool read_targets(const char *path, unsigned line, const char *text, const char *end, unsigned *corpora,
                         struct tg_error *err) {
  while (text < end) {
    const char *word = text + strspn(text, " ");
    if (word >= end) {
      break;
    }
    const size_t len = strcspn(word, " \r\n");
    if (!add_target(word, len, corpora)) {
      tg_error_set(err,
                   "%.300s: line %u: \"%.*s\" has no recorded seeds: write accept_schedule, teardown_schedule, "
                   "exhaustion, handshake_bytes or request_bytes",
                   path, line, (int)(len < 40 ? len : 40), word);
      return false;
    }
    text = word + len;
  }
  return true;
}

static bool read_corpora(const char *path, const char *text, unsigned *corpora, struct tg_error *err) {
  unsigned line = 1;
  *corpora = 0;
  for (const char *at = text; *at != '\0'; line++) {
    const char *end = at + strcspn(at, "\n");
    if (strncmp(at, kMark, sizeof(kMark) - 1) == 0 &&
        !read_targets(path, line, at + sizeof(kMark) - 1, end, corpora, err)) {
      return false;
    }
    at = *end == '\n' ? end + 1 : end;
  }
  if (*corpora == 0) {
    tg_error_set(err, "%.300s: says nowhere what it is for: write a line \"%s TARGET...\"", path, kMark);
    return false;
  }
  return true;
}

bool tg_exchange_read(const char *path, struct tg_exchange *out, struct tg_error *err) {
  struct tg_whole_file file;
  if (!name_of(path, out->name, err) || !tg_whole_file_read(path, &file, err)) {
    return false;
  }
  // tg_whole_file_read leaves room for one more byte.
  file.bytes[file.len] = '\0';
  const char *text = (const char *)file.bytes;
  struct tg_error why;
  bool ok = read_corpora(path, text, &out->corpora, err);
  if (ok && !tg_schedule_assemble(text, file.len, &out->schedule, &why)) {
    tg_error_set(err, "%.300s: %s", path, why.text);
    ok = false;
  }
  tg_whole_file_free(&file);
  return ok;
}
