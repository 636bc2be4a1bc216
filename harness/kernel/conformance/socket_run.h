// A schedule on the kernel's own TCP, over the loopback of the calling thread's network namespace.
#ifndef TLSGATE_HARNESS_KERNEL_CONFORMANCE_SOCKET_RUN_H
#define TLSGATE_HARNESS_KERNEL_CONFORMANCE_SOCKET_RUN_H

#include <stddef.h>

#include "harness/kernel/conformance/schedule.h"

enum tg_socket_run {
  TG_SOCKET_RUN_OK,
  TG_SOCKET_RUN_LATE,    // the machine was too busy: a sleep or a call took longer than tg_model_predict allows for
  TG_SOCKET_RUN_FAILED,  // `error` says why
};

enum tg_socket_run tg_socket_run(const struct tg_schedule *schedule, struct tg_outcome *out, char *error,
                                 size_t error_len);

#endif
