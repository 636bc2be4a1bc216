#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the above.
#include <cmocka.h>

#include "harness/kernel/tcp.h"

#define MS TG_SIM_NS_PER_MS

static struct tg_sim sim;
static struct tg_trace trace;
static struct tg_tcp_options options;
static struct tg_tcp_pair *pair;
static struct tg_tcp *server;
static struct tg_tcp *client;
static unsigned server_changes;
static unsigned client_changes;
static uint8_t pattern[1 << 20];
static uint8_t got[1 << 20];

static void note(void *context, struct tg_tcp *end, unsigned changes) {
  (void)end;
  *(unsigned *)context |= changes;
}

static void start(void) {
  tg_sim_init(&sim, 100 * MS);
  tg_trace_init(&trace, &sim, NULL);
  pair = tg_tcp_pair_create(&sim, &trace, 1, &options, 0, false);
  assert_non_null(pair);
  server = tg_tcp_end(pair, TG_TCP_SERVER);
  client = tg_tcp_end(pair, TG_TCP_CLIENT);
  server_changes = 0;
  client_changes = 0;
  tg_tcp_set_notify(server, note, &server_changes);
  tg_tcp_set_notify(client, note, &client_changes);
}

static int setup(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(pattern); i++) {
    pattern[i] = (uint8_t)(i * 7 + i / 251);
  }
  tg_tcp_options_default(&options);
  pair = NULL;
  return 0;
}

static int teardown(void **state) {
  (void)state;
  tg_tcp_pair_destroy(pair);
  return 0;
}

static void pass(uint64_t ns) {
  tg_sim_pass_to(&sim, sim.now_ns + ns);
}

static void send_all(struct tg_tcp *end, size_t len) {
  assert_int_equal(tg_tcp_send(end, pattern + tg_tcp_written(end), len, false), len);
}

// Reads all there is and checks that they are the bytes that belong there.
static size_t read_all(struct tg_tcp *end) {
  size_t total = 0;
  for (;;) {
    uint64_t from = tg_tcp_consumed(end);
    ssize_t n = tg_tcp_recv(end, got, sizeof(got), false);
    if (n <= 0) {
      return total;
    }
    assert_memory_equal(got, pattern + from, (size_t)n);
    total += (size_t)n;
  }
}

// The exchange that explains the design: hello, flight, then finished and request in two writes. Returns how long the
// request took to reach the server.
static uint64_t exchange(int quickack_after_flight) {
  send_all(client, 300);
  pass(MS);
  assert_int_equal(read_all(server), 300);
  send_all(server, 1200);
  if (quickack_after_flight >= 0) {
    tg_tcp_set_quickack(server, quickack_after_flight);
  }
  pass(MS);
  assert_int_equal(read_all(client), 1200);
  send_all(client, 80);
  uint64_t asked_ns = sim.now_ns;
  send_all(client, 100);
  while (tg_tcp_delivered(client) < 480) {
    pass(1000);
    read_all(server);
    assert_true(sim.now_ns < asked_ns + 1000 * MS);
  }
  return sim.now_ns - asked_ns;
}

static void a_request_after_finished_stalls(void **state) {
  (void)state;
  start();
  uint64_t took = exchange(-1);
  assert_in_range(took, 40 * MS, 45 * MS);
  const struct tg_tcp_stats *stats = tg_tcp_stats_of(client);
  assert_int_equal(stats->stalls, 1);
  assert_int_equal(stats->last_stall.first_byte, 380);
  assert_int_equal(stats->last_stall.end_byte, 480);
  assert_in_range(stats->last_stall.released_ns - stats->last_stall.held_since_ns, 36 * MS, 45 * MS);
  assert_int_equal(tg_tcp_stats_of(server)->acks_delayed, 1);
  assert_int_equal(tg_tcp_stats_of(server)->stalls, 0);
}

static void quickack_after_the_flight_prevents_it(void **state) {
  (void)state;
  start();
  assert_true(exchange(1) < MS);
  assert_int_equal(tg_tcp_stats_of(client)->stalls, 0);
}

static void nodelay_prevents_it(void **state) {
  (void)state;
  start();
  tg_tcp_set_nodelay(client, true);
  assert_true(tg_tcp_nodelay(client));
  assert_true(exchange(-1) < MS);
}

