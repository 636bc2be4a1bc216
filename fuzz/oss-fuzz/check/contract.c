#include "fuzz/oss-fuzz/check/contract.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"
#include "fuzz/oss-fuzz/check/dictionary.h"
#include "fuzz/oss-fuzz/check/elf_file.h"
#include "fuzz/oss-fuzz/check/instrumentation.h"
#include "fuzz/oss-fuzz/check/options_file.h"
#include "fuzz/oss-fuzz/check/seeds.h"
#include "fuzz/oss-fuzz/check/trial.h"
#include "perf/process/child.h"

#define ENTRY       "LLVMFuzzerTestOneInput"
#define TARGETS_MAX 256

// glibc's, which the service's runners have.
static const char *const c_library[] = {"libc.so.6",  "libm.so.6",      "libpthread.so.0",      "libdl.so.2",
                                        "librt.so.1", "libresolv.so.2", "ld-linux-x86-64.so.2", NULL};

static bool has(const char *const *list, const char *name) {
  for (; list != NULL && *list != NULL; list++) {
    if (strcmp(*list, name) == 0) {
      return true;
    }
  }
  return false;
}

static bool check_libraries(const struct tg_elf *elf, const char *const *more, struct tg_error *err) {
  const char *needed = NULL;
  for (size_t i = 0; (needed = tg_elf_needed(elf, i)) != NULL; i++) {
    if (!has(c_library, needed) && !has(more, needed)) {
      tg_error_set(err, "needs %s, which the service's machines do not have: link it statically", needed);
      return false;
    }
  }
  return true;
}

static bool check_program(const struct tg_contract *contract, const char *program, struct tg_error *err) {
  struct tg_elf elf;
  if (!tg_elf_open(program, &elf, err)) {
    return false;
  }
  struct tg_instrumentation counts;
  bool good = check_libraries(&elf, contract->more, err) &&
              tg_instrumentation_count(program, &elf, contract->combination, &counts, err) &&
              tg_instrumentation_check(&counts, contract->combination, err);
  tg_elf_close(&elf);
  return good;
}

// Files beside the program, and the runs, which need them.
static bool check_files(const struct tg_contract *contract, const char *name, struct tg_error *err) {
  char path[PATH_MAX];
  char seeds[PATH_MAX];
  char written[PATH_MAX];
  struct tg_options_file options;
  size_t num_seeds = 0;
  tg_path(path, "%s/%s.options", contract->out, name);
  if (!tg_options_file_read(path, &options, err)) {
    return false;
  }
  if (options.dict[0] != '\0') {
    tg_path(path, "%s/%s", contract->out, options.dict);
    if (!tg_dictionary_check(path, err)) {
      return false;
    }
  }
  tg_path(path, "%s/%s_seed_corpus.zip", contract->out, name);
  tg_path(seeds, "%s/%s-seeds", contract->scratch, name);
  tg_path(written, "%s/%s", contract->scratch, name);
  if (!tg_seeds_unpack(path, seeds, options.max_len, &num_seeds, err) || !tg_files_make_folder(written, err)) {
    return false;
  }
  if (chdir(written) != 0) {
    tg_error_set(err, "cannot enter %s: %s", written, strerror(errno));
    return false;
  }
  const struct tg_trial trial = {
      .combination = contract->combination,
      .out = contract->out,
      .name = name,
      .seeds = seeds,
      .num_seeds = num_seeds,
      .scratch = written,
      .options = &options,
      .llvm_cov = contract->llvm_cov,
      .llvm_profdata = contract->llvm_profdata,
  };
  bool good = tg_trial_start(&trial, err) && tg_trial_fuzz(&trial, err);
  return chdir("/") == 0 && good;
}

bool tg_contract_target(const struct tg_contract *contract, const char *name, struct tg_error *err) {
  char program[PATH_MAX];
  struct tg_error why = {.text = ""};
  tg_path(program, "%s/%s", contract->out, name);
  if (access(program, X_OK) != 0) {
    tg_error_set(err, "%s: cannot be run: %s", name, strerror(errno));
    return false;
  }
  if (!check_program(contract, program, &why) || !check_files(contract, name, &why)) {
    tg_error_set(err, "%s: %s", name, why.text);
    return false;
  }
  return true;
}

// As the service tells a target from what else lies there: by its name, its mode and the function.
static bool is_target(const char *folder, const char *name) {
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  char path[PATH_MAX];
  struct stat status;
  struct tg_elf elf;
  tg_path(path, "%s/%s", folder, name);
  if (name[strspn(name, allowed)] != '\0' || strncmp(name, "afl-", 4) == 0 || stat(path, &status) != 0 ||
      !S_ISREG(status.st_mode) || !tg_elf_open(path, &elf, NULL)) {
    return false;
  }
  bool found = tg_elf_has_symbol(&elf, ENTRY);
  tg_elf_close(&elf);
  return found;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

bool tg_contract_check(const struct tg_contract *contract, FILE *lines, struct tg_contract_result *result) {
  char *names[TARGETS_MAX];
  *result = (struct tg_contract_result){.targets = 0};
  DIR *folder = opendir(contract->out);
  for (const struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
    if (result->targets < TARGETS_MAX && is_target(contract->out, entry->d_name)) {
      names[result->targets++] = strdup(entry->d_name);
    }
  }
  if (folder != NULL) {
    (void)closedir(folder);
  }
  qsort(names, result->targets, sizeof(names[0]), by_name);
  for (size_t i = 0; i < result->targets; i++) {
    struct tg_error err;
    double start = tg_now_s();
    bool good = tg_contract_target(contract, names[i], &err);
    result->bad += !good;
    if (good) {
      (void)fprintf(lines, "  good  %s (%.1f s)\n", names[i], tg_now_s() - start);
    } else {
      (void)fprintf(lines, "  BAD   %s\n", err.text);
    }
    (void)fflush(lines);
    free(names[i]);
  }
  if (result->targets == 0) {
    (void)fprintf(lines, "  BAD   %s has no program with " ENTRY "\n", contract->out);
  }
  tg_files_remove_folder(contract->scratch);
  return result->targets > 0 && result->bad == 0;
}
