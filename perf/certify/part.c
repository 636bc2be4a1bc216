#include "perf/certify/part.h"

#include <string.h>

size_t tg_part_index(const struct tg_part *parts, size_t num, const char *name) {
  size_t i = 0;
  while (i < num && strcmp(parts[i].name, name) != 0) {
    i++;
  }
  return i;
}
