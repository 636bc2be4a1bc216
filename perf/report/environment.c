#include "perf/report/environment.h"

#include <string.h>

#include "perf/report/json_fields.h"

#define SHA1_HEX   40
#define SHA256_HEX 64
#define CPUS_MAX   65536

static bool decode_commit(struct tg_environment *out, struct tg_json_place *place) {
  if (!tg_field_text_or_null(place, "commit", &out->commit)) {
    return false;
  }
  return out->commit == NULL ||
         tg_field_hex(place, "commit", strlen(out->commit) > SHA1_HEX ? SHA256_HEX : SHA1_HEX, &out->commit);
}

static bool decode_dirty_files(struct tg_environment *out, struct tg_json_place *place) {
  json_t *files = NULL;
  out->dirty_files = NULL;
  if (tg_json_is_null(place, "dirty_files")) {
    return true;
  }
  if (!tg_json_array(place, "dirty_files", &files)) {
    return false;
  }
  for (size_t i = 0; i < json_array_size(files); i++) {
    if (!json_is_string(json_array_get(files, i))) {
      return tg_json_fail(place, "dirty_files", "element %zu must be a string", i);
    }
  }
  out->dirty_files = files;
  return true;
}

bool tg_environment_decode(struct tg_environment *out, struct tg_json_place *place) {
  return decode_commit(out, place) && decode_dirty_files(out, place) && tg_json_text(place, "host", &out->host) &&
         tg_field_text_or_null(place, "label", &out->label) &&
         tg_json_text(place, "architecture", &out->architecture) &&
         tg_field_text_or_null(place, "cpu_model", &out->cpu_model) &&
         tg_json_integer(place, "cpus", 1, CPUS_MAX, &out->cpus) && tg_field_text_or_null(place, "os", &out->os) &&
         tg_json_text(place, "kernel", &out->kernel) && tg_json_text(place, "compiler", &out->compiler) &&
         tg_json_text(place, "flags", &out->flags) && tg_json_text(place, "boringssl", &out->boringssl) &&
         tg_field_hex(place, "server_sha256", SHA256_HEX, &out->server_sha256) &&
         tg_field_any_object(place, "stall_settings", &out->stall_settings) && tg_json_close(place);
}

json_t *tg_environment_encode(const struct tg_environment *environment) {
  return json_pack(
      "{s:o, s:o, s:s, s:o, s:s, s:o, s:I, s:o, s:s, s:s, s:s, s:s, s:s, s:o}", "commit",
      tg_field_from_text(environment->commit), "dirty_files", tg_field_from_borrowed(environment->dirty_files), "host",
      environment->host, "label", tg_field_from_text(environment->label), "architecture", environment->architecture,
      "cpu_model", tg_field_from_text(environment->cpu_model), "cpus", (json_int_t)environment->cpus, "os",
      tg_field_from_text(environment->os), "kernel", environment->kernel, "compiler", environment->compiler, "flags",
      environment->flags, "boringssl", environment->boringssl, "server_sha256", environment->server_sha256,
      "stall_settings", tg_field_from_borrowed(environment->stall_settings));
}

bool tg_environment_is_clean(const struct tg_environment *environment) {
  return environment->commit != NULL && environment->dirty_files != NULL &&
         json_array_size(environment->dirty_files) == 0;
}

const char *tg_environment_missing(const struct tg_environment *environment) {
  return environment->commit == NULL        ? "commit"
         : environment->dirty_files == NULL ? "dirty_files"
         : environment->cpu_model == NULL   ? "cpu_model"
                                            : NULL;
}

static bool same(const char *a, const char *b) {
  return a != NULL && b != NULL && strcmp(a, b) == 0;
}

const char *tg_environment_differs(const struct tg_environment *a, const struct tg_environment *b) {
  return !same(a->host, b->host)                   ? "host"
         : !same(a->architecture, b->architecture) ? "architecture"
         : !same(a->cpu_model, b->cpu_model)       ? "cpu_model"
         : a->cpus != b->cpus                      ? "cpus"
         : !same(a->kernel, b->kernel)             ? "kernel"
         : !same(a->compiler, b->compiler)         ? "compiler"
         : !same(a->flags, b->flags)               ? "flags"
         : !same(a->boringssl, b->boringssl)       ? "boringssl"
                                                   : NULL;
}

bool tg_environment_same_revision(const struct tg_environment *a, const struct tg_environment *b) {
  return same(a->commit, b->commit);
}
