// Large freed blocks, kept for the next run.
//
// AddressSanitizer maps every block beyond 128 KiB anew and unmaps it when it leaves the quarantine: page faults,
// shadow memory given back, and a flush of the other processors' TLBs, for each output block of an accept path (149
// KiB).
#include <string.h>

#include "harness/kernel/state.h"
#include "harness/kernel/trap.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS 1
#endif
#endif

#ifdef KEEPS

#include <sanitizer/asan_interface.h>

// Smaller ones cost the allocator no more than others.
#define SIZE_MIN 16384u

void __real_free(void *pointer);

// One bit of 64, by the address: whoever frees asks first whether it can be one of these.
static uint64_t bit_of(const void *pointer) {
  return UINT64_C(1) << ((uint64_t)(uintptr_t)pointer * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static void *take_out(struct tg_kept_blocks *kept, size_t at) {
  struct tg_kept_block block = kept->blocks[at];
  kept->num--;
  memmove(&kept->blocks[at], &kept->blocks[at + 1], (kept->num - at) * sizeof(kept->blocks[0]));
  kept->num_old -= at < kept->num_old ? 1 : 0;
  kept->bits = 0;
  for (size_t i = 0; i < kept->num; i++) {
    kept->bits |= bit_of(kept->blocks[i].pointer);
  }
  __asan_unpoison_memory_region(block.pointer, block.size);
  return block.pointer;
}

bool tg_kept_blocks_put(struct tg_kernel *kernel, void *pointer, size_t size) {
  struct tg_kept_blocks *kept = &kernel->kept;
  if (size < SIZE_MIN || !kernel->options.keep_blocks) {
    return false;
  }
  if (kept->num == TG_KEPT_BLOCKS_MAX) {
    // The first is the one that has been of no use for longest, unless this run has freed them all.
    if (kept->num_old == 0) {
      return false;
    }
    __real_free(take_out(kept, 0));
  }
  __asan_poison_memory_region(pointer, size);
  kept->blocks[kept->num++] = (struct tg_kept_block){.pointer = pointer, .size = size};
  kept->bits |= bit_of(pointer);
  return true;
}

void *tg_kept_blocks_take(struct tg_kernel *kernel, size_t size) {
  struct tg_kept_blocks *kept = &kernel->kept;
  if (size < SIZE_MIN) {
    return NULL;
  }
  // The last freed first: it is the likeliest to be in a cache.
  for (size_t at = kept->num_old; at > 0; at--) {
    if (kept->blocks[at - 1].size == size) {
      return take_out(kept, at - 1);
    }
  }
  return NULL;
}

void tg_kept_blocks_give_back(struct tg_kernel *kernel, void *pointer) {
  struct tg_kept_blocks *kept = &kernel->kept;
  if ((kept->bits & bit_of(pointer)) == 0) {
    return;
  }
  for (size_t at = 0; at < kept->num; at++) {
    if (kept->blocks[at].pointer == pointer) {
      __real_free(take_out(kept, at));
      return;
    }
  }
}

void tg_kept_blocks_reset(struct tg_kernel *kernel) {
  kernel->kept.num_old = kernel->kept.num;
}

void tg_kept_blocks_free(struct tg_kernel *kernel) {
  while (kernel->kept.num > 0) {
    __real_free(take_out(&kernel->kept, 0));
  }
}

#else

bool tg_kept_blocks_put(struct tg_kernel *kernel, void *pointer, size_t size) {
  (void)kernel;
  (void)pointer;
  (void)size;
  return false;
}

void *tg_kept_blocks_take(struct tg_kernel *kernel, size_t size) {
  (void)kernel;
  (void)size;
  return NULL;
}

void tg_kept_blocks_give_back(struct tg_kernel *kernel, void *pointer) {
  (void)kernel;
  (void)pointer;
}

void tg_kept_blocks_reset(struct tg_kernel *kernel) {
  (void)kernel;
}

void tg_kept_blocks_free(struct tg_kernel *kernel) {
  (void)kernel;
}

#endif
