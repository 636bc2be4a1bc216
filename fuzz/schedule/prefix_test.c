// The prefix of the raw-byte targets: total, canonical, and nothing in range is lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/schedule/prefix.h"
#include "fuzz/schedule/rng.h"

#define SAME(field) assert_int_equal(a->field, b->field)

static void assert_same(const struct tg_byte_input *a, const struct tg_byte_input *b) {
  SAME(settings.shards);
  SAME(settings.key);
  SAME(settings.flush_tickets);
  SAME(settings.early_data);
  SAME(settings.client_ca);
  SAME(settings.plaintext_listener);
  SAME(settings.deadlines);
  SAME(settings.max_connections);
  SAME(settings.ticket_lifetime);
  SAME(settings.delay);
  SAME(settings.mss);
  SAME(settings.send_buffer);
  SAME(settings.window);
  SAME(settings.max_fds);
  SAME(settings.call_ns);
  SAME(plaintext);
  SAME(nodelay);
  SAME(cut);
  SAME(gap);
  SAME(end);
  SAME(payload_len);
  if (a->payload_len > 0) {
    assert_memory_equal(a->payload, b->payload, a->payload_len);
  }
}

static void test_in_range_round_trips(void **state) {
  (void)state;
  struct tg_rng rng = {1};
  for (int i = 0; i < 5000; i++) {
    uint8_t payload[40], bytes[48];
    for (size_t j = 0; j < sizeof(payload); j++) {
      payload[j] = (uint8_t)tg_rng_next(&rng);
    }
    const bool plaintext = tg_rng_below(&rng, 2);
    const struct tg_byte_input input = {
        .settings = {.shards = 1,
                     .key = (uint8_t)tg_rng_below(&rng, 3),
                     .flush_tickets = tg_rng_below(&rng, 2),
                     .early_data = tg_rng_below(&rng, 2),
                     .client_ca = tg_rng_below(&rng, 2),
                     .plaintext_listener = plaintext,
                     .deadlines = (uint8_t)tg_rng_below(&rng, 4),
                     .ticket_lifetime = (uint8_t)tg_rng_below(&rng, 3),
                     .delay = (uint8_t)tg_rng_below(&rng, 5),
                     .mss = (uint8_t)tg_rng_below(&rng, 4),
                     .send_buffer = (uint8_t)tg_rng_below(&rng, 4),
                     .window = (uint8_t)tg_rng_below(&rng, 4),
                     .call_ns = (uint8_t)tg_rng_below(&rng, 4)},
        .plaintext = plaintext,
        .nodelay = tg_rng_below(&rng, 2),
        .cut = (uint16_t)tg_rng_next(&rng),
        .gap = (uint8_t)tg_rng_next(&rng),
        .end = (uint8_t)tg_rng_below(&rng, TG_BYTE_INPUT_ENDS),
        .payload = payload,
        .payload_len = tg_rng_below(&rng, sizeof(payload) + 1),
    };
    struct tg_byte_input decoded;
    const size_t len = tg_byte_input_encode(&input, bytes);
    assert_int_equal(len, 8 + input.payload_len);
    tg_byte_input_decode(bytes, len, &decoded);
    assert_same(&input, &decoded);
  }
}

static void test_any_bytes_decode_and_encoding_is_canonical(void **state) {
  (void)state;
  struct tg_rng rng = {2};
  for (int i = 0; i < 5000; i++) {
    uint8_t bytes[24], canonical[24], again[24];
    const size_t len = tg_rng_below(&rng, sizeof(bytes) + 1);
    for (size_t j = 0; j < len; j++) {
      bytes[j] = (uint8_t)tg_rng_next(&rng);
    }
    struct tg_byte_input input, decoded;
    tg_byte_input_decode(bytes, len, &input);
    assert_in_range(input.settings.key, 0, 2);
    assert_in_range(input.settings.delay, 0, 4);
    assert_int_equal(input.payload_len, len > 8 ? len - 8 : 0);
    const size_t canonical_len = tg_byte_input_encode(&input, canonical);
    tg_byte_input_decode(canonical, canonical_len, &decoded);
    assert_same(&input, &decoded);
    assert_int_equal(tg_byte_input_encode(&decoded, again), canonical_len);
    assert_memory_equal(again, canonical, canonical_len);
  }
}

static void test_what_is_missing_is_zero(void **state) {
  (void)state;
  const struct tg_byte_input none = {.settings = {.shards = 1}};
  struct tg_byte_input decoded;
  tg_byte_input_decode(NULL, 0, &decoded);
  assert_same(&none, &decoded);
  assert_null(decoded.payload);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_in_range_round_trips),
      cmocka_unit_test(test_any_bytes_decode_and_encoding_is_canonical),
      cmocka_unit_test(test_what_is_missing_is_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
