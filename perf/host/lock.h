// A host-wide lock: one measurement at a time, and none while this project builds or fuzzes.
//
// Three files in /tmp, locked with flock(2). A measurement holds MEASURE exclusively. A build (tools/bazel) or a
// fuzzing run takes MEASURE shared, then BUILD shared, and lets MEASURE go: it cannot begin during a measurement. A
// measurement that has MEASURE then waits until nobody holds BUILD, but for two kinds of holder that do not work:
//  - the build of its own workspace, which is the `bazel test` that runs it: Bazel runs exclusive tests alone;
//  - a build whose own measurement waits for MEASURE. A measurement that waits says so by working in its workspace with
//    WAITING open; without that, two `bazel test //perf:gates` would wait for each other.
// What it cannot prevent: two `bazel test //...` on one host, of which one goes on to tests that are not timed while
// the other measures.
#ifndef TLSGATE_PERF_HOST_LOCK_H
#define TLSGATE_PERF_HOST_LOCK_H

#include "harness/base/error.h"

#define TG_MEASURE_LOCK "/tmp/tlsgate.measure.lock"
#define TG_BUILD_LOCK   "/tmp/tlsgate.build.lock"
#define TG_WAITING_LOCK "/tmp/tlsgate.waiting.lock"

// tg_measure_lock waits for the lock, saying on stderr for what it waits, and returns a descriptor that holds it until
// closed or until the process ends; -1 with `err` filled in when it cannot be had within `timeout_ms`. `workspace` is
// the folder whose own build is not waited for; NULL if there is none. It is the
// process's working folder while it waits, and no longer after that.
int tg_measure_lock(const char *workspace, long timeout_ms, struct tg_error *err);

#endif
