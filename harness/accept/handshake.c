#include "harness/accept/handshake.h"

#include <assert.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>

// BoringSSL accepts 14,336 bytes of early data (kMaxEarlyDataAccepted, ssl/internal.h); the call that completes the
// handshake may add the first bytes that follow.
enum { kEarlyDataSize = 16384 };

static enum tg_handshake_outcome judge(SSL *ssl, int ret) {
  switch (SSL_get_error(ssl, ret)) {
    case SSL_ERROR_WANT_READ:
      return TG_HANDSHAKE_WAIT;
    case SSL_ERROR_SYSCALL:
    case SSL_ERROR_ZERO_RETURN:
      return TG_HANDSHAKE_CLOSED;
    default:
      break;
  }
  uint32_t error = ERR_peek_error();
  if (ERR_GET_LIB(error) == ERR_LIB_SSL &&
      (ERR_GET_REASON(error) == SSL_R_HTTP_REQUEST || ERR_GET_REASON(error) == SSL_R_HTTPS_PROXY_REQUEST)) {
    // The library says nothing to a peer that speaks plain HTTP; RFC 8446, 6.2 names the alert for it.
    SSL_send_fatal_alert(ssl, SSL_AD_UNEXPECTED_MESSAGE);
  }
  return TG_HANDSHAKE_FAILED;
}

enum tg_handshake_outcome tg_handshake_step(SSL *ssl, struct tg_early_data *early) {
  assert(ERR_peek_error() == 0);
  if (!SSL_in_early_data(ssl)) {
    int ret = SSL_do_handshake(ssl);
    if (ret != 1) {
      return judge(ssl, ret);
    }
  }
  // With early data the library calls the handshake done before it is; reading takes it on to the end.
  while (SSL_in_init(ssl)) {
    if (early->bytes == NULL) {
      early->bytes = malloc(kEarlyDataSize);
    }
    if (early->bytes == NULL || early->end == kEarlyDataSize) {
      return TG_HANDSHAKE_FAILED;
    }
    int got = SSL_read(ssl, early->bytes + early->end, (int)(kEarlyDataSize - early->end));
    if (got > 0) {
      early->end += (size_t)got;
    } else if (SSL_in_init(ssl)) {
      return judge(ssl, got);
    }
  }
  return TG_HANDSHAKE_DONE;
}

void tg_early_data_free(struct tg_early_data *early) {
  free(early->bytes);
  *early = (struct tg_early_data){0};
}
