// What a server under test is: a file of perf/servers/ or of the user's own, decoded strictly (docs/servers.md
// describes every key). One file says how one server is started, found ready and stopped, and what it can be asked for.
#ifndef TLSGATE_PERF_SERVERS_DESCRIBE_H
#define TLSGATE_PERF_SERVERS_DESCRIBE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/error.h"

// The version of the format that this build reads.
#define TG_SERVER_SCHEMA 1

#define TG_SERVER_ARGS_MAX  32
#define TG_SERVER_FILES_MAX 8
#define TG_SERVER_GATES_MAX 64
#define TG_VARIANT_ARGS_MAX 8

// How long a server may take to be ready, and to end: at most.
#define TG_SERVER_WAIT_MAX_S 120.0

// Soft limit of descriptors for the probe that runs a server out of them, where the file does not say: enough for any
// of the shipped servers to start with, few enough for a hundred clients to use up.
#define TG_SERVER_FEW_DESCRIPTORS 64

enum tg_server_ready {
  TG_SERVER_READY_LINE,     // its first line of output is a JSON object with tls_port and http_port
  TG_SERVER_READY_CONNECT,  // its ports accept a connection
};

// A port: chosen for each start, fixed by the file, or none (http alone).
enum { TG_SERVER_PORT_FREE = -1, TG_SERVER_PORT_NONE = 0 };

// A template that is written to the run's folder, placeholders filled in (stage.h), before each start.
struct tg_server_file {
  const char *template_path;  // beside the description
  const char *name;           // in the run's folder
};

struct tg_server_route {
  const char *path;  // NULL: the server has none
  uint64_t bytes;    // of the body; of an upload: of the request's body
};

// What a description may be started as: as it stands, or in a configuration of its own that some gates are measured on.
enum tg_server_variant {
  TG_VARIANT_MAIN,
  TG_VARIANT_HRR,        // accepts P-384 alone, so that a client which offers X25519 first gets a HelloRetryRequest
  TG_VARIANT_CLIENT_CA,  // requires a client certificate of the CA @client_ca@
  TG_VARIANT_RSA4096,    // certificate and key are of RSA, 4096 bits
  TG_VARIANTS,
};

// How one of them differs.
struct tg_server_variation {
  bool present;                                    // false: the server cannot be started so
  const char *text;                                // what @variant@ stands for; "" if there is nothing to say
  const char *arguments[TG_VARIANT_ARGS_MAX + 1];  // further ones, after those of `start`; ends with NULL
};

struct tg_server_left_out {
  const char *gate;
  const char *why;
};

struct tg_server_description {
  char file[PATH_MAX];  // as given
  char here[PATH_MAX];  // the folder it is in, absolute
  const char *name;
  const char *notes;                          // NULL: none
  const char *package;                        // the Debian package that has the program; NULL: none is known
  const char *start[TG_SERVER_ARGS_MAX + 1];  // with placeholders; ends with NULL
  struct tg_server_file files[TG_SERVER_FILES_MAX];
  size_t num_files;
  enum tg_server_ready ready;
  double ready_within_s;
  int stop_signal;
  int stop_status;  // that it ends with after the signal; 128 + N if signal N ends it
  double stop_within_s;
  int tls_port;      // TG_SERVER_PORT_FREE or 1 to 65535
  int http_port;     // likewise, or TG_SERVER_PORT_NONE
  const char *cert;  // PEM chain of the user's; NULL: a self-signed one is made for each run
  const char *key;   // its key, with it or not at all
  struct tg_server_route small;
  struct tg_server_route big;
  struct tg_server_route upload;
  double handshake_deadline_s;  // that it promises to end a handshake within; 0: nothing promised
  double response_deadline_s;   // likewise for a client that takes nothing of its response
  int few_descriptors;
  struct tg_server_variation variants[TG_VARIANTS];         // that of TG_VARIANT_MAIN is present and empty
  struct tg_server_left_out left_out[TG_SERVER_GATES_MAX];  // gates that do not apply
  size_t num_left_out;
  json_t *json;  // owns the texts
};

// tg_server_describe reads and decodes `file`. Returns false with `err` filled in: file, place and remedy; then there
// is nothing to free.
bool tg_server_describe(const char *file, struct tg_server_description *out, struct tg_error *err);

// tg_server_describe_text is the same for a text; `file` names it in errors and says where its templates are.
bool tg_server_describe_text(const char *file, const char *text, struct tg_server_description *out,
                             struct tg_error *err);

// tg_server_variant_name returns the variant's key in a description ("hrr"); "main" for TG_VARIANT_MAIN.
const char *tg_server_variant_name(enum tg_server_variant variant);

void tg_server_description_free(struct tg_server_description *description);

#endif