static void a_stall_is_named_in_the_other_direction_too(void **state) {
  (void)state;
  start();
  send_all(client, 200);
  pass(MS);
  read_all(server);
  send_all(server, 100);
  pass(MS);
  read_all(client);
  send_all(client, 200);
  pass(MS);
  read_all(server);
  send_all(server, 100);
  send_all(server, 100);
  pass(50 * MS);
  assert_int_equal(read_all(client), 200);
  assert_int_equal(tg_tcp_stats_of(server)->stalls, 1);
  assert_int_equal(tg_tcp_stats_of(client)->stalls, 0);
}

static void a_listener_in_pingpong_mode_passes_it_on(void **state) {
  (void)state;
  start();
  assert_true(tg_tcp_quickack(server));
  tg_tcp_pair_destroy(pair);
  pair = tg_tcp_pair_create(&sim, NULL, 2, &options, 1, true);
  assert_false(tg_tcp_quickack(tg_tcp_end(pair, TG_TCP_SERVER)));
  assert_true(tg_tcp_quickack(tg_tcp_end(pair, TG_TCP_CLIENT)));
  assert_true(tg_tcp_nodelay(tg_tcp_end(pair, TG_TCP_SERVER)));
  assert_false(tg_tcp_nodelay(tg_tcp_end(pair, TG_TCP_CLIENT)));
}

static void many_bytes_arrive_whole_through_small_windows(void **state) {
  (void)state;
  static const uint32_t windows[] = {1, 2, 100, 537, 4000, 65536, 1 << 20};
  for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
    for (int offload = 0; offload < 2; offload++) {
      options.window[TG_TCP_SERVER] = windows[w];
      options.send_buffer[TG_TCP_CLIENT] = 5000;
      options.mss = 1448;
      options.segmentation_offload = offload != 0;
      start();
      size_t total = windows[w] < 100 ? 2000 : 300000;
      size_t received = 0;
      while (received < total) {
        size_t left = total - (size_t)tg_tcp_written(client);
        ssize_t n = tg_tcp_send(client, pattern + tg_tcp_written(client), left, false);
        assert_true(n >= 0 || n == -EAGAIN);
        assert_in_range(tg_tcp_unacked(client), 0, 5000);
        assert_in_range(tg_tcp_unread(server), 0, 2 * windows[w]);
        received += read_all(server);
        pass(50 * 1000);
        assert_true(sim.now_ns < 1000000 * MS);
      }
      assert_int_equal(tg_tcp_consumed(server), total);
      pass(100 * MS);
      assert_int_equal(tg_tcp_unacked(client), 0);
      tg_tcp_pair_destroy(pair);
      pair = NULL;
    }
  }
}

static void a_full_send_buffer_takes_part_and_then_nothing(void **state) {
  (void)state;
  options.send_buffer[TG_TCP_SERVER] = 1000;
  options.window[TG_TCP_CLIENT] = 600;
  start();
  assert_true(tg_tcp_writable(server));
  assert_int_equal(tg_tcp_send(server, pattern, 1500, false), 1000);
  assert_int_equal(tg_tcp_room(server), 0);
  assert_false(tg_tcp_writable(server));
  assert_int_equal(tg_tcp_send(server, pattern, 1, false), -EAGAIN);
  assert_int_equal(tg_tcp_send(server, pattern, 0, false), 0);
  pass(500 * MS);
  // The window is shut; what fits in it has arrived.
  assert_int_equal(tg_tcp_unread(client), 600);
  assert_int_equal(tg_tcp_held(server), 400);
  assert_int_equal(server_changes & TG_TCP_WRITABLE, TG_TCP_WRITABLE);
  assert_int_equal(read_all(client), 600);
  pass(100 * MS);
  assert_int_equal(tg_tcp_unread(client), 400);
  assert_true(tg_tcp_writable(server));
}

static void peeking_leaves_the_bytes(void **state) {
  (void)state;
  start();
  assert_int_equal(tg_tcp_recv(server, got, 10, true), -EAGAIN);
  send_all(client, 100);
  pass(MS);
  assert_int_equal(server_changes, TG_TCP_READABLE);
  assert_int_equal(client_changes & TG_TCP_DELIVERED, TG_TCP_DELIVERED);
  assert_int_equal(tg_tcp_recv(server, got, 10, true), 10);
  assert_memory_equal(got, pattern, 10);
  assert_int_equal(read_all(server), 100);
}

