// The time in words.
#ifndef TLSGATE_PERF_CERTIFY_TIME_TEXT_H
#define TLSGATE_PERF_CERTIFY_TIME_TEXT_H

#define TG_TIME_TEXT_LEN 20

// tg_utc_now writes the time now, "2026-01-31T23:59:59Z".
void tg_utc_now(char out[TG_TIME_TEXT_LEN + 1]);

#endif
