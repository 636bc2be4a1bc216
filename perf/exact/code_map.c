#include "perf/exact/code_map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum tg_code_owner tg_code_source_owner(const char *source) {
  static const struct {
    const char *part;
    enum tg_code_owner owner;
  } kParts[] = {
      {"harness/accept/", TG_CODE_ACCEPT},
      {"harness/server/", TG_CODE_SERVER},
      {"harness/kernel/", TG_CODE_OTHER},
      {"fuzz/", TG_CODE_OTHER},
      {"perf/", TG_CODE_OTHER},
      {"external/boringssl/", TG_CODE_CRYPTO},
  };
  const char *last = NULL;
  enum tg_code_owner owner = TG_CODE_OTHER;
  for (size_t i = 0; i < sizeof(kParts) / sizeof(kParts[0]); i++) {
    for (const char *at = strstr(source, kParts[i].part); at != NULL; at = strstr(at + 1, kParts[i].part)) {
      if (last == NULL || at > last) {
        last = at;
        owner = kParts[i].owner;
      }
    }
  }
  // Its own folders: ssl/ or src/ssl/, crypto/ and those of assembly.
  return owner == TG_CODE_CRYPTO && strstr(last, "/ssl/") != NULL ? TG_CODE_SSL : owner;
}

struct parser {
  struct tg_code_map *map;
  size_t capacity;
  size_t unit;  // the first range of the present unit
  enum tg_code_owner owner;
  uint64_t low;
};

static bool add(struct parser *parser, uint64_t from, uint64_t to) {
  struct tg_code_map *map = parser->map;
  // From 0 begins what the linker has left out.
  if (from == 0 || from >= to) {
    return true;
  }
  if (map->num == parser->capacity) {
    const size_t capacity = parser->capacity == 0 ? 1024 : 2 * parser->capacity;
    struct tg_code_range *ranges = realloc(map->ranges, capacity * sizeof(ranges[0]));
    if (ranges == NULL) {
      return false;
    }
    map->ranges = ranges;
    parser->capacity = capacity;
  }
  map->ranges[map->num++] = (struct tg_code_range){.from = from, .to = to, .owner = parser->owner};
  return true;
}

// Returns the number behind `mark`, or `otherwise`.
static uint64_t number_behind(const char *line, const char *mark, uint64_t otherwise) {
  const char *at = strstr(line, mark);
  return at == NULL ? otherwise : strtoull(at + strlen(mark), NULL, 16);
}

// A unit says its ranges before its name, or behind it.
static void name_unit(struct parser *parser, const char *name) {
  parser->owner = tg_code_source_owner(name);
  for (size_t i = parser->unit; i < parser->map->num; i++) {
    parser->map->ranges[i].owner = parser->owner;
  }
}

static bool take_line(struct parser *parser, const char *line) {
  const char *name = strstr(line, "DW_AT_name\t(\"");
  const char *range = strstr(line, "[0x");
  if (strstr(line, "DW_TAG_compile_unit") != NULL) {
    parser->unit = parser->map->num;
    parser->owner = TG_CODE_OTHER;
    parser->low = 0;
  } else if (name != NULL) {
    name_unit(parser, name + strlen("DW_AT_name\t(\""));
  } else if (strstr(line, "DW_AT_low_pc") != NULL) {
    parser->low = number_behind(line, "(0x", 0);
  } else if (strstr(line, "DW_AT_high_pc") != NULL) {
    return add(parser, parser->low, number_behind(line, "(0x", 0));
  } else if (range != NULL) {
    return add(parser, strtoull(range + 1, NULL, 16), number_behind(range, ", 0x", 0));
  }
  return true;
}

static int by_address(const void *a, const void *b) {
  const struct tg_code_range *left = a;
  const struct tg_code_range *right = b;
  return (left->from > right->from) - (left->from < right->from);
}

static bool check(const struct tg_code_map *map, struct tg_error *err) {
  static const char *const kNames[TG_CODE_OWNERS] = {"the simulated kernel", "harness/accept", "harness/server",
                                                     "libssl", "libcrypto"};
  bool there[TG_CODE_OWNERS] = {false};
  for (size_t i = 0; i < map->num; i++) {
    there[map->ranges[i].owner] = true;
    if (i > 0 && map->ranges[i].from < map->ranges[i - 1].to) {
      tg_error_set(err, "llvm-dwarfdump: two compilation units have the instruction at %#" PRIx64, map->ranges[i].from);
      return false;
    }
  }
  for (int owner = 0; owner < TG_CODE_OWNERS; owner++) {
    if (!there[owner]) {
      tg_error_set(err,
                   "llvm-dwarfdump: nothing in the program is of %s; is this another than LLVM 14, or the program "
                   "without debug information? perf/exact/code_map.h",
                   kNames[owner]);
      return false;
    }
  }
  return true;
}

bool tg_code_map_parse(char *text, struct tg_code_map *out, struct tg_error *err) {
  *out = (struct tg_code_map){.num = 0};
  struct parser parser = {.map = out};
  bool ok = true;
  char *rest = text;
  for (char *line = strsep(&rest, "\n"); ok && line != NULL; line = strsep(&rest, "\n")) {
    ok = take_line(&parser, line);
  }
  if (!ok) {
    tg_error_set(err, "out of memory");
  } else {
    if (out->num > 0) {
      qsort(out->ranges, out->num, sizeof(out->ranges[0]), by_address);
    }
    ok = check(out, err);
  }
  if (!ok) {
    tg_code_map_free(out);
  }
  return ok;
}

void tg_code_map_free(struct tg_code_map *map) {
  free(map->ranges);
  *map = (struct tg_code_map){.num = 0};
}

enum tg_code_owner tg_code_map_owner(const struct tg_code_map *map, uint64_t address) {
  size_t low = 0;
  size_t high = map->num;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (map->ranges[middle].to <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < map->num && map->ranges[low].from <= address ? map->ranges[low].owner : TG_CODE_OTHER;
}
