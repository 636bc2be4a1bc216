// What an ELF file says of itself (elf(5)): sections, symbols and the libraries that it needs.
#ifndef TLSGATE_FUZZ_OSS_FUZZ_CHECK_ELF_FILE_H
#define TLSGATE_FUZZ_OSS_FUZZ_CHECK_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"

// A 64-bit program for x86-64, mapped; released with tg_elf_close.
struct tg_elf {
  const uint8_t *bytes;
  size_t size;
};

// tg_elf_open maps `path`. Returns false with `err` filled in when it cannot be read or is no such program.
bool tg_elf_open(const char *path, struct tg_elf *elf, struct tg_error *err);
void tg_elf_close(struct tg_elf *elf);

// tg_elf_section_size returns the bytes of the section called `name`; 0 if there is none.
uint64_t tg_elf_section_size(const struct tg_elf *elf, const char *name);

// tg_elf_has_symbol says whether its symbol table (.symtab or .dynsym) has `name`.
bool tg_elf_has_symbol(const struct tg_elf *elf, const char *name);

// tg_elf_needed returns the name of the `index`th shared library that it needs (DT_NEEDED), NULL past the last. The
// name is part of the mapping.
const char *tg_elf_needed(const struct tg_elf *elf, size_t index);

#endif
