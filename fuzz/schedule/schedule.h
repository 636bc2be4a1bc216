// A schedule: what clients, network and kernel do to the accept path in one run, as a struct and as bytes.
//
// The encoding (docs/schedules.md) is compact and total: every byte string decodes to a schedule, none is rejected.
// What is out of range is folded into range, what is missing is zero. Decoding what tg_schedule_encode wrote gives the
// schedule back.
#ifndef TLSGATE_FUZZ_SCHEDULE_SCHEDULE_H
#define TLSGATE_FUZZ_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TG_SCHEDULE_VERSION     1u
#define TG_SCHEDULE_CLIENTS_MAX 8u  // numbered from 0
#define TG_SCHEDULE_STEPS_MAX   192u
#define TG_SCHEDULE_BYTES_MAX   (16u + 6u * TG_SCHEDULE_STEPS_MAX)  // an encoding is never longer

enum tg_schedule_key { TG_SCHEDULE_KEY_P256, TG_SCHEDULE_KEY_RSA2048, TG_SCHEDULE_KEY_LONG_CHAIN, TG_SCHEDULE_KEYS };

// X(NAME, name, what is impossible about it): servers that cannot be made.
#define TG_SCHEDULE_REFUSALS(X)                                          \
  X(NOTHING, "nothing", "no such server is asked for")                   \
  X(TICKET_LIFETIME, "ticket_lifetime", "ticket keys that live no time") \
  X(NO_CERTIFICATE, "no_certificate", "no certificate")                  \
  X(OTHER_KEY, "other_key", "a key that is not the certificate's")       \
  X(UNKNOWN_GROUP, "unknown_group", "a group that there is not")         \
  X(NO_CA_FILE, "no_ca_file", "a file of CAs that there is not")         \
  X(NAMED_ADDRESS, "named_address", "an address that is a name")         \
  X(PORT_IN_USE, "port_in_use", "a port that is in use")                 \
  X(NO_DESCRIPTOR, "no_descriptor", "no descriptor for its listener")    \
  X(NO_DEADLINE, "no_deadline", "a deadline of nothing")                 \
  X(NO_CONNECTIONS, "no_connections", "no connection allowed")           \
  X(NO_APPLICATION, "no_application", "no application")                  \
  X(NO_TLS, "no_tls", "a TLS listener without TLS")

enum tg_schedule_refusal {
#define TG_SCHEDULE_ENUM(name, text, meaning) TG_REFUSAL_##name,
  TG_SCHEDULE_REFUSALS(TG_SCHEDULE_ENUM)
#undef TG_SCHEDULE_ENUM
      TG_SCHEDULE_REFUSALS_COUNT
};

// The settings of a run: of the server, of the link, and of the kernel.
struct tg_schedule_settings {
  uint8_t shards;  // 1 to 3
  uint8_t key;     // enum tg_schedule_key; LONG_CHAIN does not fit the smallest send buffer
  bool flush_tickets;
  bool early_data;
  bool client_ca;           // client certificates are required
  bool plaintext_listener;  // clients may connect to it
  uint8_t deadlines;        // 0: the server's defaults; 1: a tenth; 2: a hundredth; 3: all 1 ms
  uint8_t max_connections;  // 0: the default; else as given
  uint8_t ticket_lifetime;  // 0: a day; 1: a minute; 2: a second
  uint8_t delay;            // one way: 0: 2 us, 1: 50 us, 2: 1 ms, 3: 20 ms, 4: 100 ms
  uint8_t mss;              // 0: 32,741; 1: 1,448; 2: 536; 3: 88
  uint8_t send_buffer;      // server's: 0: 2.5 MiB; 1: 64 KiB; 2: 4,608 B; 3: 1 KiB
  uint8_t window;           // client's receive window: 0: 64 KiB; 1: 1 MiB; 2: 4 KiB; 3: 256 B
  uint8_t max_fds;          // 0: plenty; else 8 + n descriptors
  uint8_t call_ns;          // a system call takes 0: 1 us; 1: 0.1 us; 2: 100 us; 3: 5 ms
  uint8_t refused;          // enum tg_schedule_refusal: asked for, and refused, before the server is made
};

