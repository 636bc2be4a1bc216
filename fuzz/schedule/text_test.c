// The text language: what is written comes back, and what is wrong is named with its line and a remedy.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/schedule/explain.h"
#include "fuzz/schedule/rng.h"
#include "fuzz/schedule/schedule.h"
#include "fuzz/schedule/testing_schedule.h"
#include "fuzz/schedule/text.h"
#include "fuzz/schedule/wait.h"

#define MS UINT64_C(1000000)

static void assemble(const char *text, struct tg_schedule *out) {
  struct tg_error err;
  if (!tg_schedule_assemble(text, strlen(text), out, &err)) {
    fail_msg("%s\nof\n%s", err.text, text);
  }
}

// Runs `print` into memory, which the caller frees.
static char *printed(void (*print)(const struct tg_schedule *schedule, FILE *to), const struct tg_schedule *schedule) {
  char *text = NULL;
  size_t len;
  FILE *to = open_memstream(&text, &len);
  assert_non_null(to);
  print(schedule, to);
  assert_int_equal(fclose(to), 0);
  return text;
}

static void test_disassembled_text_assembles_to_the_same(void **state) {
  (void)state;
  struct tg_rng rng = {1};
  for (int i = 0; i < 500; i++) {
    struct tg_schedule schedule, again;
    tg_testing_random_schedule(&rng, tg_rng_below(&rng, TG_SCHEDULE_STEPS_MAX + 1), &schedule);
    char *text = printed(tg_schedule_disassemble, &schedule);
    assemble(text, &again);
    tg_testing_assert_equal(&schedule, &again);
    free(text);
  }
}

static void test_plain_settings_are_not_written(void **state) {
  (void)state;
  struct tg_schedule schedule;
  assemble("", &schedule);
  char *text = printed(tg_schedule_disassemble, &schedule);
  assert_string_equal(text, "");
  free(text);
}

static void test_what_a_person_writes(void **state) {
  (void)state;
  static const char text[] =
      "# a comment\n"
      "settings shards 2 delay 1ms flush_tickets   # another\n"
      "\n"
      "settings max_fds 12 send_buffer 1KiB call 0.1us\r\n"
      "client 0 connect tls12 resume then rest\n"
      "\tclient 0 request bytes 1024\n"
      "client 7 cut 1 gap 40ms then 36ms\n"
      "wait 0.001s\n"
      "inject recv:EINTR skip 2 times 1\n"
      "inject malloc:ENOMEM times all\n"
      "inject send:1\n"
      "max_fds 12\n"
      "max_fds plenty\n"
      "client 1 push all\n"
      "client 1 read stop\n"
      "client 1 half_close without_close_notify\n"
      "client 1 flip byte 8191 bit 7\n"
      "wind_down 1s";
  const struct tg_schedule expected = {
      .settings = {.shards = 2, .delay = 2, .flush_tickets = true, .max_fds = 4, .send_buffer = 3, .call_ns = 1},
      .num_steps = 15,
      .steps = {{.action = TG_SCHEDULE_CONNECT,
                 .value = TG_CONNECT_TLS12 | TG_CONNECT_RESUME,
                 .wait = TG_SCHEDULE_WAIT_REST},
                {.action = TG_SCHEDULE_REQUEST, .value = 1024 << 4 | TG_REQUEST_BYTES},
                {.action = TG_SCHEDULE_CUT, .client = 7, .value = 1},
                {.action = TG_SCHEDULE_GAP,
                 .client = 7,
                 .value = tg_schedule_wait_nearest(40 * MS),
                 .wait = tg_schedule_wait_nearest(36 * MS)},
                {.action = TG_SCHEDULE_WAIT, .wait = tg_schedule_wait_nearest(MS)},
                {.action = TG_SCHEDULE_INJECT, .value = 1 << 8 | 2 << 5 | TG_FAILURE_RECV_EINTR},
                {.action = TG_SCHEDULE_INJECT, .value = TG_FAILURE_MALLOC},
                {.action = TG_SCHEDULE_INJECT, .value = 1 << 8 | TG_FAILURE_SEND_SHORT_1},
                {.action = TG_SCHEDULE_MAX_FDS, .value = 4},
                {.action = TG_SCHEDULE_MAX_FDS},
                {.action = TG_SCHEDULE_PUSH, .client = 1},
                {.action = TG_SCHEDULE_READ, .client = 1, .value = 1},
                {.action = TG_SCHEDULE_HALF_CLOSE, .client = 1, .value = 1},
                {.action = TG_SCHEDULE_FLIP, .client = 1, .value = 65535},
                {.action = TG_SCHEDULE_WIND_DOWN, .value = tg_schedule_wait_nearest(1000 * MS)}},
  };
  struct tg_schedule schedule;
  assemble(text, &schedule);
  tg_testing_assert_equal(&expected, &schedule);
}

