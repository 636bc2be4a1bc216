// Placeholders of server descriptions and their templates: @name@, where name is one of a fixed list. An @ that begins
// no such word is left as it is.
#ifndef TLSGATE_PERF_SERVERS_EXPAND_H
#define TLSGATE_PERF_SERVERS_EXPAND_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/base/error.h"

#define TG_EXPAND_NAME_MAX 32

enum tg_placeholder {
  TG_PLACE_SCRATCH,    // the run's folder
  TG_PLACE_HERE,       // the folder of the description
  TG_PLACE_WWW,        // folder with the files small.json (15 bytes), big.bin (1 MiB) and index.html
  TG_PLACE_CERT,       // PEM chain
  TG_PLACE_KEY,        // its PEM key
  TG_PLACE_PEM,        // both in one file
  TG_PLACE_TLS_PORT,   // 0 for a server that is ready by a line
  TG_PLACE_HTTP_PORT,  // likewise
  TG_PLACE_WORKERS,    // how many workers: threads or processes
  TG_PLACE_USER,       // who runs this
  TG_PLACE_GROUP,
  TG_PLACE_HTTPS_SERVER,  // the project's own server
  TG_PLACE_VARIANT,       // what the description says of the variant that is started; empty for none
  TG_PLACE_CLIENT_CA,     // PEM certificate of the CA that clients' certificates are to be of
  TG_PLACES,
};

// tg_expand_names returns all names, separated by spaces.
const char *tg_expand_names(void);

// tg_expand_knows says whether every word between two @ is a name; if not, the first that is none is in `unknown`.
bool tg_expand_knows(const char *text, char unknown[TG_EXPAND_NAME_MAX + 1]);

// tg_expand returns a new text with the placeholders replaced; a NULL value stands for one that cannot be had here.
// `where` names the text in errors. Returns NULL with `err` filled in for an unknown placeholder and for one without a
// value.
char *tg_expand(const char *where, const char *text, const char *const values[TG_PLACES], struct tg_error *err);

#endif
