#include "perf/run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf/host/stall_settings.h"
#include "perf/process/child.h"
#include "perf/verdict/narrow.h"

// No gate is decided before the fifth round (perf/stats/sequential.h). A run that is out of budget before that goes on
// to it, unless that takes twice the budget.
#define LEAST_ROUNDS        5
#define LEAST_ROUNDS_WITHIN 2

// A metric that is only recorded needs a median, no more.
#define RECORDED_ROUNDS 5

static const char *left_out(const struct tg_run_config *config, const struct tg_gate *gate) {
  return config->applies == NULL ? NULL : tg_applies_not(config->applies, gate);
}

static bool asked_for(const struct tg_run_config *config, const struct tg_gate *gate) {
  if (config->only == NULL) {
    return true;
  }
  for (const char *const *name = config->only; *name != NULL; name++) {
    const struct tg_gate *wanted = tg_manifest_gate(config->manifest, *name);
    if (strcmp(*name, gate->name) == 0 ||
        (wanted != NULL && ((wanted->firm != NULL && strcmp(wanted->firm, gate->name) == 0) ||
                            (wanted->relative_to != NULL && strcmp(wanted->relative_to, gate->name) == 0)))) {
      return true;
    }
  }
  return false;
}

static bool selected(const struct tg_run_config *config, const struct tg_gate *gate) {
  return left_out(config, gate) == NULL && asked_for(config, gate);
}

// A gate needs its workload while it is open; a metric that another gate is held against, while that one is.
static bool gate_is_open(const struct tg_run_config *config, const struct tg_verdict *verdict,
                         const struct tg_gate *gate, size_t round) {
  if (verdict == NULL) {
    return selected(config, gate);
  }
  const struct tg_gate_verdict *now = tg_verdict_gate(verdict, gate->name);
  if (!selected(config, gate)) {
    return false;
  }
  return tg_gate_is_gated(gate) ? now == NULL || now->open || !now->has_value : round < RECORDED_ROUNDS;
}

static bool uses(const struct tg_gate *gate, const struct tg_workload *workload) {
  return gate->workload != NULL && strcmp(gate->workload, workload->name) == 0;
}

// Whether any metric of the workload does.
static bool applies(const struct tg_run_config *config, const struct tg_workload *workload) {
  for (size_t i = 0; i < config->manifest->num_gates; i++) {
    const struct tg_gate *gate = &config->manifest->gates[i];
    if (uses(gate, workload) && left_out(config, gate) == NULL) {
      return true;
    }
  }
  return false;
}

static bool needed(const struct tg_run_config *config, const struct tg_verdict *verdict,
                   const struct tg_workload *workload, size_t round) {
  if (config->size == TG_SIZE_PUBLISHED) {
    return workload->published;
  }
  if (workload->control && config->only == NULL && applies(config, workload)) {
    return true;
  }
  for (size_t i = 0; i < config->manifest->num_gates; i++) {
    const struct tg_gate *gate = &config->manifest->gates[i];
    if (uses(gate, workload) && selected(config, gate) &&
        (workload->control || gate_is_open(config, verdict, gate, round))) {
      return true;
    }
  }
  return workload->with != NULL && needed(config, verdict, tg_workload_find(workload->with), round);
}

static bool is_settled(const struct tg_verdict *verdict) {
  for (size_t i = 0; i < verdict->num_gates; i++) {
    if (verdict->gates[i].open) {
      return false;
    }
  }
  return true;
}

static void progress(const struct tg_run_config *config, const struct tg_verdict *verdict, size_t round,
                     double elapsed_s, double budget_s, const char *workload) {
  if (config->quiet) {
    return;
  }
  bool terminal = isatty(STDERR_FILENO) != 0;
  if (!terminal && workload != NULL) {
    return;  // in a log, one line a round is enough
  }
  size_t done = verdict == NULL ? 0 : verdict->passed + verdict->failed;
  fprintf(stderr, "%sround %zu, %.0f of at most %.0f s, %zu gates decided%s%s%s", terminal ? "\r\033[K" : "", round + 1,
          elapsed_s, budget_s, done, workload != NULL ? ": " : "", workload != NULL ? workload : "",
          terminal ? "" : "\n");
}

