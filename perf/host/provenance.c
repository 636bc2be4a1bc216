#include "perf/host/provenance.h"

#include <boringssl_revision.h>
#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "perf/host/stall_settings.h"
#include "perf/process/child.h"

#define GIT_TIMEOUT_S 20

_Static_assert(TG_SHA256_HEX == 2 * SHA256_DIGEST_LENGTH, "two digits a byte");

bool tg_cpu_times_read(struct tg_cpu_times *out) {
  FILE *file = fopen("/proc/stat", "re");
  if (file == NULL) {
    return false;
  }
  // user nice system idle iowait irq softirq steal (proc(5)); guest time is part of user.
  double v[8];
  int got = fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
  (void)fclose(file);
  if (got != 8) {
    return false;
  }
  *out = (struct tg_cpu_times){.idle = v[3] + v[4], .stolen = v[7]};
  for (int i = 0; i < 8; i++) {
    out->total += v[i];
  }
  return true;
}

double tg_stolen_fraction(const struct tg_cpu_times *from, const struct tg_cpu_times *to) {
  double total = to->total - from->total;
  return total > 0 ? (to->stolen - from->stolen) / total : 0;
}

static json_t *text_or_null(const char *text) {
  return text == NULL || text[0] == '\0' ? json_null() : json_string(text);
}

// Returns the rest of the line of `path` that begins with `key`, without surrounding blanks, separators and quotes.
static json_t *value_in_file(const char *path, const char *key) {
  FILE *file = fopen(path, "re");
  char line[512];
  json_t *value = NULL;
  while (file != NULL && value == NULL && fgets(line, sizeof(line), file) != NULL) {
    if (strncmp(line, key, strlen(key)) == 0) {
      char *text = line + strlen(key);
      text += strspn(text, " \t:=\"");
      text[strcspn(text, "\"\n")] = '\0';
      value = text_or_null(text);
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return value != NULL ? value : json_null();
}

// Runs git in the workspace. Returns its output, to be freed, or NULL.
static char *git(const char *workspace, const char *command, const char *argument) {
  const char *argv[] = {"git", "-C", workspace, command, argument, NULL};
  struct tg_child_result result;
  if (workspace == NULL || !tg_child_run(argv, GIT_TIMEOUT_S, &result, NULL)) {
    return NULL;
  }
  char *out = result.exit_status == 0 ? strdup(result.out) : NULL;
  tg_child_result_free(&result);
  return out;
}

static json_t *commit_of(const char *workspace) {
  char *out = git(workspace, "rev-parse", "HEAD");
  if (out != NULL) {
    out[strcspn(out, "\n")] = '\0';
  }
  json_t *commit = text_or_null(out);
  free(out);
  return commit;
}

// The files that differ from the commit, one string each; null when git cannot tell.
static json_t *dirty_files(const char *workspace) {
  char *out = git(workspace, "status", "--porcelain");
  if (out == NULL) {
    return json_null();
  }
  json_t *files = json_array();
  char *rest = out;
  for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
    if (strlen(line) > 3) {
      (void)json_array_append_new(files, json_string(line + 3));
    }
  }
  free(out);
  return files;
}

bool tg_sha256_of_file(const char *path, char out[TG_SHA256_HEX + 1], struct tg_error *err) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    tg_error_set(err, "cannot read the server binary %s: %s", path, strerror(errno));
    return false;
  }
  SHA256_CTX sha;
  SHA256_Init(&sha);
  unsigned char block[65536];
  for (size_t got; (got = fread(block, 1, sizeof(block), file)) > 0;) {
    SHA256_Update(&sha, block, got);
  }
  bool failed = ferror(file) != 0;
  (void)fclose(file);
  if (failed) {
    tg_error_set(err, "cannot read the server binary %s", path);
    return false;
  }
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_Final(digest, &sha);
  for (size_t i = 0; i < sizeof(digest); i++) {
    (void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
  }
  return true;
}

json_t *tg_load_average(void) {
  double load[3];
  return getloadavg(load, 3) == 3 ? json_pack("[f, f, f]", load[0], load[1], load[2]) : json_null();
}

json_t *tg_provenance(const char *workspace, const char *server_binary, struct tg_error *err) {
  char hash[TG_SHA256_HEX + 1];
  if (!tg_sha256_of_file(server_binary, hash, err)) {
    return NULL;
  }
  struct utsname system;
  (void)uname(&system);
  json_t *provenance =
      json_pack("{s:o, s:o, s:s, s:o, s:o, s:i, s:o, s:s, s:s, s:s, s:s, s:s, s:o, s:s}", "commit",
                commit_of(workspace), "dirty_files", dirty_files(workspace), "host", system.nodename, "label",
                text_or_null(getenv(TG_HOST_LABEL)), "cpu_model", value_in_file("/proc/cpuinfo", "model name"), "cpus",
                (int)sysconf(_SC_NPROCESSORS_ONLN), "os", value_in_file("/etc/os-release", "PRETTY_NAME"), "kernel",
                system.release, "architecture", system.machine, "compiler", __VERSION__, "flags", TG_RELEASE_FLAGS,
                "boringssl", TG_BORINGSSL_REVISION, "stall_settings", tg_stall_settings_json(), "server_sha256", hash);
  if (provenance == NULL) {
    tg_error_set(err, "out of memory collecting the provenance");
  }
  return provenance;
}
