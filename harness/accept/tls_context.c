#include "harness/accept/tls_context.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include "harness/accept/clock.h"
#include "harness/accept/socket_bio.h"
#include "harness/accept/ticket_keys.h"
#include "harness/accept/tls_session.h"

struct tg_tls_context {
  SSL_CTX *ctx;
  BIO_METHOD *bio_method;
  bool asks_certificates;
  struct tg_ticket_keys ticket_keys;
};

// RFC 8446, 4.6.1: a ticket lives seven days at most.
enum { kMaxTicketLifetime = 604800 };

// Chooses http/1.1 where the client offers it. A client that offers only others, h2 say, is served without ALPN: RFC
// 7301, 3.2 would have a fatal alert, but such a client learns more from an HTTP/1.1 response.
static int select_protocol(SSL *ssl, const uint8_t **out, uint8_t *out_len, const uint8_t *in, unsigned in_len,
                           void *arg) {
  (void)ssl;
  (void)arg;
  static const uint8_t kOurs[] = "\x08http/1.1";
  int chosen = SSL_select_next_proto((uint8_t **)out, out_len, kOurs, sizeof(kOurs) - 1, in, in_len);
  return chosen == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static bool set_certificate(SSL_CTX *ctx, const struct tg_tls_config *config, struct tg_error *err) {
  size_t num_certs = config->chain == NULL ? 0 : sk_X509_num(config->chain);
  if (num_certs == 0 || config->key == NULL) {
    tg_error_set(err, "a TLS context needs a certificate chain and its private key");
    return false;
  }
  if (!SSL_CTX_use_certificate(ctx, sk_X509_value(config->chain, 0))) {
    tg_error_set_tls(err, "cannot use the certificate");
    return false;
  }
  for (size_t i = 1; i < num_certs; i++) {
    if (!SSL_CTX_add1_chain_cert(ctx, sk_X509_value(config->chain, i))) {
      tg_error_set_tls(err, "cannot use certificate %zu of the chain", i + 1);
      return false;
    }
  }
  if (!X509_check_private_key(sk_X509_value(config->chain, 0), config->key)) {
    tg_error_set_tls(err, "the private key does not match the certificate");
    return false;
  }
  if (!SSL_CTX_use_PrivateKey(ctx, config->key)) {
    tg_error_set_tls(err, "cannot use the private key");
    return false;
  }
  return true;
}

// The library reads a certificate's extensions when a chain first needs them, and keeps the result, also that memory
// was short: from then on that CA's clients would be refused until the server is started anew. So they are read now.
static bool read_extensions(const SSL_CTX *ctx, const char *file, struct tg_error *err) {
  STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));
  for (size_t i = 0; i < sk_X509_OBJECT_num(objects); i++) {
    X509 *certificate = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));
    // NULL is a revocation list. Purpose -1 is none in particular; the answer is 1 if the extensions could be read.
    if (certificate != NULL && X509_check_purpose(certificate, -1, 0) != 1) {
      tg_error_set_tls(err, "cannot read the extensions of a client CA certificate from \"%s\"", file);
      return false;
    }
  }
  return true;
}

static bool set_client_ca(SSL_CTX *ctx, const char *file, struct tg_error *err) {
  STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(file);
  if (names == NULL || !SSL_CTX_load_verify_locations(ctx, file, NULL)) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    tg_error_set_tls(err, "cannot read client CA certificates from \"%s\"", file);
    return false;
  }
  SSL_CTX_set_client_CA_list(ctx, names);
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
  return read_extensions(ctx, file, err);
}

static bool configure(struct tg_tls_context *context, const struct tg_tls_config *config, struct tg_error *err) {
  SSL_CTX *ctx = context->ctx;
  static const uint8_t kSessionContext[] = "tlsgate";
  if (!SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) || !SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) ||
      // Without a session context a session with a client certificate is not resumed.
      !SSL_CTX_set_session_id_context(ctx, kSessionContext, sizeof(kSessionContext) - 1)) {
    tg_error_set_tls(err, "cannot configure TLS");
    return false;
  }
  if (!set_certificate(ctx, config, err)) {
    return false;
  }
  if (config->groups != NULL && !SSL_CTX_set1_curves_list(ctx, config->groups)) {
    tg_error_set_tls(err, "\"%s\" is not a colon-separated list of groups such as X25519:P-256", config->groups);
    return false;
  }
  if (config->client_ca_file != NULL) {
    if (!set_client_ca(ctx, config->client_ca_file, err)) {
      return false;
    }
    context->asks_certificates = true;
  }
  // All state of a session is in its ticket: a cache would be state that shards share.
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  // A ticket is valid no longer than its key can be relied upon to live.
  SSL_CTX_set_timeout(ctx, config->ticket_key_lifetime_s);
  SSL_CTX_set_session_psk_dhe_timeout(ctx, config->ticket_key_lifetime_s);
  SSL_CTX_set_alpn_select_cb(ctx, select_protocol, NULL);
  SSL_CTX_set_early_data_enabled(ctx, config->early_data);
  SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (!tg_ticket_keys_init(&context->ticket_keys, config->ticket_key_lifetime_s, tg_clock_now_ns() / TG_NS_PER_S) ||
      !tg_ticket_keys_install(ctx, &context->ticket_keys)) {
    tg_error_set_tls(err, "cannot make a ticket key");
    return false;
  }
  return true;
}

struct tg_tls_context *tg_tls_context_create(const struct tg_tls_config *config, struct tg_error *err) {
  if (config->ticket_key_lifetime_s < 1 || config->ticket_key_lifetime_s > kMaxTicketLifetime) {
    tg_error_set(err, "a ticket key's lifetime is 1 to %d seconds, not %u", kMaxTicketLifetime,
                 config->ticket_key_lifetime_s);
    return NULL;
  }
  struct tg_tls_context *context = calloc(1, sizeof(*context));
  if (context == NULL) {
    tg_error_set(err, "no memory for a TLS context");
    return NULL;
  }
  context->ctx = SSL_CTX_new(TLS_method());
  context->bio_method = tg_socket_bio_method_new();
  bool ok = context->ctx != NULL && context->bio_method != NULL;
  if (!ok) {
    tg_error_set_tls(err, "cannot make a TLS context");
  }
  ok = ok && configure(context, config, err);
  ERR_clear_error();
  if (!ok) {
    tg_tls_context_destroy(context);
    return NULL;
  }
  return context;
}

void tg_tls_context_destroy(struct tg_tls_context *context) {
  if (context == NULL) {
    return;
  }
  SSL_CTX_free(context->ctx);
  BIO_meth_free(context->bio_method);
  tg_ticket_keys_wipe(&context->ticket_keys);
  free(context);
}

SSL *tg_tls_session_new(struct tg_tls_context *context, struct tg_stream *stream) {
  SSL *ssl = SSL_new(context->ctx);
  BIO *bio = ssl == NULL ? NULL : tg_socket_bio_new(context->bio_method, stream);
  if (bio == NULL) {
    SSL_free(ssl);
    return NULL;
  }
  // Both directions share the one reference.
  SSL_set_bio(ssl, bio, bio);
  SSL_set_accept_state(ssl);
  SSL_set_shed_handshake_config(ssl, 1);
  return ssl;
}

bool tg_tls_context_asks_certificates(const struct tg_tls_context *context) {
  return context->asks_certificates;
}
