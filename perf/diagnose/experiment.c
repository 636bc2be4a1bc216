#include "perf/diagnose/experiment.h"

#include <string.h>

#include "perf/diagnose/delayed_acks.h"

static double clustered(const json_t *samples) {
  const json_t *values = json_object_get(samples, "rtt_ms");
  size_t in = 0;
  for (size_t i = 0; i < json_array_size(values); i++) {
    const double ms = json_number_value(json_array_get(values, i));
    in += ms >= TG_CLUSTER_FROM_MS && ms <= TG_CLUSTER_TO_MS;
  }
  return json_array_size(values) == 0 ? 0 : (double)in / (double)json_array_size(values);
}

static bool look(struct tg_stall_facts *out, const char *workload, tg_diagnose_run *run, void *context,
                 struct tg_error *err) {
  struct tg_rtt plain;
  struct tg_rtt other;
  const double before = tg_delayed_acks_read();
  if (!run(context, workload, NULL, TG_DIAGNOSE_COUNT, &plain, err)) {
    return false;
  }
  const double after = tg_delayed_acks_read();
  *out = (struct tg_stall_facts){
      .known = true,
      .requests = plain.count,
      .plain_ms = plain.p50_ms,
      .clustered = clustered(plain.samples),
      .delayed_acks = before >= 0 && after >= before ? after - before : -1,
      .server_cpu_ms = plain.server_cpu_s * 1000 / (double)plain.count,
  };
  json_decref(plain.samples);
  if (!run(context, workload, "--nodelay", TG_DIAGNOSE_COUNT, &other, err)) {
    return false;
  }
  out->nodelay_ms = other.p50_ms;
  json_decref(other.samples);
  if (!run(context, workload, "--quickack", TG_DIAGNOSE_COUNT, &other, err)) {
    return false;
  }
  out->quickack_ms = other.p50_ms;
  json_decref(other.samples);
  return true;
}

bool tg_diagnose(struct tg_diagnosis *out, const bool stalled[TG_STALLED_KINDS], tg_diagnose_run *run, void *context,
                 struct tg_error *err) {
  memset(out, 0, sizeof(*out));
  for (int i = 0; i < TG_STALLED_KINDS; i++) {
    if (stalled[i] && !look(&out->facts[i], tg_stalled_workload((enum tg_stalled)i), run, context, err)) {
      memset(out, 0, sizeof(*out));
      return false;
    }
  }
  tg_diagnosis_decide(out);
  return true;
}

static const char *cause_name(const struct tg_cause *cause) {
  return cause->gone                   ? "gone"
         : cause->client_waits_for_ack ? "delayed ACK of the server's kernel"
         : cause->server_waits_for_ack ? "delayed ACK of the client's kernel"
         : cause->server_works         ? "CPU time of the server"
                                       : "the server, without CPU time";
}

json_t *tg_diagnosis_json(const struct tg_diagnosis *diagnosis) {
  if (!diagnosis->made) {
    return NULL;
  }
  json_t *experiments = json_object();
  json_t *lines = json_array();
  for (int i = 0; i < TG_STALLED_KINDS; i++) {
    const struct tg_stall_facts *facts = &diagnosis->facts[i];
    if (facts->known) {
      (void)json_object_set_new(
          experiments, tg_stalled_workload((enum tg_stalled)i),
          json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:o, s:f}", "cause", cause_name(&diagnosis->causes[i]), "requests",
                    (json_int_t)facts->requests, "p50_ms", facts->plain_ms, "p50_ms_with_nodelay", facts->nodelay_ms,
                    "p50_ms_with_quickack", facts->quickack_ms, "share_of_38_to_55_ms", facts->clustered,
                    "delayed_acks", facts->delayed_acks < 0 ? json_null() : json_real(facts->delayed_acks),
                    "server_cpu_ms_per_request", facts->server_cpu_ms));
    }
  }
  for (size_t i = 0; i < diagnosis->num_lines; i++) {
    (void)json_array_append_new(lines, json_string(diagnosis->lines[i]));
  }
  return json_pack("{s:o, s:o}", "experiments", experiments, "lines", lines);
}
