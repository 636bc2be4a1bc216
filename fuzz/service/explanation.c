#include "fuzz/service/explanation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz/launcher/engine.h"
#include "fuzz/launcher/files.h"
#include "fuzz/service/durable.h"
#include "perf/process/child.h"

#define EXPLAINER_S 20.0
#define BYTES_MAX   512u  // of an input that is shown as bytes
#define LINES_MAX   80u   // of its replay
#define LINE_LEN    512u
#define INPUT_MAX   ((size_t)1 << 20)

static void write_head(FILE *out, const struct tg_fuzz_target *target, const struct tg_candidate *candidate,
                       const struct tg_signature *signature, const char *place) {
  time_t found = (time_t)candidate->found_at_s;
  struct tm utc;
  char when[32] = "";
  if (gmtime_r(&found, &utc) != NULL) {
    (void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
  }
  fprintf(out, "%s: %s\n\n", target->name, candidate->line);
  fprintf(out, "found    %s by %s; %" PRIu64 " bytes", when, candidate->engine, candidate->size);
  if (candidate->size < candidate->original_size) {
    fprintf(out, ", minimised from %" PRIu64, candidate->original_size);
  }
  fprintf(out, "\ninput    %s\n", place);
  fprintf(out, "replay   %s %s\n", target->replay, place);
  fprintf(out, "         (TRACE=1 before the command prints the whole trace)\n");
  fprintf(out, "keep     cp %s %s/regressions/%s\n", place, target->corpus, candidate->name);
  fprintf(out, "         (once it is fixed, from the root of the source tree, under a name that says the bug)\n");
  fprintf(out, "told by  %s: %s\n", signature->kind, signature->text);
  for (int i = 0; i < signature->num_frames; i++) {
    fprintf(out, "         in %s\n", signature->frames[i]);
  }
}

static bool write_bytes(FILE *out, const char *input, struct tg_error *err) {
  size_t len;
  char *bytes = tg_fuzzd_read(input, INPUT_MAX, &len, err);
  if (bytes == NULL) {
    return false;
  }
  for (size_t row = 0; row < len && row < BYTES_MAX; row += 16) {
    fprintf(out, "%06zx ", row);
    for (size_t i = row; i < row + 16; i++) {
      if (i < len) {
        fprintf(out, " %02x", (unsigned char)bytes[i]);
      } else {
        fputs("   ", out);
      }
    }
    fputs("  ", out);
    for (size_t i = row; i < row + 16 && i < len; i++) {
      fputc(bytes[i] >= ' ' && bytes[i] < 0x7f ? bytes[i] : '.', out);
    }
    fputc('\n', out);
  }
  if (len > BYTES_MAX) {
    fprintf(out, "(%zu bytes more)\n", len - BYTES_MAX);
  }
  free(bytes);
  return true;
}

static bool write_input(FILE *out, const struct tg_fuzz_target *target, const char *input, struct tg_error *err) {
  char program[PATH_MAX];
  if (!tg_engine_runfile(TG_EXPLAINER, program, err)) {
    return false;
  }
  fputs("\nWhat the input does\n\n", out);
  const char *const argv[] = {program, "explain", "--target", target->name, input, NULL};
  struct tg_child_result said;
  if (!tg_child_run(argv, EXPLAINER_S, &said, err)) {
    return false;
  }
  bool explained = said.exit_status == 0;
  if (explained) {
    // It names the file first, which is only there for now.
    const char *line = strchr(said.out, '\n');
    fputs(said.out[0] == '/' && line != NULL ? line + 1 : said.out, out);
  }
  tg_child_result_free(&said);
  return explained || write_bytes(out, input, err);
}

// The trace that led to it, of which the end counts, or else a sanitizer's report, of which the beginning does.
static bool write_log(FILE *out, const struct tg_signature *signature, const char *log, struct tg_error *err) {
  FILE *in = fopen(log, "re");
  if (in == NULL) {
    tg_error_set(err, "cannot read %s: %s", log, strerror(errno));
    return false;
  }
  static char lines[LINES_MAX][LINE_LEN];
  size_t num = 0;
  bool begun = false;
  bool trace = false;
  char line[LINE_LEN];
  while (fgets(line, sizeof(line), in) != NULL) {
    line[strcspn(line, "\r\n")] = '\0';
    if (!begun) {
      begun = strncmp(line, signature->line, sizeof(signature->line) - 1) == 0;
      continue;
    }
    if (strncmp(line, "==", 2) == 0 || strncmp(line, "SUMMARY:", strlen("SUMMARY:")) == 0) {
      break;
    }
    trace = trace || strstr(line, "last lines:") != NULL;
    if (trace || num < LINES_MAX) {
      memcpy(lines[num++ % LINES_MAX], line, sizeof(line));
    }
  }
  fclose(in);
  fprintf(out, "\nWhat its replay says%s\n\n%s\n", num > LINES_MAX ? ", the last lines" : "", signature->line);
  size_t first = num > LINES_MAX ? num - LINES_MAX : 0;
  for (size_t i = first; i < num; i++) {
    fprintf(out, "%s\n", lines[i % LINES_MAX]);
  }
  return true;
}

char *tg_explanation(const struct tg_fuzz_target *target, const struct tg_candidate *candidate,
                     const struct tg_signature *signature, const char *input, const char *place, const char *log,
                     struct tg_error *err) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (out == NULL) {
    tg_error_set(err, "out of memory");
    return NULL;
  }
  write_head(out, target, candidate, signature, place);
  bool ok = write_input(out, target, input, err) && write_log(out, signature, log, err);
  if (fclose(out) != 0 && ok) {
    tg_error_set(err, "out of memory");
    ok = false;
  }
  if (!ok) {
    free(text);
    text = NULL;
  }
  return text;
}
