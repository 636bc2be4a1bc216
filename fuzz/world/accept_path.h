// The accept path that the simulated world is put around: how it is driven, what it promises and what its clients may
// ask for. A program of the world is linked with one of these, and with nothing else of the server's that the world
// knows. docs/adapter.md takes another server from nothing to its fuzz targets; server.c is the project's own.
#ifndef TLSGATE_FUZZ_WORLD_ACCEPT_PATH_H
#define TLSGATE_FUZZ_WORLD_ACCEPT_PATH_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/schedule/schedule.h"
#include "harness/accept/counters.h"
#include "harness/kernel/adapter.h"

// When the server ends a connection whose client does not get on, in milliseconds. 0: it promises none. If one is 0,
// no more is asked of the server (P4) than to be rid of clients that have reset their connections.
struct tg_promises {
  uint32_t handshake_ms;  // from accept4 to the end of the handshake
  uint32_t request_ms;    // from a request's first byte to its last
  uint32_t idle_ms;       // from the end of the handshake, or of a response, to the next request's first byte
  uint32_t response_ms;   // from a request's last byte to its response's, or to each 64 KiB of it
  uint32_t drain_ms;      // from the server's FIN to close()
};

// Content of bodies whose bytes are known: byte i is the (i % 64)th of these.
#define TG_HTTP_FILLER "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// What the world's clients may ask the server for. A response has the status line's "HTTP/1.1 ", a Content-Length
// (chunked ones are not read), and "Connection: close" if the server ends the connection after it; the value of a Date
// field may differ from run to run, nothing else. Errors have the statuses that the comments of `requests` name.
struct tg_http_routes {
  // Bits 1 << enum tg_schedule_request: the kinds that the server understands. A schedule that asks for another asks
  // for the small route instead. GET is always understood. Statuses: 404 for NOT_FOUND, and the connection stays; with
  // an end of the connection 400 for NUL and BROKEN, 413 for BODY_TOO_BIG and POSTs beyond the limit, 431 for BIG_HEAD
  // beyond `head_max`; 200 for all others, and 100 or not before the answer to EXPECT.
  uint32_t requests;
  const char *small;       // path of the small route: "/"
  const char *small_body;  // its body, at most 39 bytes; NULL: not looked at
  const char *bytes;       // behind it comes a decimal number, the length of the body: "/bytes/"
  bool bytes_are_filler;   // TG_HTTP_FILLER; otherwise the length alone is looked at
  const char *upload;      // path that takes POST
  bool upload_reports;     // its body is {"received":N}, N the length of the request's; otherwise it is not looked at
  const char *stats;       // path whose body is never looked at
  bool error_bodies;       // are {"code":"not-found"}, "bad-request", "body-too-large", "header-fields-too-large";
                           // otherwise they are not looked at
  size_t head_max;         // longest head, in bytes with the empty line, that is answered with 200
  uint64_t body_max;       // longest body of a request; 0: that of the config
};

// What create is given.
struct tg_accept_path_config {
  struct tg_kernel *kernel;
  const struct tg_schedule_settings *settings;  // borrowed until destroy; what the server does not take is not set
  struct tg_promises deadlines;                 // those of the accept path, as the settings want them
  uint64_t max_body;                            // of a request, in bytes
  // The server's identity, borrowed until destroy: parsed for BoringSSL, and as PEM texts for others.
  EVP_PKEY *key;
  const STACK_OF(X509) * chain;  // leaf first
  const char *key_pem;
  const char *chain_pem;
  const char *client_ca_file;  // PEM file whose CAs have signed clients' certificates; NULL: none are asked for
  uint8_t quickack;            // enum tg_quickack of the project's own server
  void *kept;                  // of keep_tls; NULL: the server makes a TLS context of its own
};

struct tg_accept_path {
  const char *name;
  // create is given a struct tg_accept_path_config. check, which may be NULL, reports by tg_finding (finding.h).
  struct tg_adapter adapter;
  uint16_t tls_port;
  uint16_t plaintext_port;       // 0: none
  struct tg_promises deadlines;  // settings.deadlines 0; the schedule's others divide them if takes.deadlines
  uint32_t recovery_ms;          // after descriptors or memory were short, new clients are accepted again; 0: 200
  bool uses_boringssl;           // its error queue is empty after every turn: P8
  struct tg_http_routes http;

  // Settings (schedule.h) that it heeds; those it does not are 0 in every run.
  struct {
    bool key;
    bool client_ca;
    bool early_data;  // and answers it only when the handshake is confirmed: P11
    bool deadlines;
    bool max_connections;  // 503 to those above it
  } takes;

  // Each may be NULL from here on.

  // Ends the server's work, clients after `grace_ms` at the latest; called outside the kernel, which it enters itself
  // for each of its threads.
  void (*wind_down)(void *server, uint32_t grace_ms);

  // What can be seen from the inside, in addition to what clients and kernel see.
  struct {
    bool checks_itself;  // adapter.check sees P4 and P8 itself, and more sharply than from the outside
    // Whether a deadline has ended a connection, this very moment's among them. NULL: whatever the server ends later
    // than its shortest deadline counts as cut by one, which excuses more than it need.
    bool (*cut_some)(const void *server);
    size_t (*connections)(const void *server);  // not yet freed
    void (*check_rest)(void *server);           // P3: when nothing is due any more but time-outs
    bool (*failed)(const void *server);         // a listener was given up for good
    void (*counters)(void *server, struct tg_counters *out);
  } inside;

  // A TLS context that one run after another uses; `*made` says that it is new. kept_tls_end ends a run's use of it.
  void *(*keep_tls)(const struct tg_schedule_settings *settings, bool *made);
  void (*kept_tls_end)(void *kept);
  // Asks for the server that `refused` stands for (refused.h); without it schedules ask for none.
  void (*refuse)(struct tg_kernel *kernel, enum tg_schedule_refusal refused);
};

// The one that the program is linked with.
extern const struct tg_accept_path tg_world_accept_path;

#endif
