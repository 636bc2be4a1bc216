// The commands that README.md tells people to use.
#ifndef TLSGATE_TOOLS_WORKFLOWS_COMMANDS_H
#define TLSGATE_TOOLS_WORKFLOWS_COMMANDS_H

#include <jansson.h>
#include <stdbool.h>

// tg_commands_of returns a new array of the lines of indented blocks in the Markdown `text`, each without what follows
// "   #" and without blanks around it.
json_t *tg_commands_of(const char *text);

// tg_commands_has says whether `line` is one of them, to the letter.
bool tg_commands_has(const json_t *commands, const char *line);

#endif
