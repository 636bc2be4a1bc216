// One slice: an engine runs on a target for some time.
#ifndef TLSGATE_FUZZ_SERVICE_SLICE_H
#define TLSGATE_FUZZ_SERVICE_SLICE_H

#include "fuzz/launcher/targets.h"
#include "fuzz/service/scheduler.h"
#include "fuzz/service/state.h"

// tg_fuzzd_slice runs the engine with its own files in the folder `work`, and fills in everything of *out but the CPU
// time. The corpus is DIR/corpus, into which libFuzzer writes at once and AFL++'s finds are merged at the end; inputs
// with findings go into a new folder of DIR/incoming. `work` is removed if the engine ran; if not, or if the process is
// ended before, tg_fuzzd_recover sees to it.
void tg_fuzzd_slice(const char *root, const struct tg_fuzz_target *target, enum tg_fuzzd_engine engine, double seconds,
                    unsigned memory_mb, const char *work, struct tg_fuzzd_slice_result *out);

// tg_fuzzd_slice_yield reads the new edges of a slice out of the logs in `work`, in libFuzzer's count for both engines:
// what its status lines say at the end and after it has read the corpus, or what the merge of AFL++'s finds added.
// *before is what libFuzzer covers once it has read the corpus; 0 for AFL++.
uint64_t tg_fuzzd_slice_yield(const char *work, enum tg_fuzzd_engine engine, uint64_t *before);

#endif
