// Both engines' hooks reach the mutator, with the engine's own seed.
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/schedule/mutate.h"
#include "fuzz/schedule/schedule.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max_size, unsigned seed);

static unsigned lent;

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
  (void)max_size;
  lent++;
  data[0] ^= 1;
  return size;
}

static const uint8_t original[] = {TG_SCHEDULE_VERSION, 0, 0, 0, 0,  0, 0, 0, TG_SCHEDULE_CONNECT, 0, 0, 0, 255,
                                   TG_SCHEDULE_REQUEST, 0, 0, 0, 255};
static const uint8_t other[] = {TG_SCHEDULE_VERSION, 1, 0, 0, 0, 0, 0, 0, TG_SCHEDULE_RESET, 3, 0, 0, 0};

static void test_libfuzzer(void **state) {
  (void)state;
  for (unsigned seed = 0; seed < 500; seed++) {
    uint8_t a[200], b[200];
    memcpy(a, original, sizeof(original));
    memcpy(b, original, sizeof(original));
    const size_t size = LLVMFuzzerCustomMutator(a, sizeof(original), sizeof(a), seed);
    assert_int_equal(tg_schedule_mutate(b, sizeof(original), sizeof(b), seed, LLVMFuzzerMutate), size);
    assert_memory_equal(a, b, size);
    const size_t crossed =
        LLVMFuzzerCustomCrossOver(original, sizeof(original), other, sizeof(other), a, sizeof(a), seed);
    assert_int_equal(tg_schedule_cross_over(original, sizeof(original), other, sizeof(other), b, sizeof(b), seed),
                     crossed);
    assert_memory_equal(a, b, crossed);
  }
  assert_in_range(lent, 2 * 500 / 32, 2 * 500 / 8);
}

typedef void *init_fn(void *afl, unsigned seed);
typedef size_t fuzz_fn(void *state, uint8_t *data, size_t size, uint8_t **out, uint8_t *add, size_t add_size,
                       size_t max_size);
typedef void deinit_fn(void *state);

static const char *library_path;

static void test_afl(void **state) {
  (void)state;
  void *library = dlopen(library_path, RTLD_NOW);
  if (library == NULL) {
    fail_msg("%s: %s", library_path, dlerror());
  }
  init_fn *init = (init_fn *)(uintptr_t)dlsym(library, "afl_custom_init");
  fuzz_fn *fuzz = (fuzz_fn *)(uintptr_t)dlsym(library, "afl_custom_fuzz");
  deinit_fn *deinit = (deinit_fn *)(uintptr_t)dlsym(library, "afl_custom_deinit");
  assert_true(init != NULL && fuzz != NULL && deinit != NULL);

  void *one = init(NULL, 7), *same = init(NULL, 7), *differs = init(NULL, 8);
  unsigned different = 0, resets = 0;
  for (int i = 0; i < 500; i++) {
    uint8_t data[sizeof(original)], add[sizeof(other)], *a, *b, *c;
    memcpy(data, original, sizeof(data));
    memcpy(add, other, sizeof(add));
    const size_t a_size = fuzz(one, data, sizeof(data), &a, add, sizeof(add), 1 << 20);
    const size_t b_size = fuzz(same, data, sizeof(data), &b, add, sizeof(add), 1 << 20);
    const size_t c_size = fuzz(differs, data, sizeof(data), &c, NULL, 0, 20);
    assert_memory_equal(data, original, sizeof(data));
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a, b, a_size);
    assert_in_range(c_size, 1, 20);
    different += a_size != c_size || memcmp(a, c, a_size) != 0;
    struct tg_schedule schedule;
    tg_schedule_decode(a, a_size, &schedule);
    for (size_t j = 0; j < schedule.num_steps; j++) {
      resets += schedule.steps[j].action == TG_SCHEDULE_RESET;
    }
  }
  assert_true(different > 400);
  assert_true(resets > 20);  // from the other parent
  deinit(one);
  deinit(same);
  deinit(differs);
  assert_int_equal(dlclose(library), 0);
}

int main(int argc, char **argv) {
  assert_int_equal(argc, 2);
  library_path = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_libfuzzer),
      cmocka_unit_test(test_afl),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
