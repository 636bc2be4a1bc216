#include "perf/servers/describe.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/manifest/strict_json.h"
#include "perf/servers/expand.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// A name is printed in tables and is part of file names.
enum { NAME_MAX_LEN = 32 };

// RFC 9110 sets no limit; a megabyte is what the gates load, a gigabyte what a client can take in a probe's time.
#define BODY_MAX 1073741824LL

static bool only_of(const char *text, const char *set) {
  return text[strspn(text, set)] == '\0';
}

static bool decode_name(struct tg_server_description *out, struct tg_json_place *place) {
  if (!tg_json_text(place, "name", &out->name)) {
    return false;
  }
  if (only_of(out->name, "abcdefghijklmnopqrstuvwxyz0123456789-_") && strlen(out->name) <= NAME_MAX_LEN) {
    return true;
  }
  return tg_json_fail(place, "name", "\"%.60s\" is no name: use a-z, 0-9, - and _, at most %d of them", out->name,
                      NAME_MAX_LEN);
}

static bool decode_start(struct tg_server_description *out, struct tg_json_place *place) {
  json_t *array = NULL;
  if (!tg_json_array(place, "start", &array)) {
    return false;
  }
  size_t num = json_array_size(array);
  if (num == 0 || num > TG_SERVER_ARGS_MAX) {
    return tg_json_fail(place, "start", "must be the program and its arguments, 1 to %d texts, is %zu",
                        TG_SERVER_ARGS_MAX, num);
  }
  for (size_t i = 0; i < num; i++) {
    const char *text = json_string_value(json_array_get(array, i));
    char unknown[TG_EXPAND_NAME_MAX + 1];
    if (text == NULL || (i == 0 && text[0] == '\0')) {
      return tg_json_fail(place, "start", "element %zu must be a text%s", i, i == 0 ? " that is not empty" : "");
    }
    if (!tg_expand_knows(text, unknown)) {
      return tg_json_fail(place, "start", "element %zu: there is no placeholder @%s@; there are: %s", i, unknown,
                          tg_expand_names());
    }
    out->start[i] = text;
  }
  out->start[num] = NULL;
  return true;
}

