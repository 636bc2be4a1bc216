// What MemorySanitizer needs to be told. Linked in its variants only.
#include <jansson.h>
#include <sanitizer/msan_interface.h>

// The runtime starts its symbolizer over pipes, which the simulated kernel has none of: a report made inside a run
// would end as a call that is not modelled, before it says where. Its addresses are for llvm-symbolizer.
const char *__msan_default_options(void) {
  return "symbolize=0";
}

// The system's jansson is not instrumented: what it stores is not seen. What it allocates counts as written, so that
// the inline functions of its header may read it; its own mistakes are not looked for. The allocator below is the one
// that it had: the simulated kernel's books do not count it in any other build either.
static json_malloc_t allocate;
static json_free_t release;

static void *allocate_written(size_t size) {
  void *block = allocate(size);
  if (block != NULL) {
    __msan_unpoison(block, size);
  }
  return block;
}

__attribute__((constructor)) static void take_over(void) {
  json_get_alloc_funcs(&allocate, &release);
  json_set_alloc_funcs(allocate_written, release);
}
