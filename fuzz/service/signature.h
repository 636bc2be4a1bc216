// What an input showed, told from what its replay said: two inputs of one bug have one signature.
#ifndef TLSGATE_FUZZ_SERVICE_SIGNATURE_H
#define TLSGATE_FUZZ_SERVICE_SIGNATURE_H

#include <stdbool.h>

#include "harness/base/error.h"

#define TG_SIGNATURE_FRAMES 4
#define TG_SIGNATURE_KEY    10  // hexadecimal digits

struct tg_signature {
  char kind[48];   // "p5", "heap-use-after-free", "timeout": lower case, digits and dashes, for file names
  char line[512];  // the line that says it, as it stands in the log
  char text[512];  // the same without what differs from run to run: numbers are N, where and when are left out
  char frames[TG_SIGNATURE_FRAMES][160];  // "function file", the innermost first
  int num_frames;
  char key[TG_SIGNATURE_KEY + 1];  // of kind, text and frames: equal for equal signatures
};

// tg_signature_read reads the log of one input's replay in the libFuzzer program. What names it is, in this order: a
// broken property, an assertion, UBSan's report, another sanitizer's, libFuzzer's own. Frames are those of our own
// code; a log without symbols has offsets into the program instead; a timeout or want of memory has none, because where
// it strikes is chance. A log that names nothing is of kind "ended". Returns false with `err` filled in when the log
// cannot be read.
bool tg_signature_read(const char *log_path, struct tg_signature *out, struct tg_error *err);

// tg_signature_template writes a message without its numbers: digits, with a fraction or as hexadecimal, become N.
void tg_signature_template(const char *message, char *out, unsigned size);

#endif