static void clear_progress(const struct tg_run_config *config) {
  if (!config->quiet && isatty(STDERR_FILENO) != 0) {
    fprintf(stderr, "\r\033[K");
  }
}

void tg_run_failure_of_workload(struct tg_run_failure *out, const char *workload, size_t round, bool warming_up,
                                const struct tg_error *why) {
  *out = (struct tg_run_failure){
      .stage = warming_up ? "warm-up" : "measurement", .workload = workload, .round = round + 1};
  tg_error_set(&out->error, "workload %s, round %zu, %s: %.400s", workload, out->round, out->stage, why->text);
}

static bool run_round(const struct tg_run_config *config, struct tg_bench *bench, const struct tg_verdict *verdict,
                      double start, double budget_s, struct tg_run_failure *failure) {
  for (const struct tg_workload *workload = tg_workloads; workload->name != NULL; workload++) {
    if (!needed(config, verdict, workload, bench->round)) {
      continue;
    }
    progress(config, verdict, bench->round, tg_now_s() - start, budget_s, workload->name);
    struct tg_error why;
    bench->warming_up = false;
    if (!workload->run(bench, workload, &why)) {
      clear_progress(config);
      tg_run_failure_of_workload(failure, workload->name, bench->round, bench->warming_up, &why);
      return false;
    }
  }
  return true;
}

// Drops the gates that nobody asked for: most have no samples, and would count as undecided.
static void keep_selected(const struct tg_run_config *config, struct tg_verdict *verdict) {
  size_t kept = 0;
  for (size_t i = 0; i < verdict->num_gates; i++) {
    const struct tg_gate_verdict *gate = &verdict->gates[i];
    if (asked_for(config, gate->gate)) {
      verdict->gates[kept++] = *gate;
    }
  }
  verdict->num_gates = kept;
  tg_verdict_recount(verdict);
}

static struct tg_verdict *judge(const struct tg_run_config *config, const struct tg_run *run) {
  struct tg_host_view host = {.stall_hidden_by = run->host_stalls ? NULL : run->hidden_by};
  struct tg_verdict *verdict = tg_verdict_judge(config->manifest, run->samples, &host);
  for (size_t i = 0; i < verdict->num_gates; i++) {
    const char *why = left_out(config, verdict->gates[i].gate);
    if (why != NULL) {
      tg_gate_leave_out(&verdict->gates[i], why);
    }
  }
  keep_selected(config, verdict);
  if (config->ratios_only) {
    tg_verdict_ratios_only(verdict);
  }
  return verdict;
}

static void make_bench(struct tg_bench *out, const struct tg_run_config *config, struct tg_fleet *fleet,
                       const struct tg_toolbox *tools, struct tg_run *run) {
  *out = (struct tg_bench){.fleet = fleet,
                           .tools = tools,
                           .samples = run->samples,
                           .raw = run->raw,
                           .commands = json_object_get(run->commands, "workloads"),
                           .size = config->size};
  tg_routes_fill(&out->routes, config->fleet.description);
  if (config->fleet.description != NULL && config->fleet.description->cert != NULL) {
    out->cert = fleet->launches[TG_MEMBER_MAIN].stage.cert;
    out->key = fleet->launches[TG_MEMBER_MAIN].stage.key;
  }
}

// What a workload can be diagnosed by: the churn of connections by a connection's first request. Returns
// TG_STALLED_KINDS for a workload that cannot be.
static enum tg_stalled kind_of(const char *workload) {
  int kind = 0;
  if (workload != NULL && strcmp(workload, "https_churn_c4") == 0) {
    return TG_STALLED_FRESH;
  }
  while (kind < TG_STALLED_KINDS &&
         (workload == NULL || strcmp(tg_stalled_workload((enum tg_stalled)kind), workload) != 0)) {
    kind++;
  }
  return (enum tg_stalled)kind;
}

