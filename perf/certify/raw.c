// Raw files and commands of parts.
#include <errno.h>
#include <string.h>

#include "fuzz/launcher/files.h"
#include "perf/certify/command.h"
#include "perf/certify/parts_internal.h"
#include "perf/certify/state.h"

void tg_label_path(char out[PATH_MAX], const char *folder, const char *label, const char *tail) {
  (void)snprintf(out, PATH_MAX, "%s/%.1000s%s", folder, strncmp(label, "//", 2) == 0 ? label + 2 : label, tail);
  char *colon = strrchr(out, ':');
  if (colon != NULL) {
    *colon = '/';
    if (colon > out && colon[-1] == '/') {  // //:name
      memmove(colon, colon + 1, strlen(colon));
    }
  }
}

void tg_raw_path(char out[PATH_MAX], const struct tg_part_run *run, const char *name) {
  (void)snprintf(out, PATH_MAX, "%.3800s/%.250s", run->folder, name);
}

bool tg_raw_write(const struct tg_part_run *run, const char *name, const json_t *value, struct tg_error *err) {
  return tg_state_write(run->folder, name, value, err);
}

bool tg_raw_copy(const struct tg_part_run *run, const char *from, const char *name, struct tg_error *err) {
  char to[PATH_MAX];
  struct tg_error ignored;
  tg_raw_path(to, run, name);
  return tg_files_copy(from, to, err != NULL ? err : &ignored);
}

int tg_part_command(const struct tg_part_run *run, const char *const argv[], const char *log, double limit_s,
                    struct tg_error *err) {
  char path[PATH_MAX];
  tg_raw_path(path, run, log);
  const struct tg_command command = {.argv = argv, .log = path, .limit_s = limit_s, .follow = true};
  return tg_command_run(&command, run->progress, err);
}
