#include "harness/accept/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/accept/socket_bio.h"

struct pipe {
  int peer;
  struct tg_block_pool in_pool;
  struct tg_block_pool out_pool;
  struct tg_counters counters;
  struct tg_stream stream;
};

static void pipe_open(struct pipe *pipe) {
  int fds[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  memset(pipe, 0, sizeof(*pipe));
  pipe->peer = fds[1];
  tg_block_pool_init(&pipe->in_pool, TG_STREAM_IN_BLOCK);
  tg_block_pool_init(&pipe->out_pool, TG_STREAM_OUT_BLOCK);
  tg_stream_init(&pipe->stream, fds[0], &pipe->in_pool, &pipe->out_pool, &pipe->counters);
  tg_stream_begin_run(&pipe->stream, EPOLLIN | EPOLLOUT);
}

static void pipe_close(struct pipe *pipe) {
  tg_stream_release(&pipe->stream);
  close(pipe->stream.fd);
  if (pipe->peer >= 0) {
    close(pipe->peer);
  }
  tg_block_pool_clear(&pipe->in_pool);
  tg_block_pool_clear(&pipe->out_pool);
}

static void test_one_recv_serves_many_reads(void **state) {
  (void)state;
  struct pipe pipe;
  char out[4];
  pipe_open(&pipe);
  assert_int_equal(write(pipe.peer, "abcdefgh", 8), 8);
  assert_int_equal(tg_stream_read(&pipe.stream, out, 3), 3);
  assert_memory_equal(out, "abc", 3);
  assert_int_equal(pipe.counters.bytes_read, 8);
  assert_int_equal(tg_stream_buffered(&pipe.stream), 5);
  // What came later is not asked for: the queue was seen empty, and only epoll says otherwise.
  assert_int_equal(write(pipe.peer, "i", 1), 1);
  assert_int_equal(tg_stream_read(&pipe.stream, out, 4), 4);
  assert_int_equal(tg_stream_read(&pipe.stream, out, 4), 1);
  assert_true(pipe.stream.drained);
  assert_int_equal(tg_stream_read(&pipe.stream, out, 4), TG_READ_AGAIN);
  assert_false(pipe.stream.throttled);
  tg_stream_begin_run(&pipe.stream, EPOLLIN);
  assert_int_equal(tg_stream_read(&pipe.stream, out, 4), 1);
  assert_int_equal(out[0], 'i');
  pipe_close(&pipe);
}

static void test_end_and_error_stay(void **state) {
  (void)state;
  struct pipe pipe;
  char out[4];
  pipe_open(&pipe);
  close(pipe.peer);
  pipe.peer = -1;
  assert_int_equal(tg_stream_read(&pipe.stream, out, 4), TG_READ_EOF);
  assert_int_equal(tg_stream_read(&pipe.stream, out, 4), TG_READ_EOF);
  assert_true(tg_stream_write(&pipe.stream, "x", 1));
  assert_false(tg_stream_flush(&pipe.stream));
  assert_int_equal(pipe.stream.error, EPIPE);
  assert_int_equal(tg_stream_read(&pipe.stream, out, 4), TG_READ_ERROR);
  assert_false(tg_stream_write(&pipe.stream, "x", 1));
  assert_false(tg_stream_flush(&pipe.stream));
  pipe_close(&pipe);
}

static void test_a_run_receives_its_share_and_no_more(void **state) {
  (void)state;
  struct pipe pipe;
  static uint8_t bulk[TG_STREAM_IN_BLOCK];
  size_t got = 0;
  pipe_open(&pipe);
  for (;;) {
    while (write(pipe.peer, bulk, sizeof(bulk)) > 0) {
    }
    ssize_t len = tg_stream_read(&pipe.stream, bulk, sizeof(bulk));
    if (len < 0) {
      assert_int_equal(len, TG_READ_AGAIN);
      if (pipe.stream.throttled) {
        break;
      }
      tg_stream_begin_run(&pipe.stream, EPOLLIN);
      got = 0;
      continue;
    }
    got += (size_t)len;
  }
  assert_in_range(got, TG_STREAM_TURN_BYTES, TG_STREAM_TURN_BYTES + TG_STREAM_IN_BLOCK);
  pipe_close(&pipe);
}

static void test_writes_leave_together_whole_and_in_order(void **state) {
  (void)state;
  struct pipe pipe;
  pipe_open(&pipe);
  const int small = 4096;
  assert_int_equal(setsockopt(pipe.stream.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
  // Far more than the limit, in pieces of odd sizes: it is all taken, and sent as the socket takes it.
  enum { kTotal = 3 * TG_STREAM_OUT_LIMIT };
  uint8_t *expected = malloc(kTotal);
  uint8_t *arrived = malloc(kTotal);
  assert_non_null(expected);
  assert_non_null(arrived);
  for (size_t i = 0; i < kTotal; i++) {
    expected[i] = (uint8_t)(i * 7 + (i >> 8));
  }
  size_t written = 0;
  size_t have = 0;
  size_t short_sends = 0;
  while (have < kTotal) {
    for (size_t piece = 1; piece < 40000 && written < kTotal; piece = piece * 3 + 1) {
      size_t len = piece < kTotal - written ? piece : kTotal - written;
      assert_true(tg_stream_write(&pipe.stream, expected + written, len));
      written += len;
    }
    tg_stream_begin_run(&pipe.stream, EPOLLOUT);
    assert_true(tg_stream_flush(&pipe.stream));
    assert_int_equal(tg_stream_has_room(&pipe.stream), tg_stream_pending(&pipe.stream) < TG_STREAM_OUT_LIMIT);
    short_sends += pipe.stream.blocked;
    ssize_t got = read(pipe.peer, arrived + have, 5000);
    if (got > 0) {
      have += (size_t)got;
    }
  }
  assert_true(short_sends > 10);
  assert_memory_equal(arrived, expected, kTotal);
  assert_int_equal(pipe.counters.bytes_written, kTotal);
  assert_int_equal(tg_stream_pending(&pipe.stream), 0);
  free(expected);
  free(arrived);
  pipe_close(&pipe);
}

static void test_at_rest_there_are_no_buffers(void **state) {
  (void)state;
  struct pipe pipe;
  char out[8];
  pipe_open(&pipe);
  assert_int_equal(write(pipe.peer, "abcd", 4), 4);
  assert_int_equal(tg_stream_read(&pipe.stream, out, 2), 2);
  assert_true(tg_stream_write(&pipe.stream, "xyz", 3));
  tg_stream_end_run(&pipe.stream);
  assert_non_null(pipe.stream.in);
  assert_non_null(pipe.stream.out);
  assert_int_equal(tg_stream_discard(&pipe.stream), 2);
  assert_int_equal(tg_stream_discard(&pipe.stream), TG_READ_AGAIN);
  assert_true(tg_stream_flush(&pipe.stream));
  tg_stream_end_run(&pipe.stream);
  assert_null(pipe.stream.in);
  assert_null(pipe.stream.out);
  assert_int_equal(pipe.in_pool.num_spare, 1);
  assert_int_equal(pipe.out_pool.num_spare, 1);
  pipe_close(&pipe);
}

static void test_pool_keeps_few_blocks(void **state) {
  (void)state;
  struct tg_block_pool pool;
  void *blocks[32];
  tg_block_pool_init(&pool, 64);
  for (size_t i = 0; i < 32; i++) {
    blocks[i] = tg_block_get(&pool);
    assert_non_null(blocks[i]);
    memset(blocks[i], 0xff, 64);
  }
  for (size_t i = 0; i < 32; i++) {
    tg_block_put(&pool, blocks[i]);
  }
  assert_in_range(pool.num_spare, 1, 8);
  unsigned kept = pool.num_spare;
  void *again = tg_block_get(&pool);
  assert_int_equal(pool.num_spare, kept - 1);
  tg_block_put(&pool, again);
  tg_block_pool_clear(&pool);
  assert_int_equal(pool.num_spare, 0);
}

static void test_bio_reads_queues_and_says_when_to_retry(void **state) {
  (void)state;
  struct pipe pipe;
  char out[8];
  pipe_open(&pipe);
  BIO_METHOD *method = tg_socket_bio_method_new();
  assert_non_null(method);
  BIO *bio = tg_socket_bio_new(method, &pipe.stream);
  assert_non_null(bio);
  assert_int_equal(BIO_read(bio, out, 8), -1);
  assert_true(BIO_should_read(bio));
  assert_int_equal(BIO_write(bio, "abc", 3), 3);
  assert_int_equal(BIO_write(bio, "def", 3), 3);
  assert_int_equal(BIO_flush(bio), 1);
  assert_int_equal(tg_stream_pending(&pipe.stream), 6);
  assert_int_equal(read(pipe.peer, out, 8), -1);
  assert_true(tg_stream_flush(&pipe.stream));
  assert_int_equal(read(pipe.peer, out, 8), 6);
  assert_memory_equal(out, "abcdef", 6);
  assert_int_equal(write(pipe.peer, "1234", 4), 4);
  tg_stream_begin_run(&pipe.stream, EPOLLIN);
  assert_int_equal(BIO_read(bio, out, 3), 3);
  assert_int_equal(BIO_read(bio, out, 3), 1);
  assert_int_equal(shutdown(pipe.peer, SHUT_WR), 0);
  tg_stream_begin_run(&pipe.stream, EPOLLIN);
  assert_int_equal(BIO_read(bio, out, 3), 0);
  assert_false(BIO_should_retry(bio));
  pipe.stream.error = ECONNRESET;
  assert_int_equal(BIO_read(bio, out, 3), -1);
  assert_false(BIO_should_retry(bio));
  assert_int_equal(BIO_write(bio, "x", 1), -1);
  assert_false(BIO_should_retry(bio));
  BIO_free(bio);
  BIO_meth_free(method);
  pipe_close(&pipe);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_recv_serves_many_reads),
      cmocka_unit_test(test_end_and_error_stay),
      cmocka_unit_test(test_a_run_receives_its_share_and_no_more),
      cmocka_unit_test(test_writes_leave_together_whole_and_in_order),
      cmocka_unit_test(test_at_rest_there_are_no_buffers),
      cmocka_unit_test(test_pool_keeps_few_blocks),
      cmocka_unit_test(test_bio_reads_queues_and_says_when_to_retry),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
