// A BIO over a non-blocking socket: BoringSSL's own would raise SIGPIPE.
#ifndef TLSGATE_FUZZ_EXAMPLES_HANDOFF_SOCKET_BIO_H
#define TLSGATE_FUZZ_EXAMPLES_HANDOFF_SOCKET_BIO_H

#include <openssl/bio.h>
#include <stdbool.h>

// A socket, and what became of it.
struct plug {
  int fd;
  bool ended;   // the peer has: recv has returned 0
  bool broken;  // recv or send has failed for good
};

// socket_bio_method returns what socket_bio_new needs, or NULL when out of memory; BIO_meth_free.
BIO_METHOD *socket_bio_method(void);

// socket_bio_new returns a BIO over `plug`, which it borrows; NULL when out of memory.
BIO *socket_bio_new(const BIO_METHOD *method, struct plug *plug);

// What one call moved: bytes, or one of these.
enum { PLUG_BLOCKED = -1, PLUG_OVER = -2 };

// plug_recv and plug_send are recv and send that a signal does not interrupt; PLUG_OVER says that `ended` or `broken`
// is set.
long plug_recv(struct plug *plug, void *data, size_t len);
long plug_send(struct plug *plug, const void *data, size_t len);

#endif