// A file of the run's folder, and a template beside the description: neither may lead elsewhere.
static bool is_plain(const char *name) {
  return only_of(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") && name[0] != '.';
}

static bool decode_files(struct tg_server_description *out, struct tg_json_place *place) {
  json_t *array = NULL;
  if (!tg_json_has(place, "files")) {
    return true;
  }
  if (!tg_json_array(place, "files", &array)) {
    return false;
  }
  if (json_array_size(array) > TG_SERVER_FILES_MAX) {
    return tg_json_fail(place, "files", "more than %d", TG_SERVER_FILES_MAX);
  }
  for (size_t i = 0; i < json_array_size(array); i++) {
    struct tg_json_place at;
    struct tg_server_file *file = &out->files[i];
    if (!tg_json_element(place, "files", i, &at) || !tg_json_text(&at, "template", &file->template_path) ||
        !tg_json_text(&at, "as", &file->name) || !tg_json_close(&at)) {
      return false;
    }
    if (!is_plain(file->template_path)) {
      return tg_json_fail(&at, "template", "\"%.60s\" must be the plain name of a file beside the description",
                          file->template_path);
    }
    if (!is_plain(file->name)) {
      return tg_json_fail(&at, "as", "\"%.60s\" must be a plain file name: letters, digits, . - _", file->name);
    }
    for (size_t other = 0; other < i; other++) {
      if (strcmp(out->files[other].name, file->name) == 0) {
        return tg_json_fail(&at, "as", "\"%.60s\" is also files[%zu]; give each a name of its own", file->name, other);
      }
    }
  }
  out->num_files = json_array_size(array);
  return true;
}

static bool decode_seconds(struct tg_json_place *place, const char *key, double *out) {
  if (!tg_json_positive(place, key, out)) {
    return false;
  }
  return *out <= TG_SERVER_WAIT_MAX_S ||
         tg_json_fail(place, key, "must be at most %.0f seconds, is %g", TG_SERVER_WAIT_MAX_S, *out);
}

static bool decode_ready(struct tg_server_description *out, struct tg_json_place *place) {
  static const char *const kinds[] = {"line", "connect"};
  struct tg_json_place at;
  int kind = 0;
  if (!tg_json_object(place, "ready", &at) || !tg_json_choice(&at, "by", kinds, COUNT(kinds), &kind) ||
      !decode_seconds(&at, "within_s", &out->ready_within_s) || !tg_json_close(&at)) {
    return false;
  }
  out->ready = (enum tg_server_ready)kind;
  return true;
}

static bool decode_stop(struct tg_server_description *out, struct tg_json_place *place) {
  static const char *const names[] = {"TERM", "INT", "QUIT", "USR1"};
  static const int numbers[] = {SIGTERM, SIGINT, SIGQUIT, SIGUSR1};
  struct tg_json_place at;
  int which = 0;
  long long status = 0;
  if (!tg_json_object(place, "stop", &at) || !tg_json_choice(&at, "signal", names, COUNT(names), &which) ||
      !tg_json_integer(&at, "status", 0, 255, &status) || !decode_seconds(&at, "within_s", &out->stop_within_s) ||
      !tg_json_close(&at)) {
    return false;
  }
  out->stop_signal = numbers[which];
  out->stop_status = (int)status;
  return true;
}

static bool decode_port(struct tg_json_place *place, const char *key, bool optional, int *out) {
  const char *word = NULL;
  long long number = 0;
  if (optional && tg_json_is_null(place, key)) {
    *out = TG_SERVER_PORT_NONE;
    return true;
  }
  if (json_is_string(json_object_get(place->object, key))) {
    *out = TG_SERVER_PORT_FREE;
    if (!tg_json_text(place, key, &word)) {
      return false;
    }
    return strcmp(word, "free") == 0 ||
           tg_json_fail(place, key, "must be \"free\", a number%s, is \"%.40s\"", optional ? " or null" : "", word);
  }
  if (!tg_json_integer(place, key, 1, 65535, &number)) {
    return false;
  }
  *out = (int)number;
  return true;
}

static bool decode_ports(struct tg_server_description *out, struct tg_json_place *place) {
  struct tg_json_place at;
  if (!tg_json_object(place, "ports", &at) || !decode_port(&at, "tls", false, &out->tls_port) ||
      !decode_port(&at, "http", true, &out->http_port) || !tg_json_close(&at)) {
    return false;
  }
  if (out->tls_port > 0 && out->tls_port == out->http_port) {
    return tg_json_fail(&at, "http", "is the TLS port too; give it another, or null");
  }
  return true;
}

static bool decode_certificate(struct tg_server_description *out, struct tg_json_place *place) {
  struct tg_json_place at;
  if (!tg_json_has(place, "certificate")) {
    return true;
  }
  return tg_json_object(place, "certificate", &at) && tg_json_text(&at, "cert", &out->cert) &&
         tg_json_text(&at, "key", &out->key) && tg_json_close(&at);
}

static bool decode_route(struct tg_json_place *place, const char *key, bool optional, struct tg_server_route *out) {
  struct tg_json_place at;
  long long bytes = 0;
  if (optional && tg_json_is_null(place, key)) {
    return true;
  }
  if (!tg_json_object(place, key, &at) || !tg_json_text(&at, "path", &out->path) ||
      !tg_json_integer(&at, "bytes", 1, BODY_MAX, &bytes) || !tg_json_close(&at)) {
    return false;
  }
  out->bytes = (uint64_t)bytes;
  // RFC 9112, 3.2.1: the path is sent as it stands.
  return (out->path[0] == '/' && strpbrk(out->path, " #\"") == NULL && strlen(out->path) < 200) ||
         tg_json_fail(&at, "path", "must begin with / and have no space, at most 199 characters");
}

static bool decode_routes(struct tg_server_description *out, struct tg_json_place *place) {
  struct tg_json_place at;
  if (!tg_json_object(place, "routes", &at) || !decode_route(&at, "small", false, &out->small) ||
      !decode_route(&at, "big", false, &out->big) || !decode_route(&at, "upload", true, &out->upload) ||
      !tg_json_close(&at)) {
    return false;
  }
  // The probes of half-read and unread responses need one that does not fit a socket's first buffers.
  return out->big.bytes >= 65536 ||
         tg_json_fail(&at, "big", "must be at least 65536 bytes, is %llu", (unsigned long long)out->big.bytes);
}

static bool decode_deadlines(struct tg_server_description *out, struct tg_json_place *place) {
  struct tg_json_place at;
  if (!tg_json_has(place, "deadlines")) {
    return true;
  }
  if (!tg_json_object(place, "deadlines", &at)) {
    return false;
  }
  return (!tg_json_has(&at, "handshake_s") || decode_seconds(&at, "handshake_s", &out->handshake_deadline_s)) &&
         (!tg_json_has(&at, "response_s") || decode_seconds(&at, "response_s", &out->response_deadline_s)) &&
         tg_json_close(&at);
}

const char *tg_server_variant_name(enum tg_server_variant variant) {
  static const char *const names[TG_VARIANTS] = {"main", "hrr", "client_ca", "rsa4096"};
  return names[variant];
}

static bool knows_places(struct tg_json_place *place, const char *key, const char *text) {
  char unknown[TG_EXPAND_NAME_MAX + 1];
  return tg_expand_knows(text, unknown) ||
         tg_json_fail(place, key, "there is no placeholder @%s@; there are: %s", unknown, tg_expand_names());
}

static bool decode_variation(struct tg_server_variation *out, struct tg_json_place *place) {
  json_t *array = NULL;
  out->present = true;
  if (tg_json_has(place, "text") &&
      (!tg_json_text(place, "text", &out->text) || !knows_places(place, "text", out->text))) {
    return false;
  }
  if (tg_json_has(place, "arguments") && !tg_json_array(place, "arguments", &array)) {
    return false;
  }
  if (json_array_size(array) > TG_VARIANT_ARGS_MAX) {
    return tg_json_fail(place, "arguments", "more than %d", TG_VARIANT_ARGS_MAX);
  }
  for (size_t i = 0; i < json_array_size(array); i++) {
    out->arguments[i] = json_string_value(json_array_get(array, i));
    if (out->arguments[i] == NULL) {
      return tg_json_fail(place, "arguments", "element %zu must be a text", i);
    }
    if (!knows_places(place, "arguments", out->arguments[i])) {
      return false;
    }
  }
  return tg_json_close(place);
}

static bool decode_variants(struct tg_server_description *out, struct tg_json_place *place) {
  struct tg_json_place all;
  struct tg_json_place at;
  for (int i = 0; i < TG_VARIANTS; i++) {
    out->variants[i].text = "";
  }
  out->variants[TG_VARIANT_MAIN].present = true;
  if (!tg_json_has(place, "variants")) {
    return true;
  }
  if (!tg_json_object(place, "variants", &all)) {
    return false;
  }
  for (int i = TG_VARIANT_MAIN + 1; i < TG_VARIANTS; i++) {
    const char *name = tg_server_variant_name((enum tg_server_variant)i);
    if (tg_json_has(&all, name) && (!tg_json_object(&all, name, &at) || !decode_variation(&out->variants[i], &at))) {
      return false;
    }
  }
  return tg_json_close(&all);
}

static bool decode_gates(struct tg_server_description *out, struct tg_json_place *place) {
  struct tg_json_place gates;
  json_t *array = NULL;
  if (!tg_json_object(place, "gates", &gates) || !tg_json_array(&gates, "left_out", &array)) {
    return false;
  }
  if (json_array_size(array) > TG_SERVER_GATES_MAX) {
    return tg_json_fail(&gates, "left_out", "more than %d", TG_SERVER_GATES_MAX);
  }
  for (size_t i = 0; i < json_array_size(array); i++) {
    struct tg_json_place at;
    struct tg_server_left_out *gate = &out->left_out[i];
    if (!tg_json_element(&gates, "left_out", i, &at) || !tg_json_text(&at, "gate", &gate->gate) ||
        !tg_json_text(&at, "why", &gate->why) || !tg_json_close(&at)) {
      return false;
    }
    for (size_t other = 0; other < i; other++) {
      if (strcmp(out->left_out[other].gate, gate->gate) == 0) {
        return tg_json_fail(&at, "gate", "\"%.60s\" is also left_out[%zu]; keep one of them", gate->gate, other);
      }
    }
  }
  out->num_left_out = json_array_size(array);
  return tg_json_close(&gates);
}

// What no single key can say.
static bool check_together(const struct tg_server_description *out, struct tg_json_place *place) {
  bool free_ports = out->tls_port == TG_SERVER_PORT_FREE && out->http_port <= 0;
  if (out->ready == TG_SERVER_READY_LINE && !free_ports) {
    return tg_json_fail(place, "ports", "must be \"free\" for a server that is ready by a line, which says its ports");
  }
  if (out->variants[TG_VARIANT_CLIENT_CA].present || out->variants[TG_VARIANT_HRR].present ||
      out->variants[TG_VARIANT_RSA4096].present) {
    // They run beside the server as it stands.
    if (out->tls_port != TG_SERVER_PORT_FREE || out->http_port > 0) {
      return tg_json_fail(place, "variants", "run beside the server, so that ports must be \"free\", not numbers");
    }
  }
  for (size_t i = 0; out->start[i] != NULL; i++) {
    if (out->http_port == TG_SERVER_PORT_NONE && strstr(out->start[i], "@http_port@") != NULL) {
      return tg_json_fail(place, "start", "element %zu asks for @http_port@, but ports.http is null", i);
    }
  }
  return true;
}

static bool decode(struct tg_server_description *out, struct tg_json_place *place) {
  long long few = TG_SERVER_FEW_DESCRIPTORS;
  if (!tg_json_schema(place, TG_SERVER_SCHEMA) || !decode_name(out, place) ||
      !tg_json_optional_text(place, "notes", &out->notes) || !tg_json_optional_text(place, "package", &out->package) ||
      !decode_start(out, place) || !decode_files(out, place) || !decode_ready(out, place) || !decode_stop(out, place) ||
      !decode_ports(out, place) || !decode_certificate(out, place) || !decode_routes(out, place) ||
      !decode_deadlines(out, place) || !decode_variants(out, place) || !decode_gates(out, place)) {
    return false;
  }
  if (tg_json_has(place, "few_descriptors") && !tg_json_integer(place, "few_descriptors", 16, 1024, &few)) {
    return false;
  }
  out->few_descriptors = (int)few;
  return tg_json_close(place) && check_together(out, place);
}

static bool find_folder(struct tg_server_description *out, struct tg_error *err) {
  char *end = strrchr(out->file, '/');
  size_t len = end == NULL ? 0 : (size_t)(end - out->file);
  char folder[PATH_MAX];
  (void)snprintf(folder, sizeof(folder), "%.*s", (int)len, out->file);
  if (realpath(end == NULL ? "." : len == 0 ? "/" : folder, out->here) != NULL) {
    return true;
  }
  tg_error_set(err, "%s: its folder cannot be found; check the path", out->file);
  return false;
}

// Takes over `json`.
static bool describe(const char *file, json_t *json, struct tg_server_description *out, struct tg_error *err) {
  struct tg_json_place root;
  memset(out, 0, sizeof(*out));
  out->json = json;
  if (json == NULL) {
    return false;
  }
  bool ok = snprintf(out->file, sizeof(out->file), "%s", file) < (int)sizeof(out->file);
  if (!ok) {
    tg_error_set(err, "%.80s...: the path is too long", file);
  }
  ok = ok && find_folder(out, err) && tg_json_open(&root, out->file, json, err) && decode(out, &root);
  if (!ok) {
    tg_server_description_free(out);
  }
  return ok;
}

bool tg_server_describe(const char *file, struct tg_server_description *out, struct tg_error *err) {
  return describe(file, tg_json_load(file, err), out, err);
}

bool tg_server_describe_text(const char *file, const char *text, struct tg_server_description *out,
                             struct tg_error *err) {
  return describe(file, tg_json_parse(file, text, strlen(text), err), out, err);
}

void tg_server_description_free(struct tg_server_description *description) {
  json_decref(description->json);
  description->json = NULL;
}
