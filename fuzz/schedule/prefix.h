// The input of the targets that take raw bytes (handshake_bytes, request_bytes): 8 bytes of settings, then what the
// client sends. docs/schedules.md has the layout. As with schedules, every byte string is valid: what is out of range
// is folded into range, what is missing is zero.
#ifndef TLSGATE_FUZZ_SCHEDULE_PREFIX_H
#define TLSGATE_FUZZ_SCHEDULE_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/schedule/schedule.h"

#define TG_BYTE_INPUT_VERSION 1u
#define TG_BYTE_INPUT_PREFIX  8u

enum tg_byte_input_end {
  TG_BYTE_INPUT_STAYS,       // nothing follows the last byte: deadlines end the connection
  TG_BYTE_INPUT_HALF_CLOSE,  // a FIN follows, and the client goes on reading
  TG_BYTE_INPUT_CLOSE,       // the client closes its socket
  TG_BYTE_INPUT_RESET,
  TG_BYTE_INPUT_ENDS,
};

struct tg_byte_input {
  // What the prefix has no room for stands at its default: shards 1, max_connections 0, max_fds 0. plaintext_listener
  // is true if and only if `plaintext` is.
  struct tg_schedule_settings settings;
  bool plaintext;          // to the plaintext listener; handshake_bytes, which is about TLS, does not look at it
  bool nodelay;            // the client's TCP_NODELAY
  uint16_t cut;            // bytes a write; 0: as they come
  uint8_t gap;             // pause between the writes of a cut, as `wait`'s scale (wait.h)
  uint8_t end;             // enum tg_byte_input_end
  const uint8_t *payload;  // borrowed from what was decoded; NULL if there is none
  size_t payload_len;
};

// tg_byte_input_decode reads any bytes.
void tg_byte_input_decode(const uint8_t *data, size_t len, struct tg_byte_input *out);

// tg_byte_input_encode writes the prefix, folded into range, and the payload: TG_BYTE_INPUT_PREFIX + payload_len bytes,
// which it returns.
size_t tg_byte_input_encode(const struct tg_byte_input *input, uint8_t *out);

#endif
