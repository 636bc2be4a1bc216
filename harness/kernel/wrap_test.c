// Whatever the code under test calls is known: modelled, refused, or named harmless in wrap.bzl.
//
// usage: wrap_test LISTS ARCHIVE... -- KERNEL_ARCHIVE... -- UNLISTED_ARCHIVE...
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/kernel/testing_elf.h"

#define MAX_ARCHIVES 16u
#define MAX_LISTED   1024u

struct archives {
  struct testing_elf elf[MAX_ARCHIVES];
  const char *paths[MAX_ARCHIVES];
  size_t num;
};

struct listed {
  char kind[16];
  char name[64];
};

static struct archives under_test;
static struct archives kernel;
static struct archives unlisted;
static struct listed listed[MAX_LISTED];
static size_t num_listed;

static const struct listed *find_listed(const char *name) {
  for (size_t i = 0; i < num_listed; i++) {
    if (strcmp(listed[i].name, name) == 0) {
      return &listed[i];
    }
  }
  return NULL;
}

static bool defined_in(const struct archives *archives, const char *name) {
  for (size_t i = 0; i < archives->num; i++) {
    const struct testing_elf *elf = &archives->elf[i];
    for (size_t j = 0; j < elf->num_symbols; j++) {
      if (elf->symbols[j].defined && strcmp(elf->symbols[j].name, name) == 0) {
        return true;
      }
    }
  }
  return false;
}

// Counts the undefined symbols that nobody knows, names each with its object, and copies the first's name.
static size_t count_unknown(const struct archives *archives, FILE *report, char *out_first, size_t first_size) {
  size_t unknown = 0;
  for (size_t i = 0; i < archives->num; i++) {
    const struct testing_elf *elf = &archives->elf[i];
    for (size_t j = 0; j < elf->num_symbols; j++) {
      const struct testing_elf_symbol *symbol = &elf->symbols[j];
      if (symbol->defined || find_listed(symbol->name) != NULL || defined_in(archives, symbol->name)) {
        continue;
      }
      if (unknown++ == 0) {
        snprintf(out_first, first_size, "%s of %s", symbol->name, symbol->object);
      }
      fprintf(report, "%s(%s): %s is not in harness/kernel/wrap.bzl: model it, refuse it, or say why it is harmless\n",
              archives->paths[i], symbol->object, symbol->name);
    }
  }
  return unknown;
}

static void every_call_of_the_code_under_test_is_known(void **state) {
  (void)state;
  char first[128] = "";
  assert_int_equal(count_unknown(&under_test, stderr, first, sizeof(first)), 0);
}

static void the_archives_are_what_they_should_be(void **state) {
  (void)state;
  // One of each: the accept path, the responder, BoringSSL's two.
  static const char *const kDefined[] = {"tg_shard_turn",       "tg_http_app_callbacks", "tg_http_parse",
                                         "tg_credentials_load", "tg_error_set",          "SSL_do_handshake",
                                         "RAND_bytes"};
  for (size_t i = 0; i < sizeof(kDefined) / sizeof(kDefined[0]); i++) {
    if (!defined_in(&under_test, kDefined[i])) {
      fail_msg("no archive defines %s", kDefined[i]);
    }
  }
  size_t num_objects = 0;
  for (size_t i = 0; i < under_test.num; i++) {
    num_objects += under_test.elf[i].num_objects;
  }
  assert_true(num_objects > 200);
}

static void an_unknown_call_is_named_with_its_object(void **state) {
  (void)state;
  char first[128] = "";
  FILE *report = tmpfile();
  assert_non_null(report);
  assert_int_equal(count_unknown(&unlisted, report, first, sizeof(first)), 2);
  fclose(report);
  assert_non_null(strstr(first, "get"));
  assert_non_null(strstr(first, " of testing_unlisted"));
}

