#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/faults/refresh/anchors.h"
#include "harness/faults/refresh/rebase.h"
#include "harness/faults/refresh/text_file.h"
#include "harness/faults/runner/folder.h"

static const char kPatch[] =
    "--- a/harness/accept/one.c\n"
    "+++ b/harness/accept/one.c\n"
    "@@ -1,7 +1,6 @@\n"
    " static int first(int a) {\n"
    "   a += 1;\n"
    "   a += 2;\n"
    "-  check(a);\n"
    "   a += 3;\n"
    "   return a;\n"
    " }\n";

#define BODY  "  a += 1;\n  a += 2;\n  check(a);\n  a += 3;\n  return a;\n}\n"
#define FIRST "static int first(int a) {\n" BODY

// A tree with one patch and two sources.
struct scene {
  struct tg_folder root;
  char patch[128];
};

static void put(struct scene *scene, const char *path, const char *text) {
  struct tg_error err;
  char file[128];
  (void)snprintf(file, sizeof(file), "%s/%s", scene->root.path, path);
  assert_true(tg_text_write(scene->root.path, file, text, &err));
}

static void set_up(struct scene *scene, const char *one, const char *two) {
  struct tg_error err;
  assert_true(tg_folder_make(&scene->root, &err));
  put(scene, "harness/accept/one.c", one);
  put(scene, "harness/server/two.c", two);
  put(scene, "f.patch", kPatch);
  (void)snprintf(scene->patch, sizeof(scene->patch), "%s/f.patch", scene->root.path);
}

static void assert_patch(struct scene *scene, const char *expected_part) {
  struct tg_error err;
  char *text = tg_text_read(scene->patch, &err);
  assert_non_null(text);
  assert_non_null(strstr(text, expected_part));
  free(text);
}

static void test_what_applies_stays(void **state) {
  (void)state;
  struct tg_error err;
  struct scene scene;
  set_up(&scene, FIRST, "");
  assert_int_equal(tg_rebase_patch(scene.root.path, scene.patch, &err), TG_REBASE_UNCHANGED);
  assert_patch(&scene, kPatch);
  tg_folder_remove(&scene.root);
}

static void test_lines_that_moved(void **state) {
  (void)state;
  struct tg_error err;
  struct scene scene;
  set_up(&scene, "int before;\n\n" FIRST, "");
  assert_int_equal(tg_rebase_patch(scene.root.path, scene.patch, &err), TG_REBASE_WRITTEN);
  assert_patch(&scene, "@@ -3,7 +3,6 @@");
  // Done twice, it is done.
  assert_int_equal(tg_rebase_patch(scene.root.path, scene.patch, &err), TG_REBASE_UNCHANGED);
  tg_folder_remove(&scene.root);
}

static void test_context_that_changed(void **state) {
  (void)state;
  struct tg_error err;
  struct scene scene;
  set_up(&scene, "static int first(int a) {\n  a += 10;\n  a += 2;\n  check(a);\n  a += 3;\n  return 2 * a;\n}\n", "");
  assert_int_equal(tg_rebase_patch(scene.root.path, scene.patch, &err), TG_REBASE_WRITTEN);
  assert_patch(&scene, " a += 10;\n");
  assert_patch(&scene, "-  check(a);\n");
  tg_folder_remove(&scene.root);
}

static void test_a_function_that_moved_to_another_file(void **state) {
  (void)state;
  struct tg_error err;
  struct scene scene;
  set_up(&scene, "int nothing;\n", "int here;\n" FIRST);
  assert_int_equal(tg_rebase_patch(scene.root.path, scene.patch, &err), TG_REBASE_WRITTEN);
  assert_patch(&scene, "+++ b/harness/server/two.c\n@@ -2,7 +2,6 @@");
  tg_folder_remove(&scene.root);
}

static void assert_impossible(const char *one, const char *reason) {
  struct tg_error err;
  struct scene scene;
  set_up(&scene, one, "");
  assert_int_equal(tg_rebase_patch(scene.root.path, scene.patch, &err), TG_REBASE_IMPOSSIBLE);
  assert_non_null(strstr(err.text, reason));
  assert_patch(&scene, kPatch);
  tg_folder_remove(&scene.root);
}

static void test_what_cannot_be_done_changes_nothing(void **state) {
  (void)state;
  assert_impossible("static int another(int a) {\n" BODY, "no function first is left");
  assert_impossible("static int first(int a) {\n  return a;\n}\n", "patch says");
  // The lines are there, but in another function.
  assert_impossible("static int first(int a) {\n  return a;\n}\n\nstatic int second(int a) {\n" BODY,
                    "another function");
}

static void test_anchors(void **state) {
  (void)state;
  struct tg_anchors anchors;
  assert_true(
      tg_anchors_read("--- a/x.c\n+++ b/x.c\n@@ -9,3 +9,3 @@ static void heading(void) {\n a();\n-b();\n+c();\n"
                      "@@ -20,3 +20,4 @@ static void heading(void) {\n }\n \n int inside(int a) {\n+  d();\n",
                      &anchors));
  assert_int_equal(anchors.num, 2);
  assert_string_equal(anchors.list[0].path, "x.c");
  assert_string_equal(anchors.list[0].function, "heading");
  assert_string_equal(anchors.list[1].function, "inside");
  assert_false(tg_anchors_read("no diff\n", &anchors));
  assert_true(tg_anchors_defines("struct s *f(int a,\n    int b) {\n", "f"));
  assert_false(tg_anchors_defines("int f(int a);\n  f(1);\n", "f"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_applies_stays),
      cmocka_unit_test(test_lines_that_moved),
      cmocka_unit_test(test_context_that_changed),
      cmocka_unit_test(test_a_function_that_moved_to_another_file),
      cmocka_unit_test(test_what_cannot_be_done_changes_nothing),
      cmocka_unit_test(test_anchors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
