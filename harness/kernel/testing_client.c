// The client of testing_shard.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#include "harness/kernel/testing_shard.h"

static const char kRequest[] = "hello, simulated world\n";

static void send_all(struct testing_client *client, const void *data, size_t len) {
  ssize_t put = tg_tcp_send(client->end, data, len, false);
  // The buffer is large enough; the server may be gone.
  assert_true(put == (ssize_t)len || put == -ECONNRESET || put == -EPIPE);
  client->failed = client->failed || put < 0;
}

static void flush(struct testing_client *client) {
  BIO *bio = SSL_get_wbio(client->ssl);
  const uint8_t *data;
  size_t len;
  assert_int_equal(BIO_mem_contents(bio, &data, &len), 1);
  if (len > 0) {
    send_all(client, data, len);
    assert_int_equal(BIO_reset(bio), 1);
  }
}

static void ask(struct testing_client *client) {
  client->asked = true;
  client->asked_ns = tg_kernel_sim(client->kernel)->now_ns;
  if (client->ssl == NULL) {
    send_all(client, kRequest, sizeof(kRequest) - 1);
    return;
  }
  assert_int_equal(SSL_write(client->ssl, kRequest, sizeof(kRequest) - 1), sizeof(kRequest) - 1);
  flush(client);
}

static void take(struct testing_client *client, const char *data, size_t len) {
  assert_true(client->answer_len + len < sizeof(client->answer));
  memcpy(client->answer + client->answer_len, data, len);
  client->answer_len += len;
  if (client->answer_len == sizeof(kRequest) - 1) {
    assert_memory_equal(client->answer, kRequest, client->answer_len);
    client->answered_ns = tg_kernel_sim(client->kernel)->now_ns;
  }
}

static void step_tls(struct testing_client *client) {
  if (!SSL_is_init_finished(client->ssl)) {
    int done = SSL_do_handshake(client->ssl);
    flush(client);
    if (done != 1) {
      client->failed = client->failed || SSL_get_error(client->ssl, done) != SSL_ERROR_WANT_READ;
      ERR_clear_error();
      return;
    }
  }
  if (!client->asked) {
    ask(client);
  }
  char plain[64];
  int got;
  while ((got = SSL_read(client->ssl, plain, sizeof(plain))) > 0) {
    take(client, plain, (size_t)got);
  }
  ERR_clear_error();
}

// Reads what is there and does what follows from it.
static void step(void *opaque, uint64_t value) {
  (void)value;
  struct testing_client *client = opaque;
  if (client->closed) {
    return;
  }
  char in[4096];
  ssize_t got;
  while ((got = tg_tcp_recv(client->end, in, sizeof(in), false)) > 0) {
    if (client->ssl == NULL) {
      take(client, in, (size_t)got);
    } else {
      assert_int_equal(BIO_write(SSL_get_rbio(client->ssl), in, (int)got), (int)got);
    }
  }
  if (client->ssl != NULL) {
    step_tls(client);
  } else if (!client->asked) {
    ask(client);
  }
  if (got == 0 || got == -ECONNRESET || client->failed) {
    tg_tcp_close(client->end);
    client->closed = true;
  }
}

static void notify(void *opaque, struct tg_tcp *end, unsigned changes) {
  (void)end;
  struct testing_client *client = opaque;
  if ((changes & TG_TCP_READABLE) != 0) {
    struct tg_sim *sim = tg_kernel_sim(client->kernel);
    tg_sim_post(sim, TG_SIM_DRIVER, sim->now_ns, step, client, 0);
  }
}

void testing_client_start(struct testing_client *client, struct tg_kernel *kernel, uint16_t port, SSL_CTX *ctx) {
  testing_client_resume(client, kernel, port, ctx, NULL);
}

void testing_client_resume(struct testing_client *client, struct tg_kernel *kernel, uint16_t port, SSL_CTX *ctx,
                           SSL_SESSION *session) {
  *client = (struct testing_client){.kernel = kernel};
  client->end = tg_kernel_connect(kernel, port, NULL);
  assert_non_null(client->end);
  tg_tcp_set_notify(client->end, notify, client);
  if (ctx != NULL) {
    client->ssl = SSL_new(ctx);
    assert_non_null(client->ssl);
    SSL_set_bio(client->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(client->ssl);
    if (session != NULL) {
      assert_int_equal(SSL_set_session(client->ssl, session), 1);
    }
  }
  step(client, 0);
}

void testing_client_free(struct testing_client *client) {
  SSL_free(client->ssl);
  client->ssl = NULL;
}
