// SSL_accept over memory BIOs: the least that a fuzz target of a TLS server can do, and what handshake_bytes is held
// against, on the same inputs.
#include <openssl/bio.h>
#include <openssl/err.h>

#include "fuzz/bare/bare_tls.h"
#include "fuzz/base/rng.h"
#include "fuzz/base/target.h"
#include "fuzz/schedule/prefix.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  tg_fuzz_reset_rng();
  tg_bare_init();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct tg_byte_input input;
  tg_byte_input_decode(data, size, &input);
  tg_fuzz_reset_rng();
  SSL *ssl = tg_bare_server(&input.settings);
  if (input.payload_len > 0) {
    BIO_write(SSL_get_rbio(ssl), input.payload, (int)input.payload_len);
  }
  if (SSL_accept(ssl) == 1) {
    uint8_t buffer[4096];
    while (SSL_read(ssl, buffer, sizeof(buffer)) > 0) {
    }
  }
  SSL_free(ssl);
  ERR_clear_error();
  return 0;
}
