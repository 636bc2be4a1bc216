// The allocator: its memory is real, but what is allocated inside a run is in the books, and can be made to fail.
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness/kernel/trap.h"
#include "harness/kernel/wrap.h"

#define CALLER __builtin_return_address(0)

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *pointer);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void __wrap_free(void *pointer);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_memalign(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t max);
int __wrap_vasprintf(char **out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
int __wrap_asprintf(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap___vasprintf_chk(char **out, int flag, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
int __wrap___asprintf_chk(char **out, int flag, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Ends an allocation inside: a NULL is the real allocator's or an injected failure.
TG_PLAIN static void *finish(struct tg_kernel *kernel, void *pointer, size_t size, void *caller) {
  if (pointer != NULL) {
    tg_books_add(&kernel->books, pointer, size, caller);
  }
  tg_trap_return(kernel, pointer == NULL ? -ENOMEM : 0);
  return pointer;
}

TG_PLAIN static void *fail_or(struct tg_kernel *kernel, size_t size, void *caller, void *(*allocate)(size_t, size_t),
                              size_t argument) {
  if (tg_memory_fails(kernel)) {
    tg_call_end(kernel, -ENOMEM, "malloc(%zu)", size);
    return finish(kernel, NULL, size, caller);
  }
  return finish(kernel, allocate(argument, size), size, caller);
}

TG_PLAIN static void *real_malloc(size_t unused, size_t size) {
  (void)unused;
  void *kept = tg_kept_blocks_take(tg_kernel_owned, size);
  return kept != NULL ? kept : __real_malloc(size);
}

TG_PLAIN void *__wrap_malloc(size_t size) {
  struct tg_kernel *kernel = tg_trap();
  return kernel == NULL ? __real_malloc(size) : fail_or(kernel, size, CALLER, real_malloc, 0);
}

TG_PLAIN static void *real_calloc(size_t count, size_t size) {
  return __real_calloc(count, size / count);
}

TG_PLAIN void *__wrap_calloc(size_t count, size_t size) {
  struct tg_kernel *kernel = tg_trap();
  size_t total;
  if (kernel == NULL) {
    return __real_calloc(count, size);
  }
  if (__builtin_mul_overflow(count, size, &total)) {
    return finish(kernel, NULL, 0, CALLER);
  }
  return total == 0 ? fail_or(kernel, 0, CALLER, real_malloc, 0) : fail_or(kernel, total, CALLER, real_calloc, count);
}

TG_PLAIN static void forget(struct tg_kernel *kernel, void *pointer) {
  struct tg_allocation was;
  tg_books_remove(&kernel->books, pointer, &was);
}

// Returns whether the block is dealt with.
TG_PLAIN static bool released(struct tg_kernel *kernel, void *pointer) {
  struct tg_allocation was;
  if (tg_books_remove(&kernel->books, pointer, &was)) {
    return tg_kept_blocks_put(kernel, pointer, was.size);
  }
  tg_kept_blocks_give_back(kernel, pointer);
  return false;
}

// Inside as well as outside: what was made inside may be released by the driver after the run.
TG_PLAIN void __wrap_free(void *pointer) {
  if (pointer == NULL || tg_kernel_owned == NULL || !released(tg_kernel_owned, pointer)) {
    __real_free(pointer);
  }
}

TG_PLAIN static void *reallocate(struct tg_kernel *kernel, void *old, size_t size, void *caller) {
  if (old == NULL) {
    return fail_or(kernel, size, caller, real_malloc, 0);
  }
  if (size > 0 && tg_memory_fails(kernel)) {
    tg_call_end(kernel, -ENOMEM, "realloc(%zu)", size);
    return finish(kernel, NULL, size, caller);
  }
  // Before the call: afterwards the address may be another's.
  struct tg_allocation before;
  bool ours = tg_books_find(&kernel->books, old, &before);
  forget(kernel, old);
  tg_kept_blocks_give_back(kernel, old);
  void *pointer = __real_realloc(old, size);
  if (pointer == NULL && size > 0 && ours) {
    // It is still there (C11, 7.22.3.5).
    tg_books_add(&kernel->books, before.pointer, before.size, before.caller);
  }
  if (size == 0) {
    tg_trap_return(kernel, 0);
    return pointer;
  }
  return finish(kernel, pointer, size, caller);
}

// Outside: memory that was made inside stays in the books.
TG_PLAIN static void *reallocate_outside(struct tg_kernel *kernel, void *old, size_t size) {
  struct tg_allocation before;
  if (kernel == NULL || old == NULL || !tg_books_find(&kernel->books, old, &before)) {
    if (kernel != NULL) {
      tg_kept_blocks_give_back(kernel, old);
    }
    return __real_realloc(old, size);
  }
  forget(kernel, old);
  void *pointer = __real_realloc(old, size);
  if (pointer != NULL) {
    tg_books_add(&kernel->books, pointer, size, before.caller);
  } else if (size > 0) {
    tg_books_add(&kernel->books, before.pointer, before.size, before.caller);
  }
  return pointer;
}

TG_PLAIN void *__wrap_realloc(void *old, size_t size) {
  struct tg_kernel *kernel = tg_trap();
  return kernel == NULL ? reallocate_outside(tg_kernel_owned, old, size) : reallocate(kernel, old, size, CALLER);
}

TG_PLAIN void *__wrap_reallocarray(void *old, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  struct tg_kernel *kernel = tg_trap();
  return kernel == NULL ? reallocate_outside(tg_kernel_owned, old, total) : reallocate(kernel, old, total, CALLER);
}

static void *real_aligned_alloc(size_t alignment, size_t size) {
  return __real_aligned_alloc(alignment, size);
}

TG_PLAIN void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  struct tg_kernel *kernel = tg_trap();
  return kernel == NULL ? __real_aligned_alloc(alignment, size)
                        : fail_or(kernel, size, CALLER, real_aligned_alloc, alignment);
}

void *__real_memalign(size_t alignment, size_t size);

static void *real_memalign(size_t alignment, size_t size) {
  return __real_memalign(alignment, size);
}

TG_PLAIN void *__wrap_memalign(size_t alignment, size_t size) {
  struct tg_kernel *kernel = tg_trap();
  return kernel == NULL ? __real_memalign(alignment, size) : fail_or(kernel, size, CALLER, real_memalign, alignment);
}

// Returns its error and leaves errno alone.
TG_PLAIN int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
  struct tg_kernel *kernel = tg_trap();
  if (kernel == NULL) {
    return __real_posix_memalign(out, alignment, size);
  }
  int error = ENOMEM;
  if (!tg_memory_fails(kernel)) {
    error = __real_posix_memalign(out, alignment, size);
  } else {
    tg_call_end(kernel, -ENOMEM, "posix_memalign(%zu)", size);
  }
  if (error == 0) {
    tg_books_add(&kernel->books, *out, size, CALLER);
  }
  tg_trap_return(kernel, 0);
  return error;
}

// The rest allocate inside the C library, out of the linker's sight: here they are made of the above.
static char *duplicate(const char *text, size_t len, void *caller) {
  struct tg_kernel *kernel = tg_trap();
  char *copy = kernel == NULL ? __real_malloc(len + 1) : fail_or(kernel, len + 1, caller, real_malloc, 0);
  if (copy != NULL) {
    memcpy(copy, text, len);
    copy[len] = '\0';
  }
  return copy;
}

TG_PLAIN char *__wrap_strdup(const char *text) {
  return duplicate(text, strlen(text), CALLER);
}

TG_PLAIN char *__wrap_strndup(const char *text, size_t max) {
  return duplicate(text, strnlen(text, max), CALLER);
}

static int print(char **out, const char *format, va_list args, void *caller) __attribute__((format(printf, 2, 0)));
static int print(char **out, const char *format, va_list args, void *caller) {
  va_list again;
  va_copy(again, args);
  int len = vsnprintf(NULL, 0, format, again);
  va_end(again);
  struct tg_kernel *kernel = tg_trap();
  if (len >= 0) {
    size_t size = (size_t)len + 1;
    *out = kernel == NULL ? __real_malloc(size) : fail_or(kernel, size, caller, real_malloc, 0);
    return *out == NULL ? -1 : vsnprintf(*out, size, format, args);
  }
  if (kernel != NULL) {
    tg_trap_return(kernel, -errno);
  }
  return -1;
}

TG_PLAIN int __wrap_vasprintf(char **out, const char *format, va_list args) {
  return print(out, format, args, CALLER);
}

TG_PLAIN int __wrap___vasprintf_chk(char **out, int flag, const char *format, va_list args) {
  (void)flag;
  return print(out, format, args, CALLER);
}

TG_PLAIN int __wrap_asprintf(char **out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int len = print(out, format, args, CALLER);
  va_end(args);
  return len;
}

TG_PLAIN int __wrap___asprintf_chk(char **out, int flag, const char *format, ...) {
  (void)flag;
  va_list args;
  va_start(args, format);
  int len = print(out, format, args, CALLER);
  va_end(args);
  return len;
}

// Anonymous pages are memory like any other, a file is not (BoringSSL's fork detection takes one page, once).
void *__real_mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset);
TG_PLAIN void *__wrap_mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset) {
  struct tg_kernel *kernel = tg_kernel_inside;
  if (kernel != NULL && (flags & MAP_ANONYMOUS) == 0) {
    tg_trap();
    tg_refuse(kernel, "mmap");
  }
  return __real_mmap(address, len, protection, flags, fd, offset);
}

void *__real_mmap64(void *address, size_t len, int protection, int flags, int fd, off64_t offset);
void *__wrap_mmap64(void *address, size_t len, int protection, int flags, int fd, off64_t offset);
TG_PLAIN void *__wrap_mmap64(void *address, size_t len, int protection, int flags, int fd, off64_t offset) {
  struct tg_kernel *kernel = tg_kernel_inside;
  if (kernel != NULL && (flags & MAP_ANONYMOUS) == 0) {
    tg_trap();
    tg_refuse(kernel, "mmap64");
  }
  return __real_mmap64(address, len, protection, flags, fd, offset);
}
