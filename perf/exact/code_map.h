// Which source each instruction of a program is from: the ranges of addresses of its compilation units, as
// llvm-dwarfdump 14 prints them. valgrind 3.19 cannot read what clang 14 writes (DWARF 5), so it is given the program
// without debug information, and what it counts by address is told apart here.
//
// A function that a header defines, or that the compiler inlines, belongs to the unit that it was compiled into.
#ifndef TLSGATE_PERF_EXACT_CODE_MAP_H
#define TLSGATE_PERF_EXACT_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"

enum tg_code_owner {
  TG_CODE_OTHER,   // the simulated kernel, the simulated world, and what no unit claims
  TG_CODE_ACCEPT,  // harness/accept
  TG_CODE_SERVER,  // harness/server
  TG_CODE_SSL,     // BoringSSL's ssl/
  TG_CODE_CRYPTO,  // BoringSSL's crypto/, its assembly included
  TG_CODE_OWNERS,
};

struct tg_code_range {
  uint64_t from;
  uint64_t to;  // the first address behind it
  enum tg_code_owner owner;
};

struct tg_code_map {
  struct tg_code_range *ranges;  // in order, none overlapping another
  size_t num;
};

// TG_CODE_UNITS is the argument --name for which llvm-dwarfdump --regex prints the compilation units and nothing else.
#define TG_CODE_UNITS "^[a-z].*/.*\\.(c|cc|S)$"

// tg_code_map_parse reads what llvm-dwarfdump has printed, which is changed. Returns false with `err` filled in when it
// is not that, or has nothing of one of the owners. On true the map is to be released with tg_code_map_free.
bool tg_code_map_parse(char *text, struct tg_code_map *out, struct tg_error *err);
void tg_code_map_free(struct tg_code_map *map);

// tg_code_map_owner returns whose instruction the one at `address` is.
enum tg_code_owner tg_code_map_owner(const struct tg_code_map *map, uint64_t address);

// tg_code_source_owner returns whose a source file is; the last part of the path that says so counts, as the tree may
// lie in a folder with any name.
enum tg_code_owner tg_code_source_owner(const char *source);

#endif
