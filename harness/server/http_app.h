// The HTTP/1.1 responder as an application of the accept path (struct tg_app).
//
// One object a shard; connections of the shard share its buffers, so an idle connection holds the parser's state and
// nothing else. A small response is one tg_conn_write, head and body together; a big body is streamed from one static
// buffer. Pipelined requests are answered in order; input is held back while a response does not fit.
#ifndef TLSGATE_HARNESS_SERVER_HTTP_APP_H
#define TLSGATE_HARNESS_SERVER_HTTP_APP_H

#include <stdint.h>

#include "harness/accept/accept.h"

struct tg_http_app;

// The callbacks; struct tg_shard_config.app_data is a struct tg_http_app.
extern const struct tg_app tg_http_app_callbacks;

// Adds up the counters that /stats answers with. Called in any shard's thread.
typedef void (*tg_http_app_stats)(void *data, struct tg_counters *out);

// tg_http_app_create returns the responder of one shard, or NULL when out of memory. `max_body` limits request bodies
// (413), in bytes, 0 to 2^40. `stats` is called with `stats_data`.
struct tg_http_app *tg_http_app_create(uint64_t max_body, tg_http_app_stats stats, void *stats_data);

// tg_http_app_destroy frees it, once no connection uses it. NULL is ignored.
void tg_http_app_destroy(struct tg_http_app *app);

#endif
