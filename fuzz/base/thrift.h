// What a program that fuzzes leaves out, to have time for more inputs.
#ifndef TLSGATE_FUZZ_BASE_THRIFT_H
#define TLSGATE_FUZZ_BASE_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Set to "1" in the environment of a program that fuzzes. The launcher sets it; replays and tests do without. A program
// that fuzz/oss-fuzz/build.sh has built is thrifty unless it is set to something else.
#define TG_FUZZ_THRIFT_ENV "TLSGATE_THRIFT"

// While fuzzing one input of so many is looked at from all sides.
#define TG_FUZZ_ALL_SIDES 16u

// tg_fuzz_thrifty says whether TLSGATE_THRIFT is "1", or asked for when the program was built: runs are then to be
// thrifty (struct tg_world_options). It looks once.
bool tg_fuzz_thrifty(void);

// tg_fuzz_all_sides says whether an input is to be run with a server that has made everything itself, and a second time
// with other timing to compare outcomes (P7). Every one is, unless runs are to be thrifty: then one in sixteen, chosen
// by a hash of its bytes, so that an input is always run in the same way.
bool tg_fuzz_all_sides(const uint8_t *data, size_t size);

#endif
