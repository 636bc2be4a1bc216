// The table of rules in docs/baselines.md names tests that exist. Usage: docs_test PAGE TEST_SOURCE...
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/baseline/baseline_fixture.h"

enum { SOURCES_MAX = 32 };

static char *page;
static const char *names[SOURCES_MAX];
static char *sources[SOURCES_MAX];
static int num_sources;

// The text of the source whose name begins the len characters at `name`, such as "staged_test".
static const char *source_named(const char *name, size_t len) {
  for (int i = 0; i < num_sources; i++) {
    const char *slash = strrchr(names[i], '/');
    const char *base = slash != NULL ? slash + 1 : names[i];
    if (strlen(base) == len + 2 && strncmp(base, name, len) == 0) {
      return sources[i];
    }
  }
  return NULL;
}

// Checks one row of the table: "SOURCE: `name`, `name`; SOURCE and SOURCE: `name`". Returns how many names it has.
static size_t check_row(const char *row, const char *end) {
  const char *source = NULL;
  size_t checked = 0;
  for (const char *at = row; at < end; at++) {
    const char *word = at;
    while (at < end && (*at == '_' || (*at >= 'a' && *at <= 'z'))) {
      at++;
    }
    const size_t len = (size_t)(at - word);
    if (len > 5 && strncmp(at - 5, "_test", 5) == 0 && word[-1] != '`') {
      source = source_named(word, len);
      if (source == NULL) {
        fail_msg("%.*s is not a test here", (int)len, word);
      }
    } else if (len > 0 && word[-1] == '`' && *at == '`' && source != NULL) {
      char wanted[160];
      (void)snprintf(wanted, sizeof(wanted), "static void test_%.*s(void **state)", (int)len, word);
      if (strstr(source, wanted) == NULL) {
        fail_msg("%.*s is named in the page and is no test", (int)len, word);
      }
      checked++;
    }
  }
  return checked;
}

static void every_rule_names_a_test_that_exists(void **state) {
  (void)state;
  const char *table = strstr(page, "| rule | test |");
  assert_non_null(table);
  size_t rules = 0;
  const char *line = strchr(strchr(table, '\n') + 1, '\n') + 1;  // behind the heading and its rule
  for (; *line == '|'; line = strchr(line, '\n') + 1) {
    const char *end = strchr(line, '\n');
    const char *second = strstr(line + 1, " | ");
    assert_true(second != NULL && second < end);
    if (check_row(second, end) == 0) {
      fail_msg("no test for: %.*s", (int)(end - line), line);
    }
    rules++;
  }
  assert_true(rules > 25);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule_names_a_test_that_exists)};
  if (argc < 3 || argc - 2 > SOURCES_MAX || (page = tg_fixture_read(argv[1])) == NULL) {
    fprintf(stderr, "usage: docs_test PAGE TEST_SOURCE...\n");
    return 2;
  }
  for (int i = 2; i < argc; i++) {
    names[num_sources] = argv[i];
    sources[num_sources] = tg_fixture_read(argv[i]);
    if (sources[num_sources++] == NULL) {
      fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 1;
    }
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  while (num_sources > 0) {
    free(sources[--num_sources]);
  }
  free(page);
  return failed;
}
