// A finding for a person: what was broken, what the input does, how it is replayed and kept, and what led to it.
#ifndef TLSGATE_FUZZ_SERVICE_EXPLANATION_H
#define TLSGATE_FUZZ_SERVICE_EXPLANATION_H

#include "fuzz/launcher/targets.h"
#include "fuzz/service/candidate.h"

// Runfile that explains inputs in words: //fuzz/schedule.
#define TG_EXPLAINER "fuzz/schedule/schedule"

// tg_explanation returns the text, the caller's to free(). `input` is the file as it is now, `place` where it will be,
// `log` its replay. Inputs that the explainer does not know are shown as bytes. Returns NULL with `err` filled in.
char *tg_explanation(const struct tg_fuzz_target *target, const struct tg_candidate *candidate,
                     const struct tg_signature *signature, const char *input, const char *place, const char *log,
                     struct tg_error *err);

#endif
