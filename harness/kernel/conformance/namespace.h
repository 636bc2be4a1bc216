// Private network namespaces: the kernel's counters of one connection, and settings of our own.
#ifndef TLSGATE_HARNESS_KERNEL_CONFORMANCE_NAMESPACE_H
#define TLSGATE_HARNESS_KERNEL_CONFORMANCE_NAMESPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// tg_namespace_permit makes sure that this process may make network namespaces, by entering a user namespace if need
// be. To be called before the first thread. On failure `error` says what the host must allow.
bool tg_namespace_permit(char *error, size_t error_len);

// tg_namespace_enter puts the calling thread into a new network namespace, whose loopback is up.
bool tg_namespace_enter(char *error, size_t error_len);

// tg_namespace_set writes net.ipv4.`name` of the calling thread's namespace.
bool tg_namespace_set(const char *name, uint32_t value, char *error, size_t error_len);

// tg_namespace_get reads it, or returns -1.
int64_t tg_namespace_get(const char *name);

// tg_namespace_delayed_acks returns TcpExt DelayedACKs (LINUX_MIB_DELAYEDACKS) of the thread's namespace, or -1.
int64_t tg_namespace_delayed_acks(void);

#endif
