// What AddressSanitizer does unless ASAN_OPTIONS says otherwise, for every target alike.
//
// A run allocates some hundred times and lives a few milliseconds. With the runtime's own defaults half of that is
// spent on filling memory, on a quarantine of 256 MiB, whose pages are always new ones, and on keeping thirty frames
// for every allocation. 16 MiB are more than a run frees, so a use after free within a run is still found; for the
// frames replay with ASAN_OPTIONS=malloc_context_size=30. Freed pages are kept: giving them back flushes every TLB.
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void) {
  return "malloc_context_size=3:quarantine_size_mb=16:thread_local_quarantine_size_kb=64:max_malloc_fill_size=0:"
         "detect_stack_use_after_return=0:allocator_release_to_os_interval_ms=-1";
}
