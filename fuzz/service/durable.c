#include "fuzz/service/durable.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/launcher/files.h"

// Of an input that is copied or named: corpora have KiB.
#define INPUT_MAX ((size_t)64 << 20)

static bool write_all(int fd, const char *bytes, size_t len) {
  while (len > 0) {
    ssize_t wrote = write(fd, bytes, len);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0) {
      return false;
    }
    bytes += wrote;
    len -= (size_t)wrote;
  }
  return fsync(fd) == 0;
}

static void sync_folder(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    // A file system that cannot do this has no folders to lose.
    (void)fsync(fd);
    close(fd);
  }
}

bool tg_fuzzd_write(const char *path, const void *bytes, size_t len, struct tg_error *err) {
  char folder[PATH_MAX];
  char beside[PATH_MAX];
  char parted[PATH_MAX];
  tg_path(parted, "%s", path);
  tg_path(folder, "%s", dirname(parted));
  tg_path(beside, "%s/" TG_FUZZD_BESIDE "XXXXXX", folder);
  int fd = mkostemp(beside, O_CLOEXEC);
  bool ok = fd >= 0 && fchmod(fd, 0644) == 0 && write_all(fd, bytes, len);
  ok = (fd < 0 || close(fd) == 0) && ok && rename(beside, path) == 0;
  if (!ok) {
    tg_error_set(err, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0) {
      (void)unlink(beside);
    }
    return false;
  }
  sync_folder(folder);
  return true;
}

char *tg_fuzzd_read(const char *path, size_t max, size_t *len, struct tg_error *err) {
  FILE *file = fopen(path, "rbe");
  struct stat status;
  char *bytes = NULL;
  if (file != NULL && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && (size_t)status.st_size <= max) {
    bytes = malloc((size_t)status.st_size + 1);
  } else if (file != NULL) {
    errno = EFBIG;
  }
  if (bytes == NULL) {
    tg_error_set(err, "cannot read %s: %s", path, strerror(errno));
  } else {
    *len = fread(bytes, 1, (size_t)status.st_size, file);
    bytes[*len] = '\0';
    if (ferror(file)) {
      tg_error_set(err, "cannot read %s: %s", path, strerror(errno));
      free(bytes);
      bytes = NULL;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return bytes;
}

bool tg_fuzzd_copy(const char *from, const char *to, struct tg_error *err) {
  size_t len;
  char *bytes = tg_fuzzd_read(from, INPUT_MAX, &len, err);
  bool ok = bytes != NULL && tg_fuzzd_write(to, bytes, len, err);
  free(bytes);
  return ok;
}

void tg_fuzzd_sweep(const char *folder) {
  DIR *dir = opendir(folder);
  if (dir == NULL) {
    return;
  }
  for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    if (strncmp(entry->d_name, TG_FUZZD_BESIDE, strlen(TG_FUZZD_BESIDE)) == 0) {
      (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
  }
  closedir(dir);
}

bool tg_fuzzd_name(const char *path, char out[TG_FUZZD_NAME_LEN], struct tg_error *err) {
  size_t len;
  char *bytes = tg_fuzzd_read(path, INPUT_MAX, &len, err);
  if (bytes == NULL) {
    return false;
  }
  uint8_t digest[SHA_DIGEST_LENGTH];
  SHA1((const uint8_t *)bytes, len, digest);
  free(bytes);
  for (size_t i = 0; i < sizeof(digest); i++) {
    (void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
  }
  return true;
}
