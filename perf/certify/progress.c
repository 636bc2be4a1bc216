#include "perf/certify/progress.h"

#include <stdarg.h>

#include "perf/process/child.h"

#define TERMINAL_S 1.0

static void show(struct tg_progress *progress) {
  double now = tg_now_s();
  progress->shown_s = now;
  fprintf(progress->out, "%scertify: [%zu/%zu] %s, %.0f s of %.0f s; %s%snext: %s%s",
          progress->terminal ? "\r\033[K" : "", progress->number, progress->total, progress->name,
          now - progress->part_s, now - progress->started_s, progress->detail, progress->detail[0] != '\0' ? "; " : "",
          progress->next != NULL ? progress->next : "the certificate", progress->terminal ? "" : "\n");
  (void)fflush(progress->out);
}

void tg_progress_begin(struct tg_progress *progress, size_t number, const char *name, const char *next) {
  progress->number = number;
  progress->name = name;
  progress->next = next;
  progress->part_s = tg_now_s();
  progress->detail[0] = '\0';
  show(progress);
}

void tg_progress_detail(struct tg_progress *progress, const char *format, ...) {
  va_list list;
  va_start(list, format);
  (void)vsnprintf(progress->detail, sizeof(progress->detail), format, list);
  va_end(list);
  for (char *c = progress->detail; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ' || *c == 0x7f) {
      *c = ' ';
    }
  }
}

bool tg_progress_is_due(const struct tg_progress *progress) {
  return tg_now_s() - progress->shown_s >= (progress->terminal ? TERMINAL_S : TG_PROGRESS_LINE_S);
}

void tg_progress_tick(struct tg_progress *progress) {
  if (tg_progress_is_due(progress)) {
    show(progress);
  }
}

void tg_progress_end(struct tg_progress *progress, const char *verdict, const char *message) {
  fprintf(progress->out, "%scertify: [%zu/%zu] %s: %s in %.0f s%s%s\n", progress->terminal ? "\r\033[K" : "",
          progress->number, progress->total, progress->name, verdict, tg_now_s() - progress->part_s,
          message[0] != '\0' ? "; " : "", message);
  (void)fflush(progress->out);
}
