// The project's own server as the accept path of the world (accept_path.h): shards with the HTTP responder, and what
// can be checked from the inside after every turn (P2, P4, P8, P9, P11).
#ifndef TLSGATE_FUZZ_WORLD_SERVER_H
#define TLSGATE_FUZZ_WORLD_SERVER_H

#define TG_WORLD_TLS_PORT   443
#define TG_WORLD_PLAIN_PORT 80

#endif
