// The page is whole, needs nothing from elsewhere, and shows texts as texts.
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fuzz/service/durable.h"
#include "fuzz/service/health.h"
#include "fuzz/service/page.h"

#define DEPTH_MAX 64

static struct tg_fuzzd_state state;
static struct tg_fuzzd_choice choice;
static struct tg_page_target targets[TG_FUZZD_TARGETS_MAX];
static const struct tg_candidate kCandidate = {
    .target = "accept_schedule",
    .name = "p5-0123456789",
    .line = "property P5 broken: <script>alert(\"1\")</script> & 'so'",
    .engine = "afl",
    .found_at_s = 1700000000,
    .size = 12,
    .seen = 3,
};

static int begin(void **unused) {
  (void)unused;
  memset(&state, 0, sizeof(state));
  memset(targets, 0, sizeof(targets));
  choice = (struct tg_fuzzd_choice){.engines = {true, true}, .targets = {true, true}};
  assert_non_null(tg_fuzzd_state_target(&state, "accept_schedule"));
  assert_non_null(tg_fuzzd_state_target(&state, "request_bytes"));
  assert_non_null(tg_fuzzd_state_target(&state, "left_out"));
  return 0;
}

static char *render(struct tg_page *page) {
  char path[] = "/tmp/page-test-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  page->state = &state;
  page->choice = &choice;
  page->targets = targets;
  page->root = "/var/fuzz<d>";
  page->now_s = 1700000100;
  page->max_disk_mb = 4096;
  page->refresh_s = TG_PAGE_REFRESH_S;
  page->note = page->note != NULL ? page->note : "";
  struct tg_error err;
  if (!tg_page_write(path, page, &err)) {
    fail_msg("%s", err.text);
  }
  size_t len;
  char *text = tg_fuzzd_read(path, (size_t)1 << 22, &len, &err);
  unlink(path);
  assert_non_null(text);
  assert_int_equal(strlen(text), len);
  return text;
}

// Every element that is opened is closed, in order, but for those that have no end in HTML.
static void assert_balanced(const char *text) {
  static const char *const kVoid[] = {"meta", "br"};
  char open[DEPTH_MAX][16];
  int depth = 0;
  for (const char *at = strchr(text, '<'); at != NULL; at = strchr(at + 1, '<')) {
    bool closes = at[1] == '/';
    const char *name = at + 1 + closes;
    size_t len = 0;
    while (isalnum((unsigned char)name[len])) {
      len++;
    }
    const char *end = strchr(at, '>');
    assert_non_null(end);
    if (at[1] == '!' || end[-1] == '/') {
      continue;
    }
    assert_true(len > 0 && len < sizeof(open[0]));
    char tag[16];
    (void)snprintf(tag, sizeof(tag), "%.*s", (int)len, name);
    bool has_no_end = strcmp(tag, kVoid[0]) == 0 || strcmp(tag, kVoid[1]) == 0;
    if (closes) {
      assert_true(depth > 0);
      assert_string_equal(tag, open[--depth]);
    } else if (!has_no_end) {
      assert_true(depth < DEPTH_MAX);
      (void)snprintf(open[depth++], sizeof(open[0]), "%s", tag);
    }
  }
  assert_int_equal(depth, 0);
}

static void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) {
    fail_msg("\"%s\" is not in the page", part);
  }
}

static void test_an_empty_page_is_whole(void **unused) {
  (void)unused;
  struct tg_page page = {.status = "running"};
  char *text = render(&page);
  assert_balanced(text);
  assert_has(text, "None so far.");
  assert_has(text, "waits for its first slice");
  assert_null(strstr(text, "left_out"));
  free(text);
}

static void test_a_full_page(void **unused) {
  (void)unused;
  static const char *const kWarnings[] = {"the disk <is> full"};
  for (int i = 0; i < 20; i++) {
    const struct tg_fuzzd_slice_result result = {.ran = true,
                                                 .cpu_s = 60,
                                                 .executions = 1000000,
                                                 .edges_before = 3900,
                                                 .edges = 4000 + (uint64_t)i,
                                                 .new_edges = i > 0 ? 1 : 4000};
    tg_fuzzd_account(&state, &choice, 0, TG_FUZZD_LIBFUZZER, 0, &result, 1e9);
    const struct tg_fuzzd_slice_result failure = {.ran = false, .error = "no <program>"};
    tg_fuzzd_account(&state, &choice, 1, TG_FUZZD_AFL, 0, &failure, 1e9);
  }
  (void)snprintf(targets[0].now, sizeof(targets[0].now), "libfuzzer, paused");
  struct tg_page page = {
      .status = "paused",
      .note = "Waits",
      .candidates = &kCandidate,
      .num_candidates = 1,
      .all_candidates = 3,
      .warnings = kWarnings,
      .num_warnings = 1,
  };
  char *text = render(&page);
  assert_balanced(text);
  // Nothing of a text becomes markup.
  assert_null(strstr(text, "<script"));
  assert_has(text, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;so&#39;");
  assert_has(text, "/var/fuzz&lt;d&gt;");
  assert_has(text, "the disk &lt;is&gt; full");
  assert_has(text, "stopped running: afl ran nothing in its last 20 slices: no &lt;program&gt;");
  assert_has(text, "<a href=\"candidates/accept_schedule/explanations/p5-0123456789.txt\">");
  assert_has(text, "2 earlier ones are in candidates/.");
  assert_has(text, "aria-label=\"edges covered: 3900 at first, 4019 now\"");
  assert_has(text, "<dd>20.0 M</dd>");
  assert_has(text, "<meta http-equiv=\"refresh\" content=\"10\">");
  assert_has(text, "prefers-color-scheme:dark");
  // Nothing comes from elsewhere.
  assert_null(strstr(text, "http:"));
  assert_null(strstr(text, "https:"));
  assert_null(strstr(text, "src="));
  assert_null(strstr(text, "@import"));
  assert_null(strstr(text, "url("));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_an_empty_page_is_whole, begin),
      cmocka_unit_test_setup(test_a_full_page, begin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
