// What the accept path itself needs of a tg_tls_context: a new TLS session over a stream.
#ifndef TLSGATE_HARNESS_ACCEPT_TLS_SESSION_H
#define TLSGATE_HARNESS_ACCEPT_TLS_SESSION_H

#include <openssl/base.h>

#include "harness/accept/stream.h"
#include "harness/accept/tls_context.h"

// tg_tls_session_new returns a server session that reads and writes through `stream`, or NULL if there is no memory. It
// ends before `context` and `stream` do. Free it with SSL_free.
SSL *tg_tls_session_new(struct tg_tls_context *context, struct tg_stream *stream);

// tg_tls_context_asks_certificates says whether the context requires client certificates.
bool tg_tls_context_asks_certificates(const struct tg_tls_context *context);

#endif