// Every wait of the scale can be written, and the text is short.
static void test_every_wait_is_written_and_read(void **state) {
  (void)state;
  struct tg_schedule schedule = {.settings = {.shards = 1}, .num_steps = 1};
  for (int wait = 0; wait < 256; wait++) {
    schedule.steps[0].wait = (uint8_t)wait;
    char *text = printed(tg_schedule_disassemble, &schedule);
    assert_true(strlen(text) <= strlen("wait 32.5ms\n"));
    struct tg_schedule again;
    assemble(text, &again);
    tg_testing_assert_equal(&schedule, &again);
    free(text);
  }
}

static void test_mistakes_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text, *error;
  } mistakes[] = {
      {"wait 0\nwait 36.2ms", "line 2: 36.2ms is not on the scale of waits; the nearest are 36ms and 36.5ms"},
      {"wait 500ns", "line 1: 500ns is not on the scale of waits; the nearest are 0 and 1us"},
      {"wait 201s", "line 1: 201s is over the longest wait, 200s; write that, or several waits"},
      {"wait soon", "line 1: `soon` is no duration; write a number with ns, us, ms or s, like 40ms, or 0, or rest"},
      {"wait 40", "line 1: `40` is no duration; write a number with ns, us, ms or s, like 40ms, or 0, or rest"},
      {"wait 1.ms", "line 1: `1.ms` is no duration; write a number with ns, us, ms or s, like 40ms, or 0, or rest"},
      {"wait .5ms", "line 1: `.5ms` is no duration; write a number with ns, us, ms or s, like 40ms, or 0, or rest"},
      {"wait 99999999999999999999s",
       "line 1: `99999999999999999999s` is no duration; write a number with ns, us, ms "
       "or s, like 40ms, or 0, or rest"},
      {"wait", "line 1: no wait; write a duration like 40ms, or 0, or rest"},
      {"client 8 close", "line 1: client `8`: write a number from 0 to 7"},
      {"client close", "line 1: client `close`: write a number from 0 to 7"},
      {"client", "line 1: no client; write a number from 0 to 7"},
      {"close", "line 1: which client? write `client 0 close`"},
      {"client 1 wait 40ms", "line 1: wait concerns no single client; leave `client N` out"},
      {"client 0 request",
       "line 1: no request; write one of get, bytes, post, post_chunked, head, pipeline, get_close, "
       "http10, expect, stats, not_found, big_head, nul, broken, partial_head, too_big"},
      {"client 0 request get 4096", "line 1: size `4096`: write a number from 0 to 4095"},
      {"client 0 record nothing",
       "line 1: `nothing` is no record; write one of warning, fatal, close, ccs, empty, partial, "
       "oversized, http"},
      {"client 0 connect tls13",
       "line 1: `tls13` is no way to connect; write one of plaintext, nodelay, tls12, resume, "
       "early_data, hello_retry, large_hello, certificate, alpn_h2, no_tls, quickack_off"},
      {"client 0 hold maybe", "line 1: `maybe` is no hold; write one of off, on"},
      {"client 0 raw 0", "line 1: raw `0`: write a number from 1 to 4096"},
      {"client 0 read 1", "line 1: read `1`: write a number from 2 to 65535, or freely, stop"},
      {"client 0 flip 3", "line 1: flip takes `byte N bit N`, N from 0 to 8191 and from 0 to 7"},
      {"client 0 flip byte 8192 bit 0", "line 1: flip takes `byte N bit N`, N from 0 to 8191 and from 0 to 7"},
      {"client 0 close now",
       "line 1: `now` is one word too many; write one step a line, and `then 40ms` for what passes "
       "after it"},
      {"client 0 cut 1 gap 41.1ms", "line 1: 41.1ms is not on the scale of waits; the nearest are 41ms and 41.5ms"},
      {"inject recv:EINTR skip 8", "line 1: skip `8`: write a number from 0 to 7"},
      {"inject recv:EINTR times 0", "line 1: times `0`: write a number from 1 to 255, or all"},
      {"max_fds 8", "line 1: max_fds `8`: write a number from 9 to 263, or plenty"},
      {"delay 3ms", "line 1: `3ms` is no delay; write one of 2us, 50us, 1ms, 20ms, 100ms"},
      {"settings speed 3",
       "line 1: `speed` is no setting; write one of shards, key, flush_tickets, early_data, client_ca, "
       "plaintext_listener, deadlines, max_connections, ticket_lifetime, delay, mss, send_buffer, "
       "window, max_fds, call, refused"},
      {"settings shards 4", "line 1: shards `4`: write a number from 1 to 3"},
      {"settings key", "line 1: no key; write one of p256, rsa2048, long_chain"},
      {"settings shards 1\nsettings shards 1", "line 2: shards is set twice; leave one out"},
      {"clear\nsettings shards 1", "line 2: settings hold for the whole run; write them before the first step"},
  };
  for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
    struct tg_schedule schedule;
    struct tg_error err;
    if (tg_schedule_assemble(mistakes[i].text, strlen(mistakes[i].text), &schedule, &err)) {
      fail_msg("taken: %s", mistakes[i].text);
    }
    assert_string_equal(err.text, mistakes[i].error);
  }
}

