#include "fuzz/oss-fuzz/check/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const Elf64_Ehdr *head_of(const struct tg_elf *elf) {
  return (const Elf64_Ehdr *)(const void *)elf->bytes;
}

static bool is_inside(const struct tg_elf *elf, uint64_t offset, uint64_t size) {
  return offset <= elf->size && size <= elf->size - offset;
}

bool tg_elf_open(const char *path, struct tg_elf *elf, struct tg_error *err) {
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) != 0) {
    tg_error_set(err, "%s cannot be read: %s", path, strerror(errno));
    if (fd >= 0) {
      (void)close(fd);
    }
    return false;
  }
  elf->size = (size_t)status.st_size;
  void *bytes = elf->size < sizeof(Elf64_Ehdr) ? MAP_FAILED : mmap(NULL, elf->size, PROT_READ, MAP_PRIVATE, fd, 0);
  (void)close(fd);
  if (bytes == MAP_FAILED) {
    tg_error_set(err, "%s is no program: %zu bytes", path, elf->size);
    return false;
  }
  elf->bytes = bytes;
  const Elf64_Ehdr *head = head_of(elf);
  if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
      head->e_machine != EM_X86_64 || head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff % 8 != 0 ||
      !is_inside(elf, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr)) ||
      head->e_shstrndx >= head->e_shnum) {
    tg_error_set(err, "%s is no program for x86-64", path);
    tg_elf_close(elf);
    return false;
  }
  return true;
}

void tg_elf_close(struct tg_elf *elf) {
  (void)munmap((void *)elf->bytes, elf->size);
  elf->bytes = NULL;
}

static const Elf64_Shdr *section(const struct tg_elf *elf, size_t index) {
  return (const Elf64_Shdr *)(const void *)(elf->bytes + head_of(elf)->e_shoff) + index;
}

// A text in a string table; "" if it is not there.
static const char *text_of(const struct tg_elf *elf, size_t table, uint64_t offset) {
  if (table >= head_of(elf)->e_shnum) {
    return "";
  }
  const Elf64_Shdr *strings = section(elf, table);
  if (!is_inside(elf, strings->sh_offset, strings->sh_size) || offset >= strings->sh_size ||
      memchr(elf->bytes + strings->sh_offset + offset, '\0', strings->sh_size - offset) == NULL) {
    return "";
  }
  return (const char *)elf->bytes + strings->sh_offset + offset;
}

uint64_t tg_elf_section_size(const struct tg_elf *elf, const char *name) {
  for (size_t i = 0; i < head_of(elf)->e_shnum; i++) {
    if (strcmp(text_of(elf, head_of(elf)->e_shstrndx, section(elf, i)->sh_name), name) == 0) {
      return section(elf, i)->sh_size;
    }
  }
  return 0;
}

// The entries of a section of `size` bytes each; *num is 0 if it is not as it should be.
static const void *entries(const struct tg_elf *elf, const Elf64_Shdr *of, size_t size, size_t *num) {
  bool good = is_inside(elf, of->sh_offset, of->sh_size) && of->sh_entsize == size && of->sh_offset % 8 == 0;
  *num = good ? of->sh_size / size : 0;
  return elf->bytes + (good ? of->sh_offset : 0);
}

bool tg_elf_has_symbol(const struct tg_elf *elf, const char *name) {
  for (size_t i = 0; i < head_of(elf)->e_shnum; i++) {
    const Elf64_Shdr *table = section(elf, i);
    if (table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) {
      continue;
    }
    size_t num = 0;
    const Elf64_Sym *symbols = entries(elf, table, sizeof(Elf64_Sym), &num);
    for (size_t j = 0; j < num; j++) {
      if (symbols[j].st_shndx != SHN_UNDEF && strcmp(text_of(elf, table->sh_link, symbols[j].st_name), name) == 0) {
        return true;
      }
    }
  }
  return false;
}

const char *tg_elf_needed(const struct tg_elf *elf, size_t index) {
  for (size_t i = 0; i < head_of(elf)->e_shnum; i++) {
    const Elf64_Shdr *table = section(elf, i);
    if (table->sh_type != SHT_DYNAMIC) {
      continue;
    }
    size_t num = 0;
    const Elf64_Dyn *dynamic = entries(elf, table, sizeof(Elf64_Dyn), &num);
    for (size_t j = 0; j < num && dynamic[j].d_tag != DT_NULL; j++) {
      if (dynamic[j].d_tag == DT_NEEDED && index-- == 0) {
        return text_of(elf, table->sh_link, dynamic[j].d_un.d_val);
      }
    }
  }
  return NULL;
}
