// The symbols of static libraries: what nm says of them.
#ifndef TLSGATE_HARNESS_KERNEL_TESTING_ELF_H
#define TLSGATE_HARNESS_KERNEL_TESTING_ELF_H

#include <stdbool.h>
#include <stddef.h>

#define TESTING_ELF_OBJECT_LEN 64

struct testing_elf_symbol {
  const char *name;
  bool defined;
  char object[TESTING_ELF_OBJECT_LEN];  // the archive's member
};

// The global symbols, defined and not, of one archive.
struct testing_elf {
  char *bytes;
  struct testing_elf_symbol *symbols;
  size_t num_symbols;
  size_t num_objects;
};

// testing_elf_read reads an ar archive of ELF64 objects; whatever is wrong with it fails the test.
void testing_elf_read(struct testing_elf *out, const char *path);
void testing_elf_free(struct testing_elf *elf);

#endif
