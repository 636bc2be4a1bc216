// Files that are there, whole, once a function has returned, whatever ends the process or the machine after that.
//
// Each writes beside the place, has the file and then the folder put on disk (fsync(2)), and renames in between: who
// looks finds the old file or the new one. What is left beside a place by a process that was killed begins with
// TG_FUZZD_BESIDE, which nothing reads and tg_fuzzd_sweep removes.
#ifndef TLSGATE_FUZZ_SERVICE_DURABLE_H
#define TLSGATE_FUZZ_SERVICE_DURABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

#define TG_FUZZD_BESIDE ".new-"

// tg_fuzzd_write writes `len` bytes as the file `path`. Returns false with `err` naming the file.
bool tg_fuzzd_write(const char *path, const void *bytes, size_t len, struct tg_error *err);

// tg_fuzzd_read reads a whole file of at most `max` bytes; the result is the caller's to free(), and has a NUL after
// its *len bytes. Returns NULL with `err` naming the file.
char *tg_fuzzd_read(const char *path, size_t max, size_t *len, struct tg_error *err);

// tg_fuzzd_copy is tg_fuzzd_write with what `from` has.
bool tg_fuzzd_copy(const char *from, const char *to, struct tg_error *err);

// tg_fuzzd_sweep removes from a folder what writers that were killed have left beside their places.
void tg_fuzzd_sweep(const char *folder);

// The longest name that tg_fuzzd_name writes, with its NUL.
#define TG_FUZZD_NAME_LEN 41

// tg_fuzzd_name writes the SHA-1 of a file's content in hexadecimal: the name that libFuzzer gives an entry of a
// corpus. Returns false with `err` naming the file.
bool tg_fuzzd_name(const char *path, char out[TG_FUZZD_NAME_LEN], struct tg_error *err);

#endif
