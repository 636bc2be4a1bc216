// Decoding one gate. For manifest.c alone.
#ifndef TLSGATE_PERF_MANIFEST_GATE_DECODE_H
#define TLSGATE_PERF_MANIFEST_GATE_DECODE_H

#include "perf/manifest/manifest.h"
#include "perf/manifest/strict_json.h"

// tg_gate_decode decodes and checks the gate at `place`, references to other gates aside. Texts are borrowed.
bool tg_gate_decode(struct tg_gate *out, enum tg_purpose purpose, struct tg_json_place *place);

#endif
