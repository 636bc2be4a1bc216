// The books: what the code under test has allocated and not yet freed.
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/kernel/state.h"

#define PLACES_MIN  1024u
#define PRINTED_MAX 16u

static size_t home_of(const struct tg_books *books, const void *pointer) {
  uint64_t hash = (uint64_t)(uintptr_t)pointer * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(hash >> 32) & (books->num_places - 1);
}

static bool taken(const struct tg_books *books, size_t at) {
  return books->places[at].generation == books->generation;
}

static void put(struct tg_books *books, const struct tg_allocation *allocation) {
  size_t at = home_of(books, allocation->pointer);
  while (taken(books, at)) {
    assert(books->places[at].pointer != allocation->pointer);
    at = (at + 1) & (books->num_places - 1);
  }
  books->places[at] = *allocation;
}

static void grow(struct tg_books *books) {
  struct tg_books larger = *books;
  larger.num_places = books->num_places == 0 ? PLACES_MIN : 2 * books->num_places;
  larger.places = calloc(larger.num_places, sizeof(larger.places[0]));
  if (larger.places == NULL) {
    fprintf(stderr, "simulated kernel: no memory for the books of %" PRIu64 " allocations\n", books->live);
    abort();
  }
  for (size_t at = 0; at < books->num_places; at++) {
    if (taken(books, at)) {
      put(&larger, &books->places[at]);
    }
  }
  free(books->places);
  *books = larger;
}

void tg_books_reset(struct tg_books *books) {
  books->generation++;
  books->live = 0;
  books->live_bytes = 0;
  books->made = 0;
  books->made_bytes = 0;
  books->peak_bytes = 0;
}

void tg_books_free(struct tg_books *books) {
  free(books->places);
  *books = (struct tg_books){0};
}

void tg_books_add(struct tg_books *books, void *pointer, size_t size, void *caller) {
  if (2 * (books->live + 1) > books->num_places) {
    grow(books);
  }
  struct tg_allocation allocation = {
      .pointer = pointer, .size = size, .number = books->made++, .caller = caller, .generation = books->generation};
  put(books, &allocation);
  books->live++;
  books->live_bytes += size;
  books->made_bytes += size;
  if (books->live_bytes > books->peak_bytes) {
    books->peak_bytes = books->live_bytes;
  }
}

// Closes the gap at `at`: what would no longer be found is moved back.
static void close_gap(struct tg_books *books, size_t at) {
  size_t mask = books->num_places - 1;
  for (size_t next = (at + 1) & mask; taken(books, next); next = (next + 1) & mask) {
    size_t home = home_of(books, books->places[next].pointer);
    if (((next - home) & mask) >= ((next - at) & mask)) {
      books->places[at] = books->places[next];
      at = next;
    }
  }
  books->places[at].generation = 0;
}

// Returns where an allocation stands, or num_places.
static size_t place_of(const struct tg_books *books, const void *pointer) {
  if (books->live == 0) {
    return books->num_places;
  }
  size_t at = home_of(books, pointer);
  while (taken(books, at) && books->places[at].pointer != pointer) {
    at = (at + 1) & (books->num_places - 1);
  }
  return taken(books, at) ? at : books->num_places;
}

bool tg_books_find(const struct tg_books *books, const void *pointer, struct tg_allocation *out) {
  size_t at = place_of(books, pointer);
  if (at == books->num_places) {
    return false;
  }
  *out = books->places[at];
  return true;
}

bool tg_books_remove(struct tg_books *books, void *pointer, struct tg_allocation *out) {
  size_t at = place_of(books, pointer);
  if (at == books->num_places) {
    return false;
  }
  *out = books->places[at];
  books->live--;
  books->live_bytes -= books->places[at].size;
  close_gap(books, at);
  return true;
}

bool tg_memory_fails(struct tg_kernel *kernel) {
  kernel->calls[TG_CALL_MALLOC]++;
  kernel->hit_now = false;
  return tg_inject(kernel, TG_CALL_MALLOC, NULL) != 0;
}

uint64_t tg_kernel_allocations(const struct tg_kernel *kernel) {
  return kernel->books.live;
}

uint64_t tg_kernel_allocations_made(const struct tg_kernel *kernel) {
  return kernel->books.made;
}

uint64_t tg_kernel_bytes_made(const struct tg_kernel *kernel) {
  return kernel->books.made_bytes;
}

void tg_kernel_mark_peak(struct tg_kernel *kernel) {
  kernel->books.peak_bytes = kernel->books.live_bytes;
}

uint64_t tg_kernel_peak_bytes(const struct tg_kernel *kernel) {
  return kernel->books.peak_bytes;
}

uint64_t tg_kernel_allocated_bytes(const struct tg_kernel *kernel) {
  return kernel->books.live_bytes;
}

static const struct tg_allocation *first_from(const struct tg_books *books, uint64_t number) {
  const struct tg_allocation *first = NULL;
  for (size_t at = 0; at < books->num_places; at++) {
    const struct tg_allocation *one = &books->places[at];
    if (taken(books, at) && one->number >= number && (first == NULL || one->number < first->number)) {
      first = one;
    }
  }
  return first;
}

void tg_kernel_print_allocations(const struct tg_kernel *kernel, FILE *to) {
  // Where the program was loaded: what tools such as addr2line want is the distance from there.
  extern const char __executable_start[];
  uint64_t number = 0;
  for (unsigned i = 0; i < PRINTED_MAX; i++) {
    const struct tg_allocation *one = first_from(&kernel->books, number);
    if (one == NULL) {
      return;
    }
    fprintf(to, "allocation %" PRIu64 ": %zu bytes, by the code at %#" PRIxPTR " in the program (addr2line -e)\n",
            one->number, one->size, (uintptr_t)one->caller - (uintptr_t)__executable_start);
    number = one->number + 1;
  }
}
