#include "harness/kernel/conformance/corpus.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 4

// Cuts `line` at the bars; spaces around a field are not part of it.
static bool split(char *line, char *fields[FIELDS]) {
  for (int i = 0; i < FIELDS; i++) {
    line += strspn(line, " ");
    fields[i] = line;
    char *bar = i + 1 < FIELDS ? strchr(line, '|') : line + strlen(line);
    if (bar == NULL) {
      return false;
    }
    line = *bar == '|' ? bar + 1 : bar;
    *bar = '\0';
    for (size_t len = strlen(fields[i]); len > 0 && fields[i][len - 1] == ' '; len--) {
      fields[i][len - 1] = '\0';
    }
  }
  return true;
}

static bool parse(struct tg_case *out, char *line, char *error, size_t error_len) {
  char *fields[FIELDS];
  if (!split(line, fields)) {
    snprintf(error, error_len, "not of the form: name | waits | delayed ACKs | schedule");
    return false;
  }
  if (strlen(fields[0]) >= sizeof(out->name) || strlen(fields[1]) > TG_AWAITS_MAX ||
      fields[1][strspn(fields[1], "-SL")] != '\0') {
    snprintf(error, error_len, "name too long, or waits other than -, S and L");
    return false;
  }
  char *end;
  errno = 0;
  out->predicted.delayed_acks = strtoull(fields[2], &end, 10);
  if (errno != 0 || *end != '\0' || end == fields[2]) {
    snprintf(error, error_len, "delayed ACKs must be a number");
    return false;
  }
  memcpy(out->name, fields[0], strlen(fields[0]) + 1);
  memcpy(out->predicted.waits, fields[1], strlen(fields[1]) + 1);
  return tg_schedule_parse(&out->schedule, fields[3], error, error_len);
}

bool tg_corpus_read(struct tg_corpus *corpus, const char *path, char *error, size_t error_len) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    snprintf(error, error_len, "%s: %s", path, strerror(errno));
    return false;
  }
  char line[TG_SCHEDULE_TEXT_MAX + 256];
  unsigned number = 0;
  bool ok = true;
  while (ok && fgets(line, sizeof(line), file) != NULL) {
    number++;
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '\0' || line[0] == '#') {
      continue;
    }
    char why[256] = "too many schedules";
    ok = corpus->num_cases < TG_CORPUS_MAX && parse(&corpus->cases[corpus->num_cases], line, why, sizeof(why));
    if (ok) {
      corpus->num_cases++;
    } else {
      snprintf(error, error_len, "%s:%u: %s", path, number, why);
    }
  }
  fclose(file);
  return ok;
}

void tg_corpus_write_case(FILE *to, const char *name, const struct tg_outcome *predicted,
                          const struct tg_schedule *schedule) {
  char text[TG_SCHEDULE_TEXT_MAX];
  tg_schedule_print(schedule, text);
  fprintf(to, "%s | %s | %" PRIu64 " | %s\n", name, predicted->waits, predicted->delayed_acks, text);
}

bool tg_case_stalls(const struct tg_case *of) {
  return strchr(of->predicted.waits, TG_WAIT_STALL) != NULL;
}