static void fin_comes_behind_the_bytes(void **state) {
  (void)state;
  start();
  send_all(client, 100);
  tg_tcp_shutdown_write(client);
  assert_true(tg_tcp_fin_sent(client));
  assert_int_equal(tg_tcp_send(client, pattern, 1, false), -EPIPE);
  pass(MS);
  assert_true(tg_tcp_fin_received(server));
  assert_int_equal(read_all(server), 100);
  assert_int_equal(tg_tcp_recv(server, got, 1, false), 0);
  assert_int_equal(tg_tcp_recv(server, got, 1, false), 0);
  send_all(server, 500);  // half closed: the other direction goes on
  pass(MS);
  assert_int_equal(read_all(client), 500);
  tg_tcp_close(server);
  pass(MS);
  assert_int_equal(tg_tcp_recv(client, got, 1, false), 0);
  tg_tcp_close(client);
  assert_false(tg_tcp_rst_sent(server));
  assert_false(tg_tcp_rst_sent(client));
  pass(1000 * MS);
  assert_true(tg_tcp_pair_finished(pair));
}

static void fin_waits_for_the_window(void **state) {
  (void)state;
  options.window[TG_TCP_SERVER] = 1000;
  start();
  send_all(client, 3000);
  tg_tcp_shutdown_write(client);
  pass(MS);
  assert_false(tg_tcp_fin_received(server));
  size_t total = 0;
  while (!tg_tcp_fin_received(server)) {
    total += read_all(server);
    pass(MS);
    assert_true(sim.now_ns < 10000 * MS);
  }
  assert_int_equal(total + read_all(server), 3000);
}

static void both_ends_may_close_at_once(void **state) {
  (void)state;
  start();
  tg_tcp_close(client);
  tg_tcp_close(server);
  pass(1000 * MS);
  assert_true(tg_tcp_fin_received(client));
  assert_true(tg_tcp_fin_received(server));
  assert_false(tg_tcp_rst_sent(client));
  assert_false(tg_tcp_rst_sent(server));
  assert_true(tg_tcp_pair_finished(pair));
}

static void closing_with_bytes_unread_resets(void **state) {
  (void)state;
  start();
  send_all(server, 50);
  send_all(client, 100);
  pass(MS);
  tg_tcp_close(server);
  assert_true(tg_tcp_rst_sent(server));
  pass(MS);
  assert_true(tg_tcp_rst_received(client));
  assert_true((client_changes & TG_TCP_WRITABLE) != 0);
  assert_int_equal(tg_tcp_error(client), ECONNRESET);
  // What had arrived before is still there.
  assert_int_equal(tg_tcp_recv(client, got, 100, false), 50);
  assert_int_equal(tg_tcp_recv(client, got, 100, false), -ECONNRESET);
  assert_int_equal(tg_tcp_recv(client, got, 100, false), 0);
  assert_int_equal(tg_tcp_send(client, pattern, 1, false), -EPIPE);
  tg_tcp_close(client);
  pass(1000 * MS);
  assert_true(tg_tcp_pair_finished(pair));
}

static void the_first_send_after_a_reset_says_so(void **state) {
  (void)state;
  start();
  tg_tcp_reset(server);
  pass(MS);
  assert_int_equal(tg_tcp_send(client, pattern, 1, false), -ECONNRESET);
  assert_int_equal(tg_tcp_send(client, pattern, 1, false), -EPIPE);
}

static void a_reset_after_fin_is_a_broken_pipe(void **state) {
  (void)state;
  start();
  tg_tcp_close(server);
  pass(MS);
  assert_int_equal(tg_tcp_send(client, pattern, 10, false), 10);
  pass(MS);
  assert_true(tg_tcp_rst_sent(server));  // data after close
  assert_int_equal(tg_tcp_recv(client, got, 1, false), 0);
  assert_int_equal(tg_tcp_take_error(client), EPIPE);
  assert_int_equal(tg_tcp_take_error(client), 0);
}

static void data_on_the_way_when_closing_is_answered_by_a_reset(void **state) {
  (void)state;
  options.delay_ns = 5 * MS;
  start();
  send_all(server, 500);
  tg_tcp_close(server);
  send_all(client, 100);
  pass(6 * MS);
  assert_true(tg_tcp_fin_received(client));
  assert_int_equal(read_all(client), 500);
  pass(6 * MS);
  assert_true(tg_tcp_rst_received(client));
}

static void a_shutdown_of_both_refuses_data_as_well(void **state) {
  (void)state;
  start();
  tg_tcp_shutdown_read(server);
  assert_int_equal(tg_tcp_recv(server, got, 1, false), 0);
  send_all(client, 10);
  pass(MS);
  assert_int_equal(read_all(server), 10);  // SHUT_RD alone does not refuse
  tg_tcp_shutdown_write(server);
  pass(MS);
  send_all(client, 10);
  pass(MS);
  assert_true(tg_tcp_rst_received(client));
}

