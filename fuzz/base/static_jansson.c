// jansson as the shared library would be. Linked in the variants oss_fuzz only, where it is static.
//
// --wrap= reaches into a static library: jansson's allocations would count as the accept path's, could be made to fail,
// and its first object would read /dev/urandom, all inside a simulated run. So it gets the C library's allocator, found
// by name because a wrapped link has none of that name, and its seed before any run begins.
#include <dlfcn.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

// Before memory_sanitizer.c, which builds on the allocator that it finds.
#define FIRST 101

__attribute__((constructor(FIRST))) static void stay_outside(void) {
  json_malloc_t allocate = NULL;
  json_free_t release = NULL;
  void *found[] = {dlsym(RTLD_DEFAULT, "malloc"), dlsym(RTLD_DEFAULT, "free")};
  if (found[0] == NULL || found[1] == NULL) {
    abort();
  }
  memcpy(&allocate, &found[0], sizeof(allocate));
  memcpy(&release, &found[1], sizeof(release));
  json_set_alloc_funcs(allocate, release);
  json_object_seed(1);
}
