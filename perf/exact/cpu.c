#include "perf/exact/cpu.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#if defined(__x86_64__)

#include <cpuid.h>

// Intel's Software Developer's Manual, volume 2, CPUID: leaves 1 and 7.
enum leaf { LEAF_1_ECX, LEAF_7_EBX, LEAVES };

static const struct {
  const char *name;
  enum leaf leaf;
  uint32_t bit;
} features[] = {
    {"pclmul", LEAF_1_ECX, 1},   {"ssse3", LEAF_1_ECX, 9},     {"sse4_1", LEAF_1_ECX, 19},
    {"sse4_2", LEAF_1_ECX, 20},  {"movbe", LEAF_1_ECX, 22},    {"aes", LEAF_1_ECX, 25},
    {"avx", LEAF_1_ECX, 28},     {"rdrand", LEAF_1_ECX, 30},   {"bmi1", LEAF_7_EBX, 3},
    {"avx2", LEAF_7_EBX, 5},     {"bmi2", LEAF_7_EBX, 8},      {"erms", LEAF_7_EBX, 9},
    {"avx512f", LEAF_7_EBX, 16}, {"adx", LEAF_7_EBX, 19},      {"avx512ifma", LEAF_7_EBX, 21},
    {"sha", LEAF_7_EBX, 29},     {"avx512bw", LEAF_7_EBX, 30}, {"avx512vl", LEAF_7_EBX, 31},
};

void tg_cpu_text(char out[TG_CPU_TEXT_MAX]) {
  uint32_t leaves[LEAVES] = {0};
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) {
    leaves[LEAF_1_ECX] = ecx;
  }
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    leaves[LEAF_7_EBX] = ebx;
  }
  out[0] = '\0';
  for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
    if ((leaves[features[i].leaf] >> features[i].bit & 1) != 0) {
      const size_t used = strlen(out);
      (void)snprintf(out + used, TG_CPU_TEXT_MAX - used, "%s%s", used > 0 ? " " : "", features[i].name);
    }
  }
}

#else

void tg_cpu_text(char out[TG_CPU_TEXT_MAX]) {
  struct utsname system;
  (void)uname(&system);
  (void)snprintf(out, TG_CPU_TEXT_MAX, "%.*s", TG_CPU_TEXT_MAX - 1, system.machine);
}

#endif
