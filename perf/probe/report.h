// What came of the probes: a table for people and a JSON document for programs.
#ifndef TLSGATE_PERF_PROBE_REPORT_H
#define TLSGATE_PERF_PROBE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "perf/probe/run.h"

#define TG_PROBE_REPORT_SCHEMA 1

// tg_probe_table writes one line a probe, why it is no pass below it, and a count.
void tg_probe_table(FILE *out, const struct tg_probe_run *run);

// tg_probe_report returns a new JSON object, or NULL when memory runs out. docs/servers.md describes it.
json_t *tg_probe_report(const struct tg_probe_config *config, const struct tg_probe_run *run);

#endif
