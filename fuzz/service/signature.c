#include "fuzz/service/signature.h"

#include <ctype.h>
#include <errno.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LINE_LEN     4096
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Where the compiler was told that sources are.
static const char kSources[] = "/proc/self/cwd/";
static const char *const kOurs[] = {"fuzz/", "harness/", "perf/"};

enum rank { NOTHING, OF_ENGINE, OF_SANITIZER, OF_UBSAN, OF_ASSERTION, OF_PROPERTY };

void tg_signature_template(const char *message, char *out, unsigned size) {
  unsigned len = 0;
  for (const char *c = message; *c != '\0' && len + 1 < size;) {
    bool in_word = c > message && (isalpha((unsigned char)c[-1]) || c[-1] == '_');
    if (!isdigit((unsigned char)*c) || in_word) {
      out[len++] = *c++;
      continue;
    }
    bool hexadecimal = c[0] == '0' && c[1] == 'x';
    c += hexadecimal ? 2 : 0;
    while (isdigit((unsigned char)*c) || (hexadecimal && isxdigit((unsigned char)*c)) ||
           ((*c == '.' || *c == ',') && isdigit((unsigned char)c[1]))) {
      c++;
    }
    out[len++] = 'N';
  }
  out[len] = '\0';
}

static void set_kind(struct tg_signature *out, const char *text, size_t len) {
  size_t num = 0;
  for (size_t i = 0; i < len && num + 1 < sizeof(out->kind); i++) {
    if (isalnum((unsigned char)text[i])) {
      out->kind[num++] = (char)tolower((unsigned char)text[i]);
    } else if (num > 0 && out->kind[num - 1] != '-') {
      out->kind[num++] = '-';
    }
  }
  while (num > 0 && out->kind[num - 1] == '-') {
    num--;
  }
  out->kind[num] = '\0';
}

// Takes the line if it says more than what was found so far.
static void take(struct tg_signature *out, enum rank *found, enum rank rank, const char *kind, size_t kind_len,
                 const char *line, const char *message) {
  if (rank <= *found) {
    return;
  }
  *found = rank;
  set_kind(out, kind, kind_len);
  (void)snprintf(out->line, sizeof(out->line), "%s", line);
  tg_signature_template(message, out->text, sizeof(out->text));
}

// "property P5 broken at +0.04 s, client 0, phase OPEN: what"; the name may be any word ("unmodelled").
static bool read_property(const char *line, struct tg_signature *out, enum rank *found) {
  static const char kMark[] = "property ";
  const char *broken = strstr(line, " broken at ");
  if (strncmp(line, kMark, strlen(kMark)) == 0 && broken != NULL) {
    const char *name = line + strlen(kMark);
    const char *what = strstr(broken, ": ");
    take(out, found, OF_PROPERTY, name, (size_t)(broken - name), line, what != NULL ? what + 2 : "");
    return true;
  }
  // "breach of unmodelled at 12 ns: what", of the simulated kernel without a world around it.
  static const char kBreach[] = "breach of ";
  const char *at = strstr(line, " at ");
  if (strncmp(line, kBreach, strlen(kBreach)) == 0 && at != NULL) {
    const char *name = line + strlen(kBreach);
    const char *what = strstr(at, ": ");
    take(out, found, OF_PROPERTY, name, (size_t)(at - name), line, what != NULL ? what + 2 : "");
    return true;
  }
  // "G10: what"
  size_t digits = line[0] >= 'A' && line[0] <= 'Z' ? strspn(line + 1, "0123456789") : 0;
  if (digits >= 1 && digits <= 2 && line[1 + digits] == ':') {
    take(out, found, OF_PROPERTY, line, 1 + digits, line, line + 2 + digits);
    return true;
  }
  return false;
}

// "ERROR: AddressSanitizer: heap-use-after-free on address 0x..."
static bool read_sanitizer(const char *line, struct tg_signature *out, enum rank *found) {
  static const char *const kMarks[] = {"ERROR: AddressSanitizer: ",           "ERROR: LeakSanitizer: ",
                                       "WARNING: MemorySanitizer: ",          "WARNING: ThreadSanitizer: ",
                                       "ERROR: UndefinedBehaviorSanitizer: ", "ERROR: libFuzzer: "};
  for (size_t i = 0; i < COUNT(kMarks); i++) {
    const char *mark = strstr(line, kMarks[i]);
    if (mark == NULL) {
      continue;
    }
    const char *what = mark + strlen(kMarks[i]);
    bool engine = i == COUNT(kMarks) - 1;
    // The first words are the type: what follows has addresses, sizes and processes.
    size_t len = engine || i == 1 ? strcspn(what, "(\n") : strcspn(what, " \n");
    char type[128];
    (void)snprintf(type, sizeof(type), "%.*s", (int)len, what);
    if (strncmp(type, "timeout", strlen("timeout")) == 0) {
      (void)snprintf(type, sizeof(type), "timeout");
    }
    take(out, found, engine ? OF_ENGINE : OF_SANITIZER, type, strlen(type), line, type);
    return true;
  }
  return false;
}

