// What is counted is what ships: the archives of our own code are the same, byte for byte, in both variants.
// Usage: objects_test RELEASE... -- COUNTED... -- OTHER..., the last of which is like the first of each and differs.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ARCHIVES_MAX 16

static const char *groups[3][ARCHIVES_MAX];
static size_t num[3];

// Returns whether two files are the same, and how long the first is or where they differ.
static bool same(const char *left, const char *right, long *out_at) {
  FILE *a = fopen(left, "re");
  FILE *b = fopen(right, "re");
  assert_non_null(a);
  assert_non_null(b);
  int from_a = 0;
  int from_b = 0;
  *out_at = -1;
  do {
    from_a = getc(a);
    from_b = getc(b);
    ++*out_at;
  } while (from_a == from_b && from_a != EOF);
  (void)fclose(a);
  (void)fclose(b);
  return from_a == from_b;
}

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static void our_own_objects_are_those_that_ship(void **state) {
  (void)state;
  assert_true(num[0] > 0);
  assert_int_equal(num[0], num[1]);
  for (size_t i = 0; i < num[0]; i++) {
    long at = 0;
    assert_string_equal(name_of(groups[0][i]), name_of(groups[1][i]));
    if (!same(groups[0][i], groups[1][i], &at)) {
      fail_msg("%s differs from byte %ld on: the variants release and counted do not compile it with the same flags",
               groups[1][i], at);
    }
    assert_true(at > 1000);
  }
}

static void a_difference_would_be_seen(void **state) {
  (void)state;
  assert_true(num[2] > 0);
  for (size_t i = 0; i < num[2]; i++) {
    long at = 0;
    assert_false(same(groups[0][0], groups[2][i], &at));
  }
}

int main(int argc, char **argv) {
  size_t group = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--") == 0) {
      group++;
    } else if (group < 3 && num[group] < ARCHIVES_MAX) {
      groups[group][num[group]++] = argv[i];
    }
  }
  if (group != 2) {
    fprintf(stderr, "usage: objects_test RELEASE... -- COUNTED... -- OTHER...\n");
    return 2;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(our_own_objects_are_those_that_ship),
      cmocka_unit_test(a_difference_would_be_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
