// What a fuzz target defines, and what every target needs before it runs an input.
#ifndef TLSGATE_FUZZ_BASE_TARGET_H
#define TLSGATE_FUZZ_BASE_TARGET_H

#include <stddef.h>
#include <stdint.h>

// The engines' interface: https://llvm.org/docs/LibFuzzer.html. AFL++'s libAFLDriver speaks it too.

// LLVMFuzzerTestOneInput runs one input. It returns 0, aborts when a property is broken, and leaves no state behind.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// LLVMFuzzerInitialize is called once, before the first input.
int LLVMFuzzerInitialize(int *argc, char ***argv);

#endif