static void test_lists_of_words_end_well(void **state) {
  (void)state;
  static const char *const texts[] = {"inject recv:EBADF", "client 0 jump", "jump"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    struct tg_schedule schedule;
    struct tg_error err;
    assert_false(tg_schedule_assemble(texts[i], strlen(texts[i]), &schedule, &err));
    assert_non_null(strstr(err.text, i == 0 ? "accept:EINVAL" : "wind_down"));
  }
}

static void test_what_is_no_text(void **state) {
  (void)state;
  struct tg_schedule schedule;
  struct tg_error err;
  assert_false(tg_schedule_assemble("wait 0\n\1\0\0", 10, &schedule, &err));
  assert_string_equal(
      err.text, "line 2: a NUL byte: this is no text; `schedule explain` and `disassemble` read encoded schedules");
  char line[600];
  memset(line, ' ', sizeof(line));
  assert_false(tg_schedule_assemble(line, sizeof(line), &schedule, &err));
  assert_string_equal(err.text, "line 1: longer than 511 bytes; write one step a line");
  // A comment may be as long as it likes.
  line[0] = '#';
  assert_true(tg_schedule_assemble(line, sizeof(line), &schedule, &err));
}

static void test_steps_have_a_limit(void **state) {
  (void)state;
  char text[6 * (TG_SCHEDULE_STEPS_MAX + 1) + 1];
  for (size_t i = 0; i <= TG_SCHEDULE_STEPS_MAX; i++) {
    (void)snprintf(&text[6 * i], 7, "clear\n");
  }
  struct tg_schedule schedule;
  struct tg_error err;
  assert_true(tg_schedule_assemble(text, 6 * TG_SCHEDULE_STEPS_MAX, &schedule, &err));
  assert_false(tg_schedule_assemble(text, 6 * (TG_SCHEDULE_STEPS_MAX + 1), &schedule, &err));
  assert_string_equal(err.text, "line 193: more than 192 steps; a schedule has no room for more");
}

