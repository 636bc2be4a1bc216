#include "harness/accept/ticket_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <openssl/err.h>
#include <pthread.h>
#include <string.h>

static const uint8_t kSession[] = "a session's state";

struct ticket {
  uint8_t bytes[sizeof(kSession) + TG_TICKET_OVERHEAD];
  size_t len;
};

static struct ticket seal_at(struct tg_ticket_keys *keys, uint64_t now_s) {
  struct ticket ticket;
  assert_true(tg_ticket_seal(keys, now_s, ticket.bytes, &ticket.len, sizeof(ticket.bytes), kSession, sizeof(kSession)));
  assert_int_equal(ticket.len, sizeof(kSession) + TG_TICKET_OVERHEAD);
  return ticket;
}

static bool opens_at(struct tg_ticket_keys *keys, uint64_t now_s, const struct ticket *ticket) {
  uint8_t out[sizeof(ticket->bytes)];
  size_t out_len = 0;
  bool ok = tg_ticket_open(keys, now_s, out, &out_len, sizeof(out), ticket->bytes, ticket->len);
  assert_int_equal(ERR_peek_error(), 0);
  if (ok) {
    assert_int_equal(out_len, sizeof(kSession));
    assert_memory_equal(out, kSession, sizeof(kSession));
  }
  return ok;
}

static void test_two_generations_live(void **state) {
  (void)state;
  struct tg_ticket_keys keys;
  assert_true(tg_ticket_keys_init(&keys, 100, 1000));
  struct ticket old = seal_at(&keys, 1099);
  assert_true(opens_at(&keys, 1099, &old));
  struct ticket next = seal_at(&keys, 1100);
  assert_memory_not_equal(old.bytes, next.bytes, 16);
  assert_true(opens_at(&keys, 1199, &old));
  assert_true(opens_at(&keys, 1199, &next));
  assert_false(opens_at(&keys, 1200, &old));
  assert_true(opens_at(&keys, 1200, &next));
  assert_false(opens_at(&keys, 1300, &next));
  tg_ticket_keys_wipe(&keys);
}

static void test_a_generation_that_nobody_used_ends_the_one_before(void **state) {
  (void)state;
  struct tg_ticket_keys keys;
  assert_true(tg_ticket_keys_init(&keys, 100, 1000));
  struct ticket old = seal_at(&keys, 1000);
  assert_false(opens_at(&keys, 1250, &old));
  struct ticket now = seal_at(&keys, 1250);
  assert_true(opens_at(&keys, 1250, &now));
  // A shard whose look at the clock was a moment earlier is served by the newer keys.
  struct ticket late = seal_at(&keys, 1199);
  assert_true(opens_at(&keys, 1250, &late));
  tg_ticket_keys_wipe(&keys);
}

static void test_what_is_not_whole_does_not_open(void **state) {
  (void)state;
  struct tg_ticket_keys keys;
  assert_true(tg_ticket_keys_init(&keys, 100, 1000));
  struct ticket ticket = seal_at(&keys, 1000);
  for (size_t i = 0; i < ticket.len; i++) {
    struct ticket bad = ticket;
    bad.bytes[i] ^= 1;
    assert_false(opens_at(&keys, 1000, &bad));
    bad = ticket;
    bad.len = i;
    assert_false(opens_at(&keys, 1000, &bad));
  }
  uint8_t out[64];
  size_t out_len;
  assert_false(tg_ticket_seal(&keys, 1000, out, &out_len, TG_TICKET_OVERHEAD - 1, kSession, 0));
  assert_false(tg_ticket_seal(&keys, 1000, out, &out_len, TG_TICKET_OVERHEAD, kSession, 1));
  tg_ticket_keys_wipe(&keys);
}

static void test_sealing_in_place(void **state) {
  (void)state;
  struct tg_ticket_keys keys;
  assert_true(tg_ticket_keys_init(&keys, 100, 1000));
  struct ticket ticket;
  memcpy(ticket.bytes, kSession, sizeof(kSession));
  assert_true(
      tg_ticket_seal(&keys, 1000, ticket.bytes, &ticket.len, sizeof(ticket.bytes), ticket.bytes, sizeof(kSession)));
  assert_true(opens_at(&keys, 1000, &ticket));
  tg_ticket_keys_wipe(&keys);
}

// Threads that rotate the keys and use them at once, each generation lasting one tick of a clock they share.
struct crew {
  struct tg_ticket_keys keys;
  _Atomic uint64_t tick;
  _Atomic uint64_t lost;
};

enum { kTicks = 2000 };

static void *work(void *opaque) {
  struct crew *crew = opaque;
  for (;;) {
    uint64_t now_s = atomic_fetch_add(&crew->tick, 1) / 8;
    if (now_s >= kTicks) {
      return NULL;
    }
    struct ticket ticket;
    uint8_t out[sizeof(ticket.bytes)];
    size_t out_len = 0;
    bool ok = tg_ticket_seal(&crew->keys, now_s, ticket.bytes, &ticket.len, sizeof(ticket.bytes), kSession,
                             sizeof(kSession)) &&
              (tg_ticket_open(&crew->keys, now_s, out, &out_len, sizeof(out), ticket.bytes, ticket.len) ||
               // The others may have gone on by two generations in between.
               atomic_load(&crew->tick) / 8 > now_s + 1);
    atomic_fetch_add(&crew->lost, !ok);
  }
}

static void test_threads_rotate_together(void **state) {
  (void)state;
  static struct crew crew;
  pthread_t threads[4];
  assert_true(tg_ticket_keys_init(&crew.keys, 1, 0));
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, work, &crew), 0);
  }
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  }
  assert_int_equal(crew.lost, 0);
  tg_ticket_keys_wipe(&crew.keys);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_generations_live),
      cmocka_unit_test(test_a_generation_that_nobody_used_ends_the_one_before),
      cmocka_unit_test(test_what_is_not_whole_does_not_open),
      cmocka_unit_test(test_sealing_in_place),
      cmocka_unit_test(test_threads_rotate_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
