// A strict reader of the YAML that workflow files are written in.
#ifndef TLSGATE_TOOLS_WORKFLOWS_YAML_TREE_H
#define TLSGATE_TOOLS_WORKFLOWS_YAML_TREE_H

#include <jansson.h>
#include <stddef.h>

#include "harness/base/error.h"

// tg_yaml_parse reads the one document of `len` bytes as JSON: mappings are objects, sequences arrays, and scalars
// strings, whatever they look like ("on" is a key and no truth value). What lets a file mean something else than it
// looks like is refused: duplicate keys, anchors and aliases, tags, merge keys, keys that are no scalars, a second
// document. Returns a new reference, or NULL with `err` naming `file` and the line.
json_t *tg_yaml_parse(const char *file, const char *text, size_t len, struct tg_error *err);

#endif
