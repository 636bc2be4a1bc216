// TLS in memory, without a server: what the fuzz targets are held against (//fuzz:stats). The same keys, certificates
// and TLS settings as in the simulated world, and nothing else of it.
#ifndef TLSGATE_FUZZ_BARE_BARE_TLS_H
#define TLSGATE_FUZZ_BARE_BARE_TLS_H

#include <openssl/ssl.h>

#include "fuzz/schedule/schedule.h"

// tg_bare_init makes what all runs share. Aborts if it cannot.
void tg_bare_init(void);

// tg_bare_server returns a new server's end as the settings say, with memory BIOs. Aborts when out of memory.
SSL *tg_bare_server(const struct tg_schedule_settings *settings);

// tg_bare_client returns a new client's end as the bits of enum tg_schedule_connect say, likewise.
SSL *tg_bare_client(uint16_t bits);

// tg_bare_handshake lets both speak until both are done, or one fails or waits for what does not come. Returns whether
// the handshake is complete. The client's newest session is what TG_CONNECT_RESUME offers.
bool tg_bare_handshake(SSL *client, SSL *server);

#endif
