// One error in a load tool's output, in words, for a person to act on.
#ifndef TLSGATE_PERF_TOOLS_TOOL_ERROR_H
#define TLSGATE_PERF_TOOLS_TOOL_ERROR_H

struct tg_tool_error {
  char text[512];  // one line without a newline: the tool, the line of its output, what is wrong, what to do
};

// tg_tool_error_set formats the text, truncating it to what fits and replacing control characters, which a tool may
// have printed, by `?`.
void tg_tool_error_set(struct tg_tool_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
