// What can be seen of any accept path from the outside, where it shows nothing of its inside (accept_path.h): deadlines
// (P4), the error queue (P8), and whether a deadline may have ended a connection.
#ifndef TLSGATE_FUZZ_WORLD_BLACK_BOX_H
#define TLSGATE_FUZZ_WORLD_BLACK_BOX_H

#include <stdbool.h>
#include <stddef.h>

#include "fuzz/world/accept_path.h"
#include "fuzz/world/peer.h"

// tg_black_box_check is the check of an adapter that does not check itself, and calls the adapter's own if there is
// one; its context is the world.
void tg_black_box_check(void *server, void *world);

// tg_black_box_all_end says whether the server has a deadline for whatever a client does not do.
bool tg_black_box_all_end(const struct tg_promises *promised);

// tg_black_box_connections returns how many connections the server has not let go of.
size_t tg_black_box_connections(struct tg_world *world);

// tg_black_box_cut_some says whether a deadline has ended a connection in this run: as the server knows, or may have.
// tg_black_box_may_cut says whether one may be doing so right now, in the middle of the server.
bool tg_black_box_cut_some(struct tg_world *world);
bool tg_black_box_may_cut(struct tg_world *world);

// tg_black_box_note_end notes that a connection has come to its end, at either side, before it is judged.
void tg_black_box_note_end(struct tg_peer *peer);

#endif
