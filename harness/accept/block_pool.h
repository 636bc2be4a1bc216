// Blocks of one size, of which a few are kept for the next who asks.
//
// A connection borrows a block when bytes move and gives it back when it comes to rest, so that the memory for buffers
// follows the connections that are busy at one moment, not those that are open.
#ifndef TLSGATE_HARNESS_ACCEPT_BLOCK_POOL_H
#define TLSGATE_HARNESS_ACCEPT_BLOCK_POOL_H

#include <stddef.h>

struct tg_block_pool {
  size_t size;  // of each block, in bytes
  void *spare;  // linked through the first word of each block
  unsigned num_spare;
};

// tg_block_pool_init makes an empty pool of blocks of `size` bytes, at least the size of a pointer.
void tg_block_pool_init(struct tg_block_pool *pool, size_t size);

// tg_block_get returns a block that the caller owns, or NULL if there is no memory. Its contents are undefined.
void *tg_block_get(struct tg_block_pool *pool);

// tg_block_put takes back a block that tg_block_get returned.
void tg_block_put(struct tg_block_pool *pool, void *block);

// tg_block_pool_clear frees the spare blocks.
void tg_block_pool_clear(struct tg_block_pool *pool);

#endif
