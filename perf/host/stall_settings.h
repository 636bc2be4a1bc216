// Settings of this host under which Linux does not hold an ACK for 40 ms, so that the fault this suite exists for
// cannot show. See docs/accept-path.md for the rules they change.
#ifndef TLSGATE_PERF_HOST_STALL_SETTINGS_H
#define TLSGATE_PERF_HOST_STALL_SETTINGS_H

#include <jansson.h>
#include <stddef.h>

// tg_stall_settings_describe writes to `out` the settings in force here that shorten or prevent the delayed ACK, for
// instance "net.ipv4.tcp_pingpong_thresh = 3", separated by "; ", or an empty string if none that is known is.
// Looked at: tcp_pingpong_thresh (above 1, a socket needs more than one exchange to become interactive), tcp_rto_min_us
// and the route's rto_min (the delayed-ACK timer stays below the minimum RTO), the route's quickack attribute.
void tg_stall_settings_describe(char *out, size_t size);

// tg_stall_settings_json returns the raw values as a new JSON object, for a report; NULL when out of memory.
json_t *tg_stall_settings_json(void);

#endif