// X(NAME, name, what `value` means). A step is done when the one before it is done; then `wait` passes.
#define TG_SCHEDULE_ACTIONS(X)                                                                         \
  X(WAIT, "wait", "nothing")                                                                           \
  X(CONNECT, "connect", "bits of enum tg_schedule_connect; a client that is connected is reset first") \
  X(REQUEST, "request", "low nibble: enum tg_schedule_request, rest: its size; one whole request")     \
  X(CUT, "cut", "how later bytes are cut: bytes a write, 0: as they come")                             \
  X(GAP, "gap", "pause between the writes of a cut, as `wait`'s scale (low byte)")                     \
  X(HOLD, "hold", "1: what the client would send is kept back, 0: it goes")                            \
  X(PUSH, "push", "sends so many of the bytes kept back; 0: all")                                      \
  X(READ, "read", "0: reads as it comes; 1: stops; 2 and more: reads so many bytes, then stops")       \
  X(CLOSE_NOTIFY, "close_notify", "nothing")                                                           \
  X(HALF_CLOSE, "half_close", "1: without close_notify before the FIN")                                \
  X(CLOSE, "close", "nothing: the client closes its socket, bytes unread or not")                      \
  X(RESET, "reset", "nothing")                                                                         \
  X(FLIP, "flip", "flips a bit of the bytes kept back: low 3 bits which, rest which byte (modulo)")    \
  X(RAW, "raw", "so many bytes (1 to 4,096, modulo) of a fixed pattern, past TLS")                     \
  X(RECORD, "record", "low nibble: enum tg_schedule_record, rest: its length, past TLS")               \
  X(KEY_UPDATE, "key_update", "1: asks for the peer's too")                                            \
  X(NODELAY, "nodelay", "1: on, 0: off")                                                               \
  X(CORK, "cork", "1: on, 0: off")                                                                     \
  X(DELAY, "delay", "one-way delay from here on, as settings.delay")                                   \
  X(DROP_FLIGHT, "drop_flight", "the bytes kept back are thrown away (an unfinished handshake)")       \
  X(REPLAY, "replay", "sends the first flight that client `value` sent, past TLS")                     \
  X(INJECT, "inject", "low 5 bits: enum tg_schedule_failure; 3 bits: skip; 8 bits: times (0: all)")    \
  X(CLEAR, "clear", "injections end")                                                                  \
  X(MAX_FDS, "max_fds", "0: plenty; else 8 + n descriptors")                                           \
  X(WIND_DOWN, "wind_down", "grace as `wait`'s scale (low byte)")

enum tg_schedule_action {
#define TG_SCHEDULE_ENUM(name, text, meaning) TG_SCHEDULE_##name,
  TG_SCHEDULE_ACTIONS(TG_SCHEDULE_ENUM)
#undef TG_SCHEDULE_ENUM
      TG_SCHEDULE_ACTIONS_COUNT
};

enum tg_schedule_connect {
  TG_CONNECT_PLAINTEXT = 1 << 0,
  TG_CONNECT_NODELAY = 1 << 1,
  TG_CONNECT_TLS12 = 1 << 2,          // at most TLS 1.2
  TG_CONNECT_RESUME = 1 << 3,         // with the newest session any client has, if there is one
  TG_CONNECT_EARLY_DATA = 1 << 4,     // the first request goes as early data, where the session allows it
  TG_CONNECT_HELLO_RETRY = 1 << 5,    // a key share the server does not take
  TG_CONNECT_LARGE_HELLO = 1 << 6,    // over several records and segments (ALPN list of some 16 KiB)
  TG_CONNECT_CERTIFICATE = 1 << 7,    // a client certificate the server's CA has signed
  TG_CONNECT_ALPN_H2 = 1 << 8,        // offers only h2
  TG_CONNECT_NO_TLS = 1 << 9,         // to the TLS port, but no client hello comes by itself: raw steps only
  TG_CONNECT_QUICKACK_OFF = 1 << 10,  // the client's own TCP_QUICKACK 0
  TG_CONNECT_BITS = 11,
};

// X(NAME, name, meaning; n is the size)
#define TG_SCHEDULE_REQUESTS(X)                                                            \
  X(GET, "get", "GET of the small route")                                                  \
  X(BYTES, "bytes", "GET of a body of n * 1,024 bytes (at most 4 MiB)")                    \
  X(POST, "post", "POST with a body of n * 64 bytes")                                      \
  X(POST_CHUNKED, "post_chunked", "the same, chunked")                                     \
  X(HEAD, "head", "HEAD")                                                                  \
  X(PIPELINE, "pipeline", "n + 1 GETs in one write (at most 16)")                          \
  X(CLOSE, "get_close", "GET with Connection: close")                                      \
  X(HTTP10, "http10", "GET HTTP/1.0")                                                      \
  X(EXPECT, "expect", "POST of n * 64 bytes with Expect: 100-continue, body sent at once") \
  X(STATS, "stats", "GET of the counters")                                                 \
  X(NOT_FOUND, "not_found", "GET of an unknown route")                                     \
  X(BIG_HEAD, "big_head", "GET with n * 64 bytes of header fields")                        \
  X(NUL, "nul", "GET with a NUL in a field")                                               \
  X(BROKEN, "broken", "no HTTP at all")                                                    \
  X(HEAD_ONLY, "partial_head", "the first part of a head, never completed")                \
  X(BODY_TOO_BIG, "too_big", "POST that announces more than the limit")

enum tg_schedule_request {
#define TG_SCHEDULE_ENUM(name, text, meaning) TG_REQUEST_##name,
  TG_SCHEDULE_REQUESTS(TG_SCHEDULE_ENUM)
#undef TG_SCHEDULE_ENUM
      TG_SCHEDULE_REQUESTS_COUNT
};