static void read_line(const char *line, struct tg_signature *out, enum rank *found) {
  static const char kUbsan[] = "runtime error: ";
  const char *ubsan = strstr(line, kUbsan);
  const char *assertion = strstr(line, "Assertion `");
  if (read_property(line, out, found) || read_sanitizer(line, out, found)) {
    return;
  }
  if (ubsan != NULL) {
    take(out, found, OF_UBSAN, "undefined", strlen("undefined"), line, ubsan + strlen(kUbsan));
  } else if (assertion != NULL) {
    take(out, found, OF_ASSERTION, "assertion", strlen("assertion"), line, assertion);
  }
}

static bool is_ours(const char *path) {
  if (strncmp(path, kSources, strlen(kSources)) != 0) {
    return false;
  }
  for (size_t i = 0; i < COUNT(kOurs); i++) {
    if (strncmp(path + strlen(kSources), kOurs[i], strlen(kOurs[i])) == 0) {
      return true;
    }
  }
  return false;
}

struct stack {
  char ours[TG_SIGNATURE_FRAMES][160];
  int num_ours;
  char bare[TG_SIGNATURE_FRAMES][160];  // without symbols
  int num_bare;
};

// "    #7 0x55d022ccdade in function /proc/self/cwd/fuzz/x.c:22:5", or "    #7 0x55d0 (/path/program+0x1f) (BuildId:
// 1)". Returns whether the line is a frame.
static bool read_frame(const char *line, struct stack *stack) {
  const char *at = line + strspn(line, " ");
  size_t digits = *at == '#' ? strspn(at + 1, "0123456789") : 0;
  if (digits == 0 || strncmp(at + 1 + digits, " 0x", 3) != 0) {
    return false;
  }
  const char *in = strstr(at, " in ");
  const char *path = strrchr(at, ' ');
  if (in != NULL && is_ours(path + 1)) {
    const char *function = in + strlen(" in ");
    const char *file = path + 1 + strlen(kSources);
    if (stack->num_ours < TG_SIGNATURE_FRAMES) {
      (void)snprintf(stack->ours[stack->num_ours++], sizeof(stack->ours[0]), "%.*s %.*s", (int)strcspn(function, " "),
                     function, (int)strcspn(file, ":"), file);
    }
    return true;
  }
  const char *offset = in == NULL ? strstr(at, "+0x") : NULL;
  if (offset != NULL && stack->num_bare < TG_SIGNATURE_FRAMES) {
    const char *name = offset;
    while (name > at && name[-1] != '/' && name[-1] != '(') {
      name--;
    }
    // The C library's own, below abort(), says nothing.
    if (strncmp(name, "libc.", strlen("libc.")) != 0) {
      (void)snprintf(stack->bare[stack->num_bare++], sizeof(stack->bare[0]), "%.*s", (int)strcspn(name, ") "), name);
    }
  }
  return true;
}

static void set_key(struct tg_signature *out) {
  char all[2048];
  int len = snprintf(all, sizeof(all), "%s\n%s\n", out->kind, out->text);
  for (int i = 0; i < out->num_frames; i++) {
    len += snprintf(all + len, sizeof(all) - (size_t)len, "%s\n", out->frames[i]);
  }
  uint8_t digest[SHA_DIGEST_LENGTH];
  SHA1((const uint8_t *)all, (size_t)len, digest);
  for (size_t i = 0; i < TG_SIGNATURE_KEY / 2; i++) {
    (void)snprintf(out->key + 2 * i, 3, "%02x", digest[i]);
  }
}

bool tg_signature_read(const char *log_path, struct tg_signature *out, struct tg_error *err) {
  *out = (struct tg_signature){.num_frames = 0};
  FILE *log = fopen(log_path, "re");
  if (log == NULL) {
    tg_error_set(err, "cannot read %s: %s", log_path, strerror(errno));
    return false;
  }
  enum rank found = NOTHING;
  struct stack stack = {.num_ours = 0};
  bool in_stack = false;
  bool whole = false;  // the first stack with a frame of ours has ended
  char line[LINE_LEN];
  while (fgets(line, sizeof(line), log) != NULL) {
    line[strcspn(line, "\r\n")] = '\0';
    if (!whole && read_frame(line, &stack)) {
      in_stack = true;
      continue;
    }
    whole = whole || (in_stack && stack.num_ours > 0);
    in_stack = false;
    read_line(line, out, &found);
  }
  fclose(log);
  if (found == NOTHING) {
    // It ended without a word: still a finding.
    static const char kSilent[] = "its output names no property";
    take(out, &found, OF_ENGINE, "ended", strlen("ended"), kSilent, kSilent);
  }
  bool by_chance = found == OF_ENGINE && (strcmp(out->kind, "timeout") == 0 || strcmp(out->kind, "out-of-memory") == 0);
  if (!by_chance) {
    bool ours = stack.num_ours > 0;
    out->num_frames = ours ? stack.num_ours : stack.num_bare;
    memcpy(out->frames, ours ? stack.ours : stack.bare, sizeof(out->frames));
  }
  set_key(out);
  return true;
}
