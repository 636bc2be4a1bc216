// What the files of the parts share, and what the table of parts is made of. For part_*.c and parts.c alone.
#ifndef TLSGATE_PERF_CERTIFY_PARTS_INTERNAL_H
#define TLSGATE_PERF_CERTIFY_PARTS_INTERNAL_H

#include <limits.h>
#include <stdio.h>

#include "perf/certify/part.h"

// part_build.c: everything that is certified, built; and the plan.
tg_part_runner tg_build_run;
tg_part_judge tg_build_judge;

// part_tests.c: Bazel tests. With logs: those of tests that passed are kept too.
tg_part_binaries tg_tests_binaries;
tg_part_runner tg_tests_run;
tg_part_runner tg_tests_run_with_logs;
tg_part_judge tg_tests_judge;

// part_fuzz.c: fresh fuzzing.
tg_part_binaries tg_fuzz_binaries;
tg_part_runner tg_fuzz_run;
tg_part_judge tg_fuzz_judge;

// part_faults.c: the fault catalogue.
tg_part_runner tg_faults_run;
tg_part_judge tg_faults_judge;

// part_exact.c: the exact gates.
tg_part_binaries tg_exact_binaries;
tg_part_runner tg_exact_run;
tg_part_judge tg_exact_judge_part;

// part_gates.c: the timed gates, and the recorded baseline, which judges the same raw files.
tg_part_binaries tg_gates_binaries;
tg_part_runner tg_gates_run;
tg_part_judge tg_gates_judge;
tg_part_judge tg_baseline_judge;

// tg_label_path writes FOLDER/package/nameTAIL for a label //package:name.
void tg_label_path(char out[PATH_MAX], const char *folder, const char *label, const char *tail);

// tg_raw_path writes the absolute path of a raw file of the run.
void tg_raw_path(char out[PATH_MAX], const struct tg_part_run *run, const char *name);

// tg_raw_write writes a raw file. `value` is borrowed.
bool tg_raw_write(const struct tg_part_run *run, const char *name, const json_t *value, struct tg_error *err);

// tg_raw_copy copies the file `from` to a raw file. `err` may be NULL.
bool tg_raw_copy(const struct tg_part_run *run, const char *from, const char *name, struct tg_error *err);

// tg_part_command runs a command in the source tree, with its output in the raw file `log`. Returns its exit status, or
// -1 with `err`.
int tg_part_command(const struct tg_part_run *run, const char *const argv[], const char *log, double limit_s,
                    struct tg_error *err);

#endif
