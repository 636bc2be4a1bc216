// A list in a sentence.
#ifndef TLSGATE_FUZZ_SCHEDULE_SENTENCE_H
#define TLSGATE_FUZZ_SCHEDULE_SENTENCE_H

#include <stdbool.h>
#include <stdio.h>

struct tg_sentence {
  FILE *to;
  bool begun;  // true if something stands before the first item
};

// tg_sentence_item returns where the next item goes, with the comma before it written.
static inline FILE *tg_sentence_item(struct tg_sentence *sentence) {
  if (sentence->begun) {
    (void)fputs(", ", sentence->to);
  }
  sentence->begun = true;
  return sentence->to;
}

#endif
