#include "harness/accept/block_pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// One block is in use while a connection runs; the others are for connections that wait with bytes in their hands.
enum { kMaxSpare = 4 };

void tg_block_pool_init(struct tg_block_pool *pool, size_t size) {
  assert(size >= sizeof(void *));
  pool->size = size;
  pool->spare = NULL;
  pool->num_spare = 0;
}

void *tg_block_get(struct tg_block_pool *pool) {
  void *block = pool->spare;
  if (block == NULL) {
    return malloc(pool->size);
  }
  memcpy(&pool->spare, block, sizeof(pool->spare));
  pool->num_spare--;
  return block;
}

void tg_block_put(struct tg_block_pool *pool, void *block) {
  assert(block != NULL);
  if (pool->num_spare == kMaxSpare) {
    free(block);
    return;
  }
  memcpy(block, &pool->spare, sizeof(pool->spare));
  pool->spare = block;
  pool->num_spare++;
}

void tg_block_pool_clear(struct tg_block_pool *pool) {
  while (pool->num_spare > 0) {
    free(tg_block_get(pool));
  }
}
