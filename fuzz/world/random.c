#include "fuzz/world/random.h"

#include <openssl/rand.h>
#include <stddef.h>

// The library's index of the generator's state among the thread's own data (crypto/internal.h, thread_local_data_t).
enum { RANDOM_STATE = 1 };

typedef void (*destructor)(void *value);

void *__real_CRYPTO_get_thread_local(int index);
int __real_CRYPTO_set_thread_local(int index, void *value, destructor destroy);
void *__wrap_CRYPTO_get_thread_local(int index);
int __wrap_CRYPTO_set_thread_local(int index, void *value, destructor destroy);

static _Thread_local void *state;
static _Thread_local destructor state_destroy;

void *__wrap_CRYPTO_get_thread_local(int index) {
  return index == RANDOM_STATE ? state : __real_CRYPTO_get_thread_local(index);
}

int __wrap_CRYPTO_set_thread_local(int index, void *value, destructor destroy) {
  if (index != RANDOM_STATE) {
    return __real_CRYPTO_set_thread_local(index, value, destroy);
  }
  state = value;
  state_destroy = destroy;
  return 1;
}

void tg_random_reset(void) {
  if (state != NULL) {
    state_destroy(state);
    state = NULL;
  }
  RAND_reset_for_fuzzing();
}