// Any text is either refused or comes back; what is broken at random reaches both.
static void test_broken_text(void **state) {
  (void)state;
  struct tg_rng rng = {9};
  unsigned taken = 0, refused = 0;
  for (int i = 0; i < 2000; i++) {
    struct tg_schedule schedule, again;
    tg_testing_random_schedule(&rng, tg_rng_below(&rng, 4), &schedule);
    char *text = printed(tg_schedule_disassemble, &schedule);
    const size_t len = strlen(text);
    if (len > 0) {
      char *at = &text[tg_rng_below(&rng, (uint32_t)len)];
      if (tg_rng_one_in(&rng, 2)) {
        *at = (char)(' ' + tg_rng_below(&rng, 96));
      } else {
        at = strpbrk(text + strcspn(text, "\n"), "0123456789");
        at = at == NULL ? text : at;
        *at = (char)('0' + tg_rng_below(&rng, 10));
      }
    }
    struct tg_error err;
    if (tg_schedule_assemble(text, len, &schedule, &err)) {
      char *second = printed(tg_schedule_disassemble, &schedule);
      assemble(second, &again);
      tg_testing_assert_equal(&schedule, &again);
      free(second);
      taken++;
    } else {
      assert_memory_equal(err.text, "line ", 5);
      refused++;
    }
    free(text);
  }
  print_message("%u taken, %u refused\n", taken, refused);
  assert_true(taken > 200 && refused > 500);
}

// Every step of every kind has words: a line each, no word missing.
static void test_explain_has_words_for_everything(void **state) {
  (void)state;
  struct tg_rng rng = {11};
  for (int i = 0; i < 300; i++) {
    struct tg_schedule schedule;
    tg_testing_random_schedule(&rng, TG_SCHEDULE_STEPS_MAX, &schedule);
    char *text = printed(tg_schedule_explain, &schedule);
    size_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
      lines++;
    }
    assert_int_equal(lines, 4 + TG_SCHEDULE_STEPS_MAX);
    assert_null(strstr(text, "(null)"));
    free(text);
  }
}

static void test_explain_reads_well(void **state) {
  (void)state;
  struct tg_schedule schedule;
  assemble(
      "settings shards 2 key rsa2048 early_data max_fds 20 max_connections 1\n"
      "client 1 connect resume then 40ms\n"
      "client 1 cut 1 gap 40ms\n"
      "client 1 request bytes 2 then rest\n"
      "inject send:1 skip 1 times 3 then 1us\n"
      "client 1 half_close",
      &schedule);
  char *text = printed(tg_schedule_explain, &schedule);
  assert_string_equal(
      text,
      "  server   2 shards, an RSA-2048 key, early data allowed, at most 1 connection\n"
      "  network  2 us one way, segments of at most 32,741 bytes\n"
      "  buffers  the server sends from 2.5 MiB, the client receives into 64 KiB\n"
      "  kernel   a system call takes 1 us, 20 descriptors\n"
      "   1  0                  client 1 connects with TLS 1.3, Nagle on, resuming a session; then 40 ms "
      "pass\n"
      "   2  40 ms              client 1 cuts what it writes into pieces of 1 byte\n"
      "   3  40 ms              client 1 pauses 40 ms between the pieces\n"
      "   4  40 ms              client 1 asks for a body of 2 KiB; then all comes to rest\n"
      "   5  rest 1 + 0         from here on the next 3 calls of send move at most 1 byte, after 1 that goes "
      "well; then 1 us passes\n"
      "   6  rest 1 + 1 us      client 1 sends close_notify and FIN, and goes on reading\n");
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_disassembled_text_assembles_to_the_same),
      cmocka_unit_test(test_plain_settings_are_not_written),
      cmocka_unit_test(test_what_a_person_writes),
      cmocka_unit_test(test_every_wait_is_written_and_read),
      cmocka_unit_test(test_mistakes_are_named),
      cmocka_unit_test(test_lists_of_words_end_well),
      cmocka_unit_test(test_what_is_no_text),
      cmocka_unit_test(test_steps_have_a_limit),
      cmocka_unit_test(test_broken_text),
      cmocka_unit_test(test_explain_has_words_for_everything),
      cmocka_unit_test(test_explain_reads_well),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
