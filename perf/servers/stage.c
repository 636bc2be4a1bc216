#include "perf/servers/stage.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/process/child.h"

#define OPENSSL_TIMEOUT_S 30
#define TEMPLATE_MAX      65536
#define BIG_BYTES         1048576
#define SMALL_BODY        "{\"status\":\"ok\"}"

static bool make_certificate(const struct tg_stage *stage, bool rsa4096, struct tg_error *err) {
  const char *argv[] = {"openssl",
                        "req",
                        "-x509",
                        "-newkey",
                        rsa4096 ? "rsa" : "ec",
                        "-pkeyopt",
                        rsa4096 ? "rsa_keygen_bits:4096" : "ec_paramgen_curve:P-256",
                        "-nodes",
                        "-days",
                        "2",
                        "-subj",
                        "/CN=localhost",
                        "-keyout",
                        stage->key,
                        "-out",
                        stage->cert,
                        NULL};
  struct tg_child_result result;
  if (!tg_child_run(argv, OPENSSL_TIMEOUT_S, &result, err)) {
    return false;
  }
  bool ok = result.exit_status == 0;
  if (!ok) {
    tg_error_set(err, "openssl cannot make a certificate: %.300s", result.err);
  }
  tg_child_result_free(&result);
  return ok;
}

static bool write_file(const char *path, const void *bytes, size_t len, struct tg_error *err) {
  FILE *file = fopen(path, "wbe");
  bool ok = file != NULL && fwrite(bytes, 1, len, file) == len;
  ok = (file == NULL || fclose(file) == 0) && ok;
  if (!ok) {
    tg_error_set(err, "%s: cannot be written: %s", path, strerror(errno));
  }
  return ok;
}

// Reads a text of at most TEMPLATE_MAX bytes. Returns NULL with `err` filled in.
static char *read_file(const char *path, struct tg_error *err) {
  FILE *file = fopen(path, "rbe");
  char *text = malloc(TEMPLATE_MAX + 1);
  if (file == NULL || text == NULL) {
    tg_error_set(err, "%s: cannot be opened: %s; it is to be beside the description", path, strerror(errno));
    if (file != NULL) {
      (void)fclose(file);
    }
    free(text);
    return NULL;
  }
  size_t len = fread(text, 1, TEMPLATE_MAX + 1, file);
  bool failed = ferror(file) != 0;
  (void)fclose(file);
  if (failed || len > TEMPLATE_MAX) {
    tg_error_set(err, "%s: %s", path, failed ? "cannot be read" : "larger than 65536 bytes; this is no template");
    free(text);
    return NULL;
  }
  text[len] = '\0';
  return text;
}

static bool append(const char *from, FILE *out, struct tg_error *err) {
  char *text = read_file(from, err);
  bool ok = text != NULL && fputs(text, out) >= 0;
  free(text);
  return ok;
}

static bool make_pem(const struct tg_stage *stage, struct tg_error *err) {
  FILE *out = fopen(stage->pem, "wbe");
  if (out == NULL) {
    tg_error_set(err, "%s: cannot be written: %s", stage->pem, strerror(errno));
    return false;
  }
  bool ok = append(stage->cert, out, err) && append(stage->key, out, err);
  return fclose(out) == 0 && ok;
}

static bool make_www(const struct tg_stage *stage, struct tg_error *err) {
  char path[160];
  static char big[BIG_BYTES];
  memset(big, 'x', sizeof(big));
  if (mkdir(stage->www, 0755) != 0) {
    tg_error_set(err, "%s: cannot be made: %s", stage->www, strerror(errno));
    return false;
  }
  static const char *const small[] = {"small.json", "index.html"};
  for (size_t i = 0; i < 2; i++) {
    (void)snprintf(path, sizeof(path), "%s/%s", stage->www, small[i]);
    if (!write_file(path, SMALL_BODY, sizeof(SMALL_BODY) - 1, err)) {
      return false;
    }
  }
  (void)snprintf(path, sizeof(path), "%s/big.bin", stage->www);
  return write_file(path, big, sizeof(big), err);
}

// A path of the description, relative to its folder.
static bool resolve(char out[PATH_MAX], const struct tg_server_description *description, const char *path,
                    struct tg_error *err) {
  int len =
      path[0] == '/' ? snprintf(out, PATH_MAX, "%s", path) : snprintf(out, PATH_MAX, "%s/%s", description->here, path);
  if (len < PATH_MAX && access(out, R_OK) == 0) {
    return true;
  }
  tg_error_set(err, "%s: certificate: %s cannot be read; give a path that can, relative to the description",
               description->file, path);
  return false;
}

static bool fill(struct tg_stage *stage, const struct tg_server_description *description,
                 enum tg_server_variant variant, struct tg_error *err) {
  bool ok = true;
  if (description->cert != NULL && variant != TG_VARIANT_RSA4096) {
    ok = resolve(stage->cert, description, description->cert, err) &&
         resolve(stage->key, description, description->key, err);
  } else {
    ok = make_certificate(stage, variant == TG_VARIANT_RSA4096, err);
  }
  return ok && make_pem(stage, err) && make_www(stage, err);
}

bool tg_stage_make(struct tg_stage *stage, const struct tg_server_description *description,
                   enum tg_server_variant variant, struct tg_error *err) {
  (void)snprintf(stage->folder, sizeof(stage->folder), "/tmp/tlsgate-server-XXXXXX");
  if (mkdtemp(stage->folder) == NULL) {
    tg_error_set(err, "cannot make a folder in /tmp: %s", strerror(errno));
    stage->folder[0] = '\0';
    return false;
  }
  (void)snprintf(stage->www, sizeof(stage->www), "%s/www", stage->folder);
  (void)snprintf(stage->cert, sizeof(stage->cert), "%s/cert.pem", stage->folder);
  (void)snprintf(stage->key, sizeof(stage->key), "%s/key.pem", stage->folder);
  (void)snprintf(stage->pem, sizeof(stage->pem), "%s/cert-and-key.pem", stage->folder);
  (void)snprintf(stage->log, sizeof(stage->log), "%s/said.txt", stage->folder);
  if (fill(stage, description, variant, err)) {
    return true;
  }
  tg_stage_remove(stage);
  return false;
}

bool tg_stage_configure(const struct tg_stage *stage, const struct tg_server_description *description,
                        const char *const values[TG_PLACES], struct tg_error *err) {
  bool ok = true;
  for (size_t i = 0; ok && i < description->num_files; i++) {
    char from[2 * PATH_MAX];
    char to[PATH_MAX];
    (void)snprintf(from, sizeof(from), "%s/%s", description->here, description->files[i].template_path);
    (void)snprintf(to, sizeof(to), "%s/%s", stage->folder, description->files[i].name);
    char *text = read_file(from, err);
    char *made = text == NULL ? NULL : tg_expand(from, text, values, err);
    ok = made != NULL && write_file(to, made, strlen(made), err);
    free(text);
    free(made);
  }
  return ok;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info;
  (void)kind;
  (void)walk;
  (void)remove(path);
  return 0;
}

void tg_stage_remove(struct tg_stage *stage) {
  if (stage->folder[0] != '\0') {
    (void)nftw(stage->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    stage->folder[0] = '\0';
  }
}
