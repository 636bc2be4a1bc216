// The table of parts.
#include <string.h>

#include "perf/certify/parts_internal.h"

static const char *const everything[] = {".", NULL};
static const char *const sources[] = {"harness", "fuzz", "perf", "bazel", NULL};
static const char *const conformance[] = {"harness/kernel", "harness/accept", NULL};
static const char *const corpora[] = {"corpora", "harness", "fuzz", NULL};
static const char *const faults[] = {"harness/faults", "harness/accept", "harness/server", "corpora", NULL};
static const char *const exact[] = {"baselines/exact.json", "perf/exact", NULL};
static const char *const gates[] = {"baselines/gates.json", "baselines/history", "harness", "perf", NULL};
static const char *const baseline[] = {"baselines/gates.json", "baselines/hosts", NULL};

// In the order in which they run: what is quick to fail comes first, and what measures comes last, when nothing else is
// left to disturb it.
const struct tg_part tg_parts[] = {
    {"build", "Build", "Every program of this revision, in every variant, and which test belongs to which part.",
     everything, NULL, tg_build_run, NULL, tg_build_judge},
    {"release", "Tests, release", "Unit and integration tests on the code that ships.", sources, NULL, tg_tests_run,
     tg_tests_binaries, tg_tests_judge},
    {"instrumented", "Tests, instrumented", "The same tests under AddressSanitizer, UBSan and ThreadSanitizer.",
     sources, NULL, tg_tests_run, tg_tests_binaries, tg_tests_judge},
    {"conformance", "Conformance", "The simulated kernel does as the real one does.", conformance, NULL, tg_tests_run,
     tg_tests_binaries, tg_tests_judge},
    {"corpora", "Corpora", "Every seed and every regression replayed, and both engines' short runs reach their floors.",
     corpora, NULL, tg_tests_run, tg_tests_binaries, tg_tests_judge},
    {"faults", "Fault catalogue", "Every planted fault is caught by the check that guards against it.", faults, NULL,
     tg_faults_run, tg_tests_binaries, tg_faults_judge},
    {"fuzz", "Fresh fuzzing", "Every target with both engines, from the seeds alone.", corpora, NULL, tg_fuzz_run,
     tg_fuzz_binaries, tg_fuzz_judge},
    {"exact", "Exact gates", "System calls, allocations and instructions of each scenario are as accepted.", exact,
     NULL, tg_exact_run, tg_exact_binaries, tg_exact_judge_part},
    {"gates", "Timed gates", "The release server under load, against bounds, ratios and history.", gates, NULL,
     tg_gates_run, tg_gates_binaries, tg_gates_judge},
    {"negative-control", "Negative control", "Servers with planted faults fail the gates that guard against them.",
     gates, NULL, tg_tests_run_with_logs, tg_tests_binaries, tg_tests_judge},
    {"baseline", "Recorded baseline", "The timed run against what was recorded of this host.", baseline, "gates", NULL,
     NULL, tg_baseline_judge},
};
const size_t tg_num_parts = sizeof(tg_parts) / sizeof(tg_parts[0]);
