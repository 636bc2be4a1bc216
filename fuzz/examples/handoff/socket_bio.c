#include "fuzz/examples/handoff/socket_bio.h"

#include <errno.h>
#include <sys/socket.h>

long plug_recv(struct plug *plug, void *data, size_t len) {
  ssize_t got;
  do {
    got = recv(plug->fd, data, len, 0);
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    return got;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return PLUG_BLOCKED;
  }
  plug->ended = plug->ended || got == 0;
  plug->broken = plug->broken || got < 0;
  return PLUG_OVER;
}

long plug_send(struct plug *plug, const void *data, size_t len) {
  ssize_t sent;
  do {
    sent = send(plug->fd, data, len, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    return sent;
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    return PLUG_BLOCKED;
  }
  plug->broken = true;
  return PLUG_OVER;
}

static int bio_read(BIO *bio, char *data, int len) {
  BIO_clear_retry_flags(bio);
  const long got = plug_recv(BIO_get_data(bio), data, (size_t)len);
  if (got == PLUG_BLOCKED) {
    BIO_set_retry_read(bio);
  }
  return got > 0 ? (int)got : got == PLUG_OVER && ((struct plug *)BIO_get_data(bio))->ended ? 0 : -1;
}

static int bio_write(BIO *bio, const char *data, int len) {
  BIO_clear_retry_flags(bio);
  const long sent = plug_send(BIO_get_data(bio), data, (size_t)len);
  if (sent == PLUG_BLOCKED) {
    BIO_set_retry_write(bio);
  }
  return sent >= 0 ? (int)sent : -1;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer) {
  (void)bio;
  (void)number;
  (void)pointer;
  // Nothing is held back here.
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD *socket_bio_method(void) {
  BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "handoff socket");
  if (method == NULL) {
    return NULL;
  }
  if (!BIO_meth_set_read(method, bio_read) || !BIO_meth_set_write(method, bio_write) ||
      !BIO_meth_set_ctrl(method, bio_ctrl)) {
    BIO_meth_free(method);
    return NULL;
  }
  return method;
}

BIO *socket_bio_new(const BIO_METHOD *method, struct plug *plug) {
  BIO *bio = BIO_new(method);
  if (bio != NULL) {
    BIO_set_data(bio, plug);
    BIO_set_init(bio, 1);
  }
  return bio;
}
