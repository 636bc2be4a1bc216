// What is wrong with an input, in words, for a person to act on.
#ifndef TLSGATE_PERF_MANIFEST_PROBLEM_H
#define TLSGATE_PERF_MANIFEST_PROBLEM_H

struct tg_problem {
  char text[768];  // one line without a newline: the file, the place in it, what is wrong, and the remedy
};

// tg_problem_set formats the text, cut to what fits. `problem` may be NULL. Returns false, so that a function can end
// with `return tg_problem_set(...)`.
_Bool tg_problem_set(struct tg_problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
