// What an engine's output says about a finding, for a person.
#ifndef TLSGATE_FUZZ_LAUNCHER_FINDING_H
#define TLSGATE_FUZZ_LAUNCHER_FINDING_H

#include "fuzz/launcher/targets.h"

// tg_finding_print prints the line of `log_path` that names what was found, the input's file and the command that
// replays it. The line is the first that begins with a property ("property P5 broken ...", "G1: ..."), or else the
// first of a sanitizer, of libFuzzer or of a failed assertion.
void tg_finding_print(const struct tg_fuzz_target *target, const char *log_path, const char *input_path);

// tg_finding_print_log prints what the target said of the last input of a replay: a trace, the stack of a crash.
void tg_finding_print_log(const char *log_path);

#endif