static void every_wrapped_call_has_its_function(void **state) {
  (void)state;
  size_t num_wrapped = 0;
  for (size_t i = 0; i < num_listed; i++) {
    if (strcmp(listed[i].kind, "harmless") == 0) {
      continue;
    }
    num_wrapped++;
    char name[80];
    snprintf(name, sizeof(name), "__wrap_%s", listed[i].name);
    if (!defined_in(&kernel, name)) {
      fail_msg("wrap.bzl lists %s, but no file defines %s", listed[i].name, name);
    }
  }
  assert_true(num_wrapped > 100);
}

static void every_function_for_a_wrapped_call_is_listed(void **state) {
  (void)state;
  for (size_t i = 0; i < kernel.num; i++) {
    for (size_t j = 0; j < kernel.elf[i].num_symbols; j++) {
      const struct testing_elf_symbol *symbol = &kernel.elf[i].symbols[j];
      if (!symbol->defined || strncmp(symbol->name, "__wrap_", 7) != 0) {
        continue;
      }
      const struct listed *found = find_listed(symbol->name + 7);
      if (found == NULL || strcmp(found->kind, "harmless") == 0) {
        fail_msg("%s defines %s, which wrap.bzl does not list: it is never called", symbol->object, symbol->name);
      }
    }
  }
}

static void nothing_is_listed_twice(void **state) {
  (void)state;
  for (size_t i = 0; i < num_listed; i++) {
    if (find_listed(listed[i].name) != &listed[i]) {
      fail_msg("wrap.bzl lists %s twice", listed[i].name);
    }
  }
}

static void read_lists(const char *path) {
  FILE *in = fopen(path, "re");
  if (in == NULL) {
    fprintf(stderr, "wrap_test: cannot read %s\n", path);
    exit(2);
  }
  while (num_listed < MAX_LISTED && fscanf(in, "%15s %63s", listed[num_listed].kind, listed[num_listed].name) == 2) {
    num_listed++;
  }
  fclose(in);
}

// Whether the lists and the kernel are judged too, and not the calls of the code under test alone.
static bool whole;

static int set_up(void **state) {
  (void)state;
  assert_in_range(num_listed, 200, MAX_LISTED - 1);
  struct archives *const all[] = {&under_test, &kernel, &unlisted};
  for (size_t i = 0; i < 3; i++) {
    // Other archives are judged alone.
    assert_true(all[i]->num > 0 || (i > 0 && !whole));
    for (size_t j = 0; j < all[i]->num; j++) {
      testing_elf_read(&all[i]->elf[j], all[i]->paths[j]);
    }
  }
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  struct archives *const all[] = {&under_test, &kernel, &unlisted};
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < all[i]->num; j++) {
      testing_elf_free(&all[i]->elf[j]);
    }
  }
  return 0;
}

static bool ends_in(const char *text, const char *end) {
  size_t len = strlen(text);
  size_t end_len = strlen(end);
  return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

int main(int argc, char **argv) {
  struct archives *const all[] = {&under_test, &kernel, &unlisted};
  size_t current = 0;
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "--") == 0 && current < 2) {
      current++;
    } else if (ends_in(argv[i], ".a") && all[current]->num < MAX_ARCHIVES) {
      all[current]->paths[all[current]->num++] = argv[i];
    } else if (!ends_in(argv[i], ".so")) {  // the same objects once more
      fprintf(stderr, "wrap_test: %s is not an archive\n", argv[i]);
      return 2;
    }
  }
  if (argc < 2) {
    fprintf(stderr, "usage: wrap_test LISTS ARCHIVE... [-- KERNEL_ARCHIVE... -- UNLISTED_ARCHIVE...]\n");
    return 2;
  }
  read_lists(argv[1]);
  whole = current > 0;
  if (!whole) {
    const struct CMUnitTest alone[] = {cmocka_unit_test(every_call_of_the_code_under_test_is_known)};
    return cmocka_run_group_tests(alone, set_up, tear_down);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call_of_the_code_under_test_is_known),
      cmocka_unit_test(the_archives_are_what_they_should_be),
      cmocka_unit_test(an_unknown_call_is_named_with_its_object),
      cmocka_unit_test(every_wrapped_call_has_its_function),
      cmocka_unit_test(every_function_for_a_wrapped_call_is_listed),
      cmocka_unit_test(nothing_is_listed_twice),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
