// A BIO over a tg_stream: how the TLS library reaches the socket.
//
// Reads come from the stream's read-ahead. Writes are queued and never block, so the library never waits to write;
// whoever called it flushes the stream afterwards, once. BIO_flush therefore has nothing to do.
#ifndef TLSGATE_HARNESS_ACCEPT_SOCKET_BIO_H
#define TLSGATE_HARNESS_ACCEPT_SOCKET_BIO_H

#include <openssl/base.h>

#include "harness/accept/stream.h"

// tg_socket_bio_method_new returns the method that tg_socket_bio_new takes, or NULL if there is no memory. Free it with
// BIO_meth_free, after the last BIO.
BIO_METHOD *tg_socket_bio_method_new(void);

// tg_socket_bio_new returns a BIO over `stream`, which outlives it, or NULL if there is no memory.
BIO *tg_socket_bio_new(const BIO_METHOD *method, struct tg_stream *stream);

#endif
