#include "tools/workflows/yaml_tree.h"

#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MAX 32

struct reader {
  yaml_parser_t parser;
  const char *file;
  struct tg_error *err;
};

static json_t *refuse(struct reader *reader, const yaml_event_t *event, const char *what) {
  tg_error_set(reader->err, "%s:%zu: %s", reader->file, event->start_mark.line + 1, what);
  return NULL;
}

static bool next(struct reader *reader, yaml_event_t *event) {
  if (yaml_parser_parse(&reader->parser, event) != 0) {
    return true;
  }
  const char *problem = reader->parser.problem != NULL ? reader->parser.problem : "cannot be read";
  tg_error_set(reader->err, "%s:%zu: %s", reader->file, reader->parser.problem_mark.line + 1, problem);
  return false;
}

static bool is_marked(const yaml_event_t *event) {
  switch (event->type) {
    case YAML_SCALAR_EVENT:
      return event->data.scalar.anchor != NULL || event->data.scalar.tag != NULL;
    case YAML_SEQUENCE_START_EVENT:
      return event->data.sequence_start.anchor != NULL || event->data.sequence_start.tag != NULL;
    case YAML_MAPPING_START_EVENT:
      return event->data.mapping_start.anchor != NULL || event->data.mapping_start.tag != NULL;
    default:
      return event->type == YAML_ALIAS_EVENT;
  }
}

static json_t *read_node(struct reader *reader, const yaml_event_t *event, int depth);

static json_t *read_sequence(struct reader *reader, int depth) {
  json_t *array = json_array();
  for (;;) {
    yaml_event_t event;
    if (!next(reader, &event)) {
      break;
    }
    if (event.type == YAML_SEQUENCE_END_EVENT) {
      yaml_event_delete(&event);
      return array;
    }
    json_t *value = read_node(reader, &event, depth);
    yaml_event_delete(&event);
    if (value == NULL) {
      break;
    }
    (void)json_array_append_new(array, value);
  }
  json_decref(array);
  return NULL;
}

// Reads the value of the key in `event` into `object`.
static bool read_member(struct reader *reader, const yaml_event_t *event, json_t *object, int depth) {
  if (event->type != YAML_SCALAR_EVENT || is_marked(event)) {
    return refuse(reader, event, "a key must be a plain scalar") != NULL;
  }
  const char *key = (const char *)event->data.scalar.value;
  if (strcmp(key, "<<") == 0) {
    return refuse(reader, event, "merge keys are not read: write the keys out") != NULL;
  }
  if (json_object_get(object, key) != NULL) {
    return refuse(reader, event, "this key is there twice") != NULL;
  }
  yaml_event_t value_event;
  if (!next(reader, &value_event)) {
    return false;
  }
  json_t *value = read_node(reader, &value_event, depth);
  yaml_event_delete(&value_event);
  return value != NULL && json_object_set_new(object, key, value) == 0;
}

static json_t *read_mapping(struct reader *reader, int depth) {
  json_t *object = json_object();
  for (;;) {
    yaml_event_t event;
    if (!next(reader, &event)) {
      break;
    }
    if (event.type == YAML_MAPPING_END_EVENT) {
      yaml_event_delete(&event);
      return object;
    }
    bool ok = read_member(reader, &event, object, depth);
    yaml_event_delete(&event);
    if (!ok) {
      break;
    }
  }
  json_decref(object);
  return NULL;
}

// The recursion is as deep as the document, which is bounded.
// NOLINTNEXTLINE(misc-no-recursion)
static json_t *read_node(struct reader *reader, const yaml_event_t *event, int depth) {
  if (is_marked(event)) {
    return refuse(reader, event, "anchors, aliases and tags are not read: write the value out");
  }
  if (depth == DEPTH_MAX) {
    return refuse(reader, event, "nested too deeply");
  }
  switch (event->type) {
    case YAML_SCALAR_EVENT: {
      json_t *text = json_stringn((const char *)event->data.scalar.value, event->data.scalar.length);
      return text != NULL ? text : refuse(reader, event, "is no UTF-8 text");
    }
    case YAML_SEQUENCE_START_EVENT:
      return read_sequence(reader, depth + 1);
    case YAML_MAPPING_START_EVENT:
      return read_mapping(reader, depth + 1);
    default:
      return refuse(reader, event, "a value was expected");
  }
}

// Reads an event and says whether it is of the type that must come here.
static bool expect(struct reader *reader, yaml_event_type_t type, const char *otherwise) {
  yaml_event_t event;
  if (!next(reader, &event)) {
    return false;
  }
  bool ok = event.type == type;
  if (!ok) {
    (void)refuse(reader, &event, otherwise);
  }
  yaml_event_delete(&event);
  return ok;
}

json_t *tg_yaml_parse(const char *file, const char *text, size_t len, struct tg_error *err) {
  struct reader reader = {.file = file, .err = err};
  if (yaml_parser_initialize(&reader.parser) == 0) {
    tg_error_set(err, "%s: out of memory", file);
    return NULL;
  }
  yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, len);
  json_t *root = NULL;
  yaml_event_t event;
  if (expect(&reader, YAML_STREAM_START_EVENT, "is no YAML") &&
      expect(&reader, YAML_DOCUMENT_START_EVENT, "is empty") && next(&reader, &event)) {
    root = read_node(&reader, &event, 0);
    yaml_event_delete(&event);
  }
  if (root != NULL && !(expect(&reader, YAML_DOCUMENT_END_EVENT, "has something after its document") &&
                        expect(&reader, YAML_STREAM_END_EVENT, "has a second document"))) {
    json_decref(root);
    root = NULL;
  }
  yaml_parser_delete(&reader.parser);
  return root;
}
