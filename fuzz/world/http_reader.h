// Reads a server's responses and holds them against what is owed.
#ifndef TLSGATE_FUZZ_WORLD_HTTP_READER_H
#define TLSGATE_FUZZ_WORLD_HTTP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/world/http_script.h"

#define TG_HTTP_READER_HEAD_MAX 1024u

struct tg_http_reader {
  char head[TG_HTTP_READER_HEAD_MAX];
  size_t head_len;
  bool in_body;
  int status;
  bool closes;  // the response says that the connection ends
  uint64_t body_len;
  uint64_t body_at;
  uint64_t hash;  // FNV-1a over status and length of every final response, and bodies that are not known beforehand
  uint32_t responses;  // final ones that are complete
  uint32_t shed;       // of these, 503: load shedding
  uint32_t date_at;    // of raw bytes: how much of "\r\nDate: " and its value has come
  const char *wrong;   // what is not as owed; NULL: all is well
};

void tg_http_reader_init(struct tg_http_reader *reader);

// tg_http_reader_feed takes bytes of the server's. `may_shed`: 503 is an answer to anything. Returns false, with
// `wrong` set, when they are not what is owed.
bool tg_http_reader_feed(struct tg_http_reader *reader, struct tg_http_script *script, bool may_shed,
                         const uint8_t *data, size_t len);

// tg_http_reader_hash_raw takes bytes whose requests nobody knows: all go into the hash but the values of Date fields,
// which tell the time and not the outcome.
void tg_http_reader_hash_raw(struct tg_http_reader *reader, const uint8_t *data, size_t len);

// tg_http_reader_within says whether a response has begun and is not complete.
bool tg_http_reader_within(const struct tg_http_reader *reader);

// tg_hash continues an FNV-1a hash (Fowler, Noll, Vo; 64 bits).
#define TG_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t tg_hash(uint64_t hash, const void *data, size_t len);

#endif
