// A host-wide lock: one measurement at a time, and none while this project builds or fuzzes.
//
// Two files in /tmp, locked with flock(2). A measurement holds MEASURE exclusively. A build (tools/bazel) or a fuzzing
// run takes MEASURE shared, then BUILD shared, and lets MEASURE go: it cannot begin during a measurement. A measurement
// that has MEASURE then waits until nobody holds BUILD, except a build of its own workspace: that is the `bazel test`
// that runs it, and Bazel runs exclusive tests alone.
#ifndef TLSGATE_PERF_HOST_LOCK_H
#define TLSGATE_PERF_HOST_LOCK_H

#include "harness/accept/error.h"

#define TG_MEASURE_LOCK "/tmp/tlsgate.measure.lock"
#define TG_BUILD_LOCK   "/tmp/tlsgate.build.lock"

// tg_measure_lock waits for the lock, saying on stderr for what it waits, and returns a descriptor that holds it until
// closed or until the process ends; -1 with `err` filled in when it cannot be had within `timeout_ms`. `workspace` is
// the folder whose own build is not waited for; NULL if there is none.
int tg_measure_lock(const char *workspace, long timeout_ms, struct tg_error *err);

#endif
