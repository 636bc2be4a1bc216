#include "perf/baseline/trust_limits.h"

void tg_trust_limits_default(struct tg_trust_limits *out) {
  *out = (struct tg_trust_limits){
      .spread = TG_TRUST_SPREAD, .instability = TG_TRUST_INSTABILITY, .outliers = TG_TRUST_OUTLIERS};
}

static bool override(struct tg_json_place *trust, const char *key, double *out) {
  return !tg_json_has(trust, key) || tg_json_positive(trust, key, out);
}

bool tg_trust_limits_decode(struct tg_trust_limits *out, const json_t **overrides, struct tg_json_place *place) {
  struct tg_json_place trust;
  tg_trust_limits_default(out);
  *overrides = NULL;
  if (!tg_json_has(place, "trust")) {
    return true;
  }
  if (!tg_json_object(place, "trust", &trust) || !override(&trust, "spread", &out->spread) ||
      !override(&trust, "instability", &out->instability) || !override(&trust, "outliers", &out->outliers) ||
      !tg_json_close(&trust)) {
    return false;
  }
  *overrides = trust.object;
  return true;
}