static bool has_stalled(const struct tg_gate_verdict *gate) {
  return gate->status == TG_STATUS_FAIL && gate->gate->stall_sensitive &&
         kind_of(gate->gate->workload) != TG_STALLED_KINDS;
}

static bool diagnose(const struct tg_run_config *config, struct tg_bench *bench, struct tg_run *run,
                     struct tg_run_failure *failure) {
  bool stalled[TG_STALLED_KINDS] = {false};
  bool any = false;
  for (size_t i = 0; i < run->verdict->num_gates; i++) {
    const struct tg_gate_verdict *gate = &run->verdict->gates[i];
    if (has_stalled(gate)) {
      stalled[kind_of(gate->gate->workload)] = true;
      any = true;
    }
  }
  if (!any || !config->diagnose) {
    return true;
  }
  struct tg_error why;
  if (!config->quiet) {
    fprintf(stderr, "gates: looking for the cause of the stall\n");
  }
  if (!tg_diagnose(&run->diagnosis, stalled, tg_bench_look_again, bench, &why)) {
    *failure = (struct tg_run_failure){.stage = "measurement"};
    tg_error_set(&failure->error, "diagnosis of the stall: %.480s", why.text);
    return false;
  }
  return true;
}

// Puts what was found in the place of what is to be looked for.
static void explain(struct tg_run *run) {
  for (size_t i = 0; run->diagnosis.made && i < run->verdict->num_gates; i++) {
    struct tg_gate_verdict *gate = &run->verdict->gates[i];
    const enum tg_stalled kind = kind_of(gate->gate->workload);
    if (has_stalled(gate) && run->diagnosis.facts[kind].known) {
      tg_gate_explain(gate, run->diagnosis.found[kind]);
    }
  }
}

static bool run_rounds(const struct tg_run_config *config, struct tg_fleet *fleet, const struct tg_toolbox *tools,
                       struct tg_run *run, struct tg_run_failure *failure) {
  struct tg_bench bench;
  make_bench(&bench, config, fleet, tools, run);
  double start = tg_now_s();
  double budget_s = config->budget_s;
  for (;;) {
    if (!run_round(config, &bench, run->verdict, start, budget_s, failure)) {
      return false;
    }
    tg_verdict_free(run->verdict);
    run->verdict = judge(config, run);
    run->measured_s = tg_now_s() - start;
    progress(config, run->verdict, bench.round, run->measured_s, budget_s, NULL);
    bench.round++;
    if (config->size == TG_SIZE_PUBLISHED || is_settled(run->verdict) || bench.round == TG_ROUNDS_MAX) {
      break;
    }
    // Fewer rounds than a gate needs would be a budget spent on nothing: a slow server gets them all the same.
    bool enough_rounds = bench.round >= LEAST_ROUNDS || run->measured_s >= LEAST_ROUNDS_WITHIN * budget_s;
    if (run->measured_s >= budget_s && enough_rounds) {
      if (run->extended || !config->extend_once) {
        break;
      }
      run->extended = true;
      budget_s *= 2;
    }
  }
  clear_progress(config);
  return diagnose(config, &bench, run, failure);
}

// The negative control of every run: a server without re-arm, which must stall here.
static bool look_at_host(const struct tg_run_config *config, const struct tg_toolbox *tools, struct tg_run *run,
                         int when, struct tg_error *err) {
  const char *argv[] = {config->off_server, "--port", "0", "--quickack", "off", NULL};
  struct tg_server off;
  bool stalls = false;
  if (!tg_server_start(&off, "off", argv, NULL, err)) {
    return false;
  }
  bool ok = tg_bench_host_stalls(tools, &off, &stalls, &run->off_p50_ms[when], err);
  ok = tg_server_stop(&off, ok ? err : NULL) && ok;
  run->host_stalls = stalls && (when == 0 || run->host_stalls);
  if (!run->host_stalls) {
    tg_stall_settings_describe(run->hidden_by, sizeof(run->hidden_by));
    if (run->hidden_by[0] == '\0') {
      (void)snprintf(run->hidden_by, sizeof(run->hidden_by), "a setting that is not known to tlsgate");
    }
  }
  return ok;
}

