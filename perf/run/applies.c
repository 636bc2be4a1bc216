#include "perf/run/applies.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "perf/run/plan.h"

// What the bounds of throughput are for: docs/gates.md.
#define MIB 1048576

static char *why_of(struct tg_applies *applies, const char *name) {
  const struct tg_gate *gate = tg_manifest_gate(applies->manifest, name);
  return gate == NULL ? NULL : applies->why_not[gate - applies->manifest->gates];
}

static void __attribute__((format(printf, 2, 3))) leave_out(char why[TG_APPLIES_WHY_SIZE], const char *format, ...) {
  va_list args;
  va_start(args, format);
  (void)vsnprintf(why, TG_APPLIES_WHY_SIZE, format, args);
  va_end(args);
}

static void check_body(char why[TG_APPLIES_WHY_SIZE], const struct tg_server_route *route, const char *key) {
  if (route->path == NULL) {
    leave_out(why, "the description has no route for it (routes.%s)", key);
  } else if (route->bytes != MIB) {
    leave_out(why, "its bound is for bodies of %d bytes, and those of the description have %llu (routes.%s)", MIB,
              (unsigned long long)route->bytes, key);
  }
}

static void check_workload(char why[TG_APPLIES_WHY_SIZE], const struct tg_workload *workload,
                           const struct tg_server_description *description) {
  const enum tg_server_variant variant = tg_member_variant(workload->member);
  if (!description->variants[variant].present) {
    leave_out(why, "is measured on a variant of the server that the description does not have (variants.%s)",
              tg_server_variant_name(variant));
  } else if ((workload->needs & TG_NEEDS_PLAINTEXT) != 0 && description->http_port == TG_SERVER_PORT_NONE) {
    leave_out(why, "the server has no plaintext port (ports.http)");
  } else if ((workload->needs & TG_NEEDS_BIG) != 0) {
    check_body(why, &description->big, "big");
  } else if ((workload->needs & TG_NEEDS_UPLOAD) != 0) {
    check_body(why, &description->upload, "upload");
  }
}

// A gate whose measure is left out cannot be judged. Returns whether one more is left out now.
static bool check_measures(struct tg_applies *applies) {
  bool more = false;
  for (size_t i = 0; i < applies->manifest->num_gates; i++) {
    const struct tg_gate *gate = &applies->manifest->gates[i];
    const char *const measures[2] = {gate->relative_to, gate->firm};
    for (size_t j = 0; j < 2 && applies->why_not[i][0] == '\0'; j++) {
      const char *why = measures[j] == NULL ? NULL : why_of(applies, measures[j]);
      if (why != NULL && why[0] != '\0') {
        leave_out(applies->why_not[i], "is held against %s, which is left out: %.200s", measures[j], why);
        more = true;
      }
    }
  }
  return more;
}

bool tg_applies_fill(struct tg_applies *out, const struct tg_manifest *manifest,
                     const struct tg_server_description *description, struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  out->manifest = manifest;
  if (description == NULL) {
    return true;
  }
  for (size_t i = 0; i < description->num_left_out; i++) {
    const struct tg_server_left_out *left_out = &description->left_out[i];
    char *why = why_of(out, left_out->gate);
    if (why == NULL) {
      tg_error_set(err, "%s: gates.left_out[%zu].gate: %s has no gate %s; correct the name", description->file, i,
                   manifest->file, left_out->gate);
      return false;
    }
    leave_out(why, "%.300s", left_out->why);
  }
  for (size_t i = 0; i < manifest->num_gates; i++) {
    const struct tg_workload *workload =
        manifest->gates[i].workload == NULL ? NULL : tg_workload_find(manifest->gates[i].workload);
    if (out->why_not[i][0] == '\0' && workload != NULL) {
      check_workload(out->why_not[i], workload, description);
    }
  }
  while (check_measures(out)) {
  }
  return true;
}

const char *tg_applies_not(const struct tg_applies *applies, const struct tg_gate *gate) {
  const size_t place = (size_t)(gate - applies->manifest->gates);
  assert(place < applies->manifest->num_gates);
  return applies->why_not[place][0] == '\0' ? NULL : applies->why_not[place];
}
