#include "perf/exact/callgrind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "perf/exact/figures.h"

struct parser {
  const char *program;
  const struct tg_code_map *map;
  const char *trigger;              // NULL: every one
  struct tg_callgrind_sums *out;    // of parts that it ended, or
  struct tg_callgrind_part *parts;  // of every part
  size_t num;                       // parts that there should be
  size_t num_met;                   // that have begun
  struct tg_error *err;

  bool wanted;  // the present part is one of them
  bool has_total;
  int64_t total;
  int64_t self;  // of all functions of the part

  bool in_program;  // the present function is
  bool is_call;     // the next line of costs is a call's
  int callee;       // enum tg_call, or TG_CALL_COUNT: another function
};

static bool ends_with(const char *text, const char *end) {
  const size_t len = strlen(text);
  const size_t end_len = strlen(end);
  return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static bool fail(const struct parser *parser, const char *what, const char *where) {
  tg_error_set(parser->err,
               "callgrind's profile: %s: \"%.60s\"; is this another valgrind than 3.19? "
               "perf/exact/callgrind.h",
               what, where);
  return false;
}

static bool end_part(struct parser *parser) {
  if (parser->wanted && (!parser->has_total || parser->self != parser->total)) {
    tg_error_set(parser->err, "callgrind's profile: part %zu adds up to %" PRId64 " and says that it is %" PRId64,
                 parser->num_met, parser->self, parser->total);
    return false;
  }
  return true;
}

static bool begin_part(struct parser *parser) {
  const bool ok = end_part(parser);
  parser->wanted = parser->has_total = parser->in_program = parser->is_call = false;
  parser->total = parser->self = 0;
  return ok;
}

static struct tg_callgrind_sums *present_sums(const struct parser *parser) {
  return parser->trigger == NULL ? &parser->parts[parser->num_met - 1].sums : &parser->out[parser->num_met - 1];
}

// "--dump-before=bssl::f(int)" is the trigger f of this name: without what it takes.
static void name_part(struct tg_callgrind_part *part, const char *trigger) {
  const char *name = strchr(trigger, '=');
  name = name == NULL ? trigger : name + 1;
  *part = (struct tg_callgrind_part){.trigger = ""};
  (void)snprintf(part->trigger, sizeof(part->trigger), "%.*s", (int)strcspn(name, "("), name);
}

static bool take_trigger(struct parser *parser, const char *trigger) {
  if (parser->trigger == NULL ? strncmp(trigger, "--dump", 6) != 0 : !ends_with(trigger, parser->trigger)) {
    return true;
  }
  if (parser->num_met == parser->num) {
    return fail(parser, "has more parts than there are scenarios", trigger);
  }
  parser->wanted = true;
  parser->num_met++;
  if (parser->trigger == NULL) {
    name_part(&parser->parts[parser->num_met - 1], trigger);
  } else {
    parser->out[parser->num_met - 1] = (struct tg_callgrind_sums){{0}};
  }
  return true;
}

static void take_callee(struct parser *parser, const char *name) {
  static const char kWrapped[] = "__wrap_";
  parser->callee = TG_CALL_COUNT;
  for (int call = 0; strncmp(name, kWrapped, sizeof(kWrapped) - 1) == 0 && call < TG_CALL_COUNT; call++) {
    if (strcmp(name + sizeof(kWrapped) - 1, tg_exact_metric_name(call)) == 0) {
      parser->callee = call;
    }
  }
}

static void take_calls(struct parser *parser, const char *number) {
  parser->is_call = true;
  if (parser->wanted && parser->trigger == NULL && parser->callee < TG_CALL_COUNT) {
    parser->parts[parser->num_met - 1].calls[parser->callee] += strtoll(number, NULL, 10);
  }
}

static enum tg_code_owner owner_at(const struct parser *parser, uint64_t address) {
  return parser->in_program ? tg_code_map_owner(parser->map, address) : TG_CODE_OTHER;
}

// A line of costs: address and instructions.
static bool take_cost(struct parser *parser, const char *line) {
  char *end = NULL;
  const uint64_t address = strtoull(line, &end, 16);
  const char *number = end;
  const long long cost = strtoll(number, &end, 10);
  if (*number != ' ' || end == number || *end != '\0' || cost < 0) {
    return fail(parser, "a line that is not understood", line);
  }
  // A call's line is of what is called, which has lines of its own.
  if (parser->wanted && !parser->is_call) {
    present_sums(parser)->by_owner[owner_at(parser, address)] += cost;
    parser->self += cost;
  }
  parser->is_call = false;
  return true;
}

static const char *after(const char *line, const char *prefix) {
  const size_t len = strlen(prefix);
  return strncmp(line, prefix, len) == 0 ? line + len : NULL;
}

static bool take_line(struct parser *parser, const char *line) {
  const char *value = NULL;
  if (after(line, "0x") != NULL) {
    return take_cost(parser, line);
  }
  if (after(line, "part: ") != NULL) {
    return begin_part(parser);
  }
  if ((value = after(line, "desc: Trigger: ")) != NULL) {
    return take_trigger(parser, value);
  }
  if ((value = after(line, "events: ")) != NULL) {
    return strcmp(value, "Ir") == 0 || fail(parser, "has other events than instructions", line);
  }
  if ((value = after(line, "summary: ")) != NULL) {
    parser->total = strtoll(value, NULL, 10);
    parser->has_total = true;
  } else if ((value = after(line, "ob=")) != NULL) {
    parser->in_program = ends_with(value, parser->program);
  } else if ((value = after(line, "cfn=")) != NULL) {
    take_callee(parser, value);
  } else if ((value = after(line, "calls=")) != NULL) {
    take_calls(parser, value);
  } else if (*line >= '0' && *line <= '9') {
    return fail(parser, "positions that are no addresses", line);
  }
  return true;
}

static bool read_all(struct parser *parser, FILE *profile) {
  char *line = NULL;
  size_t size = 0;
  bool ok = true;
  while (ok && getline(&line, &size, profile) >= 0) {
    line[strcspn(line, "\n")] = '\0';
    ok = take_line(parser, line);
  }
  free(line);
  return ok && end_part(parser);
}

bool tg_callgrind_read(FILE *profile, const char *program, const struct tg_code_map *map, const char *trigger,
                       struct tg_callgrind_sums *out, size_t num, struct tg_error *err) {
  struct parser parser = {.program = program, .map = map, .trigger = trigger, .out = out, .num = num, .err = err};
  if (!read_all(&parser, profile)) {
    return false;
  }
  if (ferror(profile) != 0 || parser.num_met != num) {
    tg_error_set(err, "callgrind's profile: has %zu parts that end at %s, not %zu", parser.num_met, trigger, num);
    return false;
  }
  return true;
}

bool tg_callgrind_parts(FILE *profile, const char *program, const struct tg_code_map *map,
                        struct tg_callgrind_part *out, size_t size, size_t *num, struct tg_error *err) {
  struct parser parser = {.program = program, .map = map, .parts = out, .num = size, .err = err};
  if (!read_all(&parser, profile)) {
    return false;
  }
  *num = parser.num_met;
  if (ferror(profile) != 0 || parser.num_met == 0) {
    tg_error_set(err, "callgrind's profile: has no parts");
    return false;
  }
  return true;
}