static json_t *commands_of(const struct tg_fleet *fleet) {
  json_t *servers = json_object();
  for (int member = 0; member < TG_MEMBERS; member++) {
    const struct tg_server *server = &fleet->servers[member];
    if (server->pid > 0) {
      (void)json_object_set_new(servers, tg_member_name((enum tg_member)member), json_string(server->command));
    }
  }
  return json_pack("{s:o, s:{}}", "servers", servers, "workloads");
}

static void members_wanted(const struct tg_run_config *config, bool wanted[TG_MEMBERS]) {
  for (const struct tg_workload *workload = tg_workloads; workload->name != NULL; workload++) {
    wanted[workload->member] = wanted[workload->member] || needed(config, NULL, workload, 0);
  }
}

// What stands for all of them where they are left out.
static const struct tg_gate exact_gates = {.name = TG_EXACT_GROUP,
                                           .unit = "changed",
                                           .kind = TG_KIND_EXACT,
                                           .direction = TG_AT_MOST,
                                           .judged_by = TG_JUDGED_EVERY_ROUND};

// Says at which stage what `failure->error` tells happened; true if nothing did.
static bool at_stage(bool ok, const char *stage, struct tg_run_failure *failure) {
  if (!ok) {
    failure->stage = stage;
  }
  return ok;
}

bool tg_run_measure(const struct tg_run_config *config, struct tg_run *out, struct tg_run_failure *failure) {
  memset(out, 0, sizeof(*out));
  memset(failure, 0, sizeof(*failure));
  bool wanted[TG_MEMBERS] = {false};
  members_wanted(config, wanted);
  struct tg_toolbox tools;
  struct tg_fleet fleet;
  struct tg_cpu_times before = {.total = 0};
  struct tg_cpu_times after = {.total = 0};
  struct tg_error *err = &failure->error;
  if (!at_stage(tg_toolbox_find(&tools, err), "setup", failure) ||
      !at_stage(look_at_host(config, &tools, out, 0, err) && tg_fleet_start(&fleet, &config->fleet, wanted, err),
                "server", failure)) {
    return false;
  }
  out->samples = tg_samples_create();
  out->raw = json_object();
  out->commands = commands_of(&fleet);
  bool counted = tg_cpu_times_read(&before);
  bool ok = run_rounds(config, &fleet, &tools, out, failure);
  counted = tg_cpu_times_read(&after) && counted;
  out->stolen = counted ? tg_stolen_fraction(&before, &after) : NAN;
  out->idle = counted && after.total > before.total ? (after.idle - before.idle) / (after.total - before.total) : NAN;
  if (ok) {
    ok = at_stage(tg_fleet_stop(&fleet, err) && look_at_host(config, &tools, out, 1, err), "teardown", failure);
  } else {
    (void)tg_fleet_stop(&fleet, NULL);
  }
  if (!ok) {
    tg_run_free(out);
    return false;
  }
  tg_verdict_free(out->verdict);
  out->verdict = judge(config, out);
  explain(out);
  if (config->fleet.description != NULL && config->only == NULL) {
    tg_verdict_leave_out_group(
        out->verdict, &exact_gates,
        "they count the project's own accept path, linked to the simulated kernel: a server that is "
        "known by its port alone is judged by the timed gates");
  }
  return true;
}

void tg_run_free(struct tg_run *run) {
  tg_verdict_free(run->verdict);
  tg_samples_free(run->samples);
  tg_exact_gates_free(run->exact);
  json_decref(run->raw);
  json_decref(run->commands);
  memset(run, 0, sizeof(*run));
}
