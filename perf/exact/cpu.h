// Which of the instructions that BoringSSL and the C library choose between this CPU has, as CPUID says. Under valgrind
// it is valgrind that answers.
#ifndef TLSGATE_PERF_EXACT_CPU_H
#define TLSGATE_PERF_EXACT_CPU_H

#include <stddef.h>

// The names, in a fixed order and separated by blanks: "aes pclmul ssse3 movbe avx bmi1 bmi2 avx2" say. On a CPU that
// is no x86-64 it is the architecture's name alone.
#define TG_CPU_TEXT_MAX 160
void tg_cpu_text(char out[TG_CPU_TEXT_MAX]);

#endif
