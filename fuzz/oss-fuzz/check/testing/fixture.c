// A fuzz target that keeps to the contract, or breaks it as it was compiled to: BROKEN_START, BROKEN_FOLDER,
// BROKEN_LIBRARY.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef BROKEN_LIBRARY
#include <jansson.h>
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// As many accesses and branches as the service wants to see of a target.
#define ONE(n)                                           \
  if (at < size && data[at] == (uint8_t)(n)) {           \
    table[(at + data[at] * 3u + (n)) % sizeof(table)]++; \
  }                                                      \
  at++;
#define TEN(n) ONE(n) ONE((n) + 1) ONE((n) + 2) ONE((n) + 3) ONE((n) + 4) ONE((n) + 5) ONE((n) + 6) ONE((n) + 7)
#define HUNDRED(n) \
  TEN(n) TEN((n) + 11) TEN((n) + 22) TEN((n) + 33) TEN((n) + 44) TEN((n) + 55) TEN((n) + 66) TEN((n) + 77)

static uint8_t table[251];

static void look_at(const uint8_t *data, size_t size) {
  size_t at = 0;
  HUNDRED(0)
  HUNDRED(7)
  HUNDRED(13)
  HUNDRED(29)
  HUNDRED(31)
  HUNDRED(37)
  HUNDRED(41)
  HUNDRED(43)
}

#ifdef BROKEN_FOLDER
// The test writes the path of a file in the build folder in here.
static volatile char needed[256] = "@needed-path@";

static void need_folder(void) {
  char path[sizeof(needed)];
  for (size_t i = 0; i < sizeof(path); i++) {
    path[i] = needed[i];
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    static const char said[] = "ERROR: a file of the build folder is missing\n";
    (void)!write(STDERR_FILENO, said, sizeof(said) - 1);
    _exit(3);
  }
  (void)close(fd);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
#ifdef BROKEN_START
  // Not at once: the compiler would leave out all that follows.
  if (table[0] == 0) {
    abort();
  }
#endif
#ifdef BROKEN_FOLDER
  need_folder();
#endif
#ifdef BROKEN_LIBRARY
  json_decref(json_object());
#endif
  // For a seed that is no good.
  if (size >= 5 && memcmp(data, "crash", 5) == 0) {
    abort();
  }
  look_at(data, size);
  return 0;
}