static void cork_and_more_hold_back(void **state) {
  (void)state;
  start();
  assert_int_equal(tg_tcp_send(client, pattern, 10, true), 10);
  assert_int_equal(tg_tcp_held(client), 10);
  send_all(client, 10);
  assert_int_equal(tg_tcp_held(client), 0);
  pass(MS);
  read_all(server);
  tg_tcp_set_cork(client, true);
  send_all(client, 10);
  pass(100 * MS);
  assert_int_equal(tg_tcp_held(client), 10);
  tg_tcp_set_cork(client, false);
  assert_int_equal(tg_tcp_held(client), 0);
  tg_tcp_set_cork(client, true);
  send_all(client, 10);
  tg_tcp_set_nodelay(client, true);  // overrides the cork for what is queued
  assert_int_equal(tg_tcp_held(client), 0);
  send_all(client, 10);
  assert_int_equal(tg_tcp_held(client), 10);
  pass(300 * MS);  // the probe timer
  assert_int_equal(tg_tcp_held(client), 0);
}

// Two small segments in flight, and the receiver in pingpong mode: no 40 ms, since the sender probes for a loss.
static void a_loss_probe_comes_before_a_delayed_ack(void **state) {
  (void)state;
  for (int held = 0; held < 2; held++) {
    start();
    tg_tcp_set_quickack(server, 0);
    tg_tcp_set_nodelay(client, true);
    send_all(client, 100);
    send_all(client, 100);
    if (held) {
      tg_tcp_set_nodelay(client, false);
      send_all(client, 100);
      assert_int_equal(tg_tcp_held(client), 100);
    }
    pass(3 * MS);
    assert_int_not_equal(tg_tcp_unacked(client), 0);
    pass(10 * MS);
    assert_int_equal(tg_tcp_held(client), 0);
    assert_int_equal(read_all(server), 200 + 100 * (unsigned)held);
    // Without new data the last segment goes out again, and what comes twice is acknowledged at once.
    assert_int_equal(tg_tcp_unacked(client), held ? 300 : 0);
    assert_int_equal(tg_tcp_stats_of(client)->data_segments, 3);
    pass(50 * MS);
    assert_int_equal(tg_tcp_unacked(client), 0);
    assert_int_equal(tg_tcp_stats_of(client)->stalls, 0);
    tg_tcp_pair_destroy(pair);
    pair = NULL;
  }
}

static void a_long_delay_keeps_order(void **state) {
  (void)state;
  options.delay_ns = 100 * MS;
  start();
  tg_tcp_set_nodelay(client, true);
  send_all(client, 100);
  tg_tcp_set_delay(pair, MS);
  send_all(client, 100);
  pass(99 * MS);
  assert_int_equal(tg_tcp_unread(server), 0);
  pass(2 * MS);
  assert_int_equal(tg_tcp_unread(server), 200);
}

static void the_same_run_has_the_same_trace(void **state) {
  (void)state;
  start();
  exchange(-1);
  uint64_t hash = trace.hash;
  uint64_t lines = trace.lines;
  tg_tcp_pair_destroy(pair);
  start();
  exchange(-1);
  assert_true(trace.hash == hash);
  assert_int_equal(trace.lines, lines);
  assert_in_range(lines, 8, TG_TRACE_LINES);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(a_request_after_finished_stalls),
      TEST(quickack_after_the_flight_prevents_it),
      TEST(nodelay_prevents_it),
      TEST(a_stall_is_named_in_the_other_direction_too),
      TEST(a_listener_in_pingpong_mode_passes_it_on),
      TEST(many_bytes_arrive_whole_through_small_windows),
      TEST(a_full_send_buffer_takes_part_and_then_nothing),
      TEST(peeking_leaves_the_bytes),
      TEST(fin_comes_behind_the_bytes),
      TEST(fin_waits_for_the_window),
      TEST(both_ends_may_close_at_once),
      TEST(closing_with_bytes_unread_resets),
      TEST(the_first_send_after_a_reset_says_so),
      TEST(a_reset_after_fin_is_a_broken_pipe),
      TEST(data_on_the_way_when_closing_is_answered_by_a_reset),
      TEST(a_shutdown_of_both_refuses_data_as_well),
      TEST(cork_and_more_hold_back),
      TEST(a_loss_probe_comes_before_a_delayed_ack),
      TEST(a_long_delay_keeps_order),
      TEST(the_same_run_has_the_same_trace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
