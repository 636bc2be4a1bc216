#include "fuzz/oss-fuzz/check/seeds.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"
#include "perf/process/child.h"

#define UNZIP_TIMEOUT_S 60.0

static bool unpack(const char *zip, const char *folder, struct tg_error *err) {
  if (access(zip, R_OK) != 0) {
    tg_error_set(err, "%s cannot be read: %s", zip, strerror(errno));
    return false;
  }
  const char *argv[] = {"unzip", "-q", "-o", zip, "-d", folder, NULL};
  struct tg_child_result result;
  if (!tg_files_make_folder(folder, err) || !tg_child_run(argv, UNZIP_TIMEOUT_S, &result, err)) {
    return false;
  }
  int status = result.exit_status;
  tg_child_result_free(&result);
  if (status != 0) {
    tg_error_set(err, "%s cannot be unpacked (unzip: exit status %d)", zip, status);
  }
  return status == 0;
}

bool tg_seeds_unpack(const char *zip, const char *folder, unsigned max_len, size_t *num, struct tg_error *err) {
  struct tg_file_list seeds = {.num = 0};
  bool good = unpack(zip, folder, err) && tg_files_add(&seeds, folder, err);
  for (size_t i = 0; good && i < seeds.num; i++) {
    struct stat status;
    good = stat(seeds.paths[i], &status) == 0;
    if (!good) {
      tg_error_set(err, "%s cannot be read: %s", seeds.paths[i], strerror(errno));
    } else if (max_len > 0 && status.st_size > (off_t)max_len) {
      tg_error_set(err, "the seed %s of %s has %lld bytes, and max_len is %u", seeds.paths[i] + strlen(folder) + 1, zip,
                   (long long)status.st_size, max_len);
      good = false;
    }
  }
  if (good && seeds.num == 0) {
    tg_error_set(err, "%s has no seed", zip);
    good = false;
  }
  *num = seeds.num;
  tg_files_free(&seeds);
  return good;
}
