#include "harness/kernel/testing_elf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <ar.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path, size_t *out_len) {
  FILE *in = fopen(path, "rbe");
  if (in == NULL) {
    fail_msg("cannot read %s", path);
  }
  assert_int_equal(fseek(in, 0, SEEK_END), 0);
  long len = ftell(in);
  assert_true(len > 0);
  assert_int_equal(fseek(in, 0, SEEK_SET), 0);
  char *bytes = malloc((size_t)len);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, (size_t)len, in), (size_t)len);
  fclose(in);
  *out_len = (size_t)len;
  return bytes;
}

static void add_symbol(struct testing_elf *elf, const char *name, bool defined, const char *object) {
  // Grows at each power of two.
  if ((elf->num_symbols & (elf->num_symbols - 1)) == 0) {
    size_t room = elf->num_symbols == 0 ? 1 : 2 * elf->num_symbols;
    struct testing_elf_symbol *symbols = realloc(elf->symbols, room * sizeof(*symbols));
    assert_non_null(symbols);
    elf->symbols = symbols;
  }
  struct testing_elf_symbol *symbol = &elf->symbols[elf->num_symbols++];
  *symbol = (struct testing_elf_symbol){.name = name, .defined = defined};
  snprintf(symbol->object, sizeof(symbol->object), "%s", object);
}

static Elf64_Shdr section_at(const char *object, size_t len, const Elf64_Ehdr *header, size_t index) {
  Elf64_Shdr section;
  size_t at = header->e_shoff + index * sizeof(section);
  assert_true(index < header->e_shnum && at + sizeof(section) <= len);
  memcpy(&section, object + at, sizeof(section));
  return section;
}

static void read_symbols(struct testing_elf *elf, const char *object, size_t len, const Elf64_Shdr *table,
                         const Elf64_Shdr *names, const char *object_name) {
  assert_true(table->sh_offset + table->sh_size <= len && names->sh_offset + names->sh_size <= len);
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    memcpy(&symbol, object + table->sh_offset + at, sizeof(symbol));
    unsigned binding = ELF64_ST_BIND(symbol.st_info);
    if (binding != STB_LOCAL && symbol.st_name != 0) {
      assert_true(symbol.st_name < names->sh_size);
      add_symbol(elf, object + names->sh_offset + symbol.st_name, symbol.st_shndx != SHN_UNDEF, object_name);
    }
  }
}

static void read_object(struct testing_elf *elf, const char *object, size_t len, const char *name) {
  Elf64_Ehdr header;
  assert_true(len >= sizeof(header));
  memcpy(&header, object, sizeof(header));
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    fail_msg("%s is not an ELF64 object", name);
  }
  elf->num_objects++;
  for (size_t i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr table = section_at(object, len, &header, i);
    if (table.sh_type == SHT_SYMTAB) {
      Elf64_Shdr names = section_at(object, len, &header, table.sh_link);
      read_symbols(elf, object, len, &table, &names, name);
    }
  }
}

// A name that does not fit into the header stands in the archive's table of names: "/" and its place there.
static void object_name(char out[TESTING_ELF_OBJECT_LEN], const struct ar_hdr *header, const char *long_names,
                        size_t long_names_len) {
  const char *name = header->ar_name;
  size_t max = sizeof(header->ar_name);
  if (name[0] == '/') {
    size_t at = strtoul(name + 1, NULL, 10);
    if (long_names == NULL || at >= long_names_len) {
      fail_msg("the archive has no name %zu", at);
      return;
    }
    name = long_names + at;
    max = long_names_len - at;
  }
  const char *end = memchr(name, '/', max);
  int len = (int)(end == NULL ? max : (size_t)(end - name));
  snprintf(out, TESTING_ELF_OBJECT_LEN, "%.*s", len, name);
}

void testing_elf_read(struct testing_elf *out, const char *path) {
  *out = (struct testing_elf){0};
  size_t len;
  out->bytes = read_file(path, &len);
  if (len < SARMAG || memcmp(out->bytes, ARMAG, SARMAG) != 0) {
    fail_msg("%s is not an ar archive", path);
  }
  const char *long_names = NULL;
  size_t long_names_len = 0;
  size_t at = SARMAG;
  while (at + sizeof(struct ar_hdr) <= len) {
    struct ar_hdr header;
    memcpy(&header, out->bytes + at, sizeof(header));
    at += sizeof(header);
    char size_text[sizeof(header.ar_size) + 1] = {0};
    memcpy(size_text, header.ar_size, sizeof(header.ar_size));
    size_t size = strtoul(size_text, NULL, 10);
    assert_true(at + size <= len);
    if (memcmp(header.ar_name, "//", 2) == 0) {
      long_names = out->bytes + at;
      long_names_len = size;
    } else if (memcmp(header.ar_name, "/ ", 2) != 0 && memcmp(header.ar_name, "/SYM64/", 7) != 0) {
      char name[TESTING_ELF_OBJECT_LEN];
      object_name(name, &header, long_names, long_names_len);
      read_object(out, out->bytes + at, size, name);
    }
    at += size + (size & 1);
  }
}

void testing_elf_free(struct testing_elf *elf) {
  free(elf->symbols);
  free(elf->bytes);
}