#define TG_SCHEDULE_RECORDS(X)                                        \
  X(ALERT_WARNING, "warning", "alert record: warning, user_canceled") \
  X(ALERT_FATAL, "fatal", "alert record: fatal, internal_error")      \
  X(ALERT_CLOSE, "close", "alert record: close_notify in the clear")  \
  X(CCS, "ccs", "change_cipher_spec")                                 \
  X(EMPTY, "empty", "application data of length 0")                   \
  X(PARTIAL, "partial", "a header that announces more than comes")    \
  X(OVERSIZED, "oversized", "a header that announces 2^14 + 257")     \
  X(HTTP, "http", "GET / HTTP/1.1 in the clear")

enum tg_schedule_record {
#define TG_SCHEDULE_ENUM(name, text, meaning) TG_RECORD_##name,
  TG_SCHEDULE_RECORDS(TG_SCHEDULE_ENUM)
#undef TG_SCHEDULE_ENUM
      TG_SCHEDULE_RECORDS_COUNT
};

// X(NAME, name): the call that fails and how; see enum tg_call.
#define TG_SCHEDULE_FAILURES(X)                       \
  X(RECV_EINTR, "recv:EINTR")                         \
  X(RECV_EAGAIN, "recv:EAGAIN")                       \
  X(RECV_ECONNRESET, "recv:ECONNRESET")               \
  X(RECV_ENOMEM, "recv:ENOMEM")                       \
  X(RECV_SHORT_1, "recv:1")                           \
  X(RECV_SHORT_100, "recv:100")                       \
  X(SEND_EINTR, "send:EINTR")                         \
  X(SEND_EAGAIN, "send:EAGAIN")                       \
  X(SEND_ECONNRESET, "send:ECONNRESET")               \
  X(SEND_EPIPE, "send:EPIPE")                         \
  X(SEND_ENOBUFS, "send:ENOBUFS")                     \
  X(SEND_SHORT_1, "send:1")                           \
  X(SEND_SHORT_100, "send:100")                       \
  X(ACCEPT_EINTR, "accept:EINTR")                     \
  X(ACCEPT_ECONNABORTED, "accept:ECONNABORTED")       \
  X(ACCEPT_EMFILE, "accept:EMFILE")                   \
  X(ACCEPT_ENFILE, "accept:ENFILE")                   \
  X(ACCEPT_ENOBUFS, "accept:ENOBUFS")                 \
  X(ACCEPT_ENOMEM, "accept:ENOMEM")                   \
  X(SETSOCKOPT_ENOPROTOOPT, "setsockopt:ENOPROTOOPT") \
  X(SETSOCKOPT_EINVAL, "setsockopt:EINVAL")           \
  X(SETSOCKOPT_EBADF, "setsockopt:EBADF")             \
  X(EPOLL_CTL_ENOMEM, "epoll_ctl:ENOMEM")             \
  X(EPOLL_WAIT_EINTR, "epoll_wait:EINTR")             \
  X(SHUTDOWN_ENOTCONN, "shutdown:ENOTCONN")           \
  X(CLOSE_EINTR, "close:EINTR")                       \
  X(MALLOC, "malloc:ENOMEM")                          \
  X(ACCEPT_EINVAL, "accept:EINVAL")

enum tg_schedule_failure {
#define TG_SCHEDULE_ENUM(name, text) TG_FAILURE_##name,
  TG_SCHEDULE_FAILURES(TG_SCHEDULE_ENUM)
#undef TG_SCHEDULE_ENUM
      TG_SCHEDULE_FAILURES_COUNT
};

struct tg_schedule_step {
  uint8_t action;  // enum tg_schedule_action
  uint8_t client;  // 0 to TG_SCHEDULE_CLIENTS_MAX - 1; unused by actions that concern the kernel or the server
  uint16_t value;
  uint8_t wait;  // what passes after it: tg_schedule_wait_ns
};

struct tg_schedule {
  struct tg_schedule_settings settings;
  size_t num_steps;
  struct tg_schedule_step steps[TG_SCHEDULE_STEPS_MAX];
};

// tg_schedule_wait_ns turns the scale of `wait` into nanoseconds: 0 is nothing, 255 is "until nothing happens any more
// but deadlines" (TG_SCHEDULE_REST); between, it grows from 1 us to 200 s, with 1 ms, 36 ms, 40 ms, 44 ms, 100 ms, 1 s
// and 10 s among its values.
#define TG_SCHEDULE_REST UINT64_MAX
uint64_t tg_schedule_wait_ns(uint8_t wait);

// tg_schedule_decode reads any bytes.
void tg_schedule_decode(const uint8_t *data, size_t len, struct tg_schedule *out);

// tg_schedule_encode writes at most TG_SCHEDULE_BYTES_MAX bytes and returns how many.
size_t tg_schedule_encode(const struct tg_schedule *schedule, uint8_t *out);

#endif
