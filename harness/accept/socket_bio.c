#include "harness/accept/socket_bio.h"

#include <openssl/bio.h>

static int socket_bio_read(BIO *bio, char *out, int len) {
  BIO_clear_retry_flags(bio);
  if (len <= 0) {
    return 0;
  }
  ssize_t got = tg_stream_read(BIO_get_data(bio), out, (size_t)len);
  switch (got) {
    case TG_READ_AGAIN:
      BIO_set_retry_read(bio);
      return -1;
    case TG_READ_EOF:
      return 0;
    case TG_READ_ERROR:
      return -1;
    default:
      return (int)got;
  }
}

static int socket_bio_write(BIO *bio, const char *data, int len) {
  BIO_clear_retry_flags(bio);
  if (len <= 0) {
    return 0;
  }
  return tg_stream_write(BIO_get_data(bio), data, (size_t)len) ? len : -1;
}

static long socket_bio_ctrl(BIO *bio, int command, long number, void *pointer) {
  (void)bio;
  (void)number;
  (void)pointer;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD *tg_socket_bio_method_new(void) {
  BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "tlsgate stream");
  if (method == NULL) {
    return NULL;
  }
  if (!BIO_meth_set_read(method, socket_bio_read) || !BIO_meth_set_write(method, socket_bio_write) ||
      !BIO_meth_set_ctrl(method, socket_bio_ctrl)) {
    BIO_meth_free(method);
    return NULL;
  }
  return method;
}

BIO *tg_socket_bio_new(const BIO_METHOD *method, struct tg_stream *stream) {
  BIO *bio = BIO_new(method);
  if (bio == NULL) {
    return NULL;
  }
  BIO_set_data(bio, stream);
  BIO_set_init(bio, 1);
  return bio;
}
