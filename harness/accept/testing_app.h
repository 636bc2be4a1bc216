// The application of testing_rig.h. Its data is a struct testing_app_stats.
#ifndef TLSGATE_HARNESS_ACCEPT_TESTING_APP_H
#define TLSGATE_HARNESS_ACCEPT_TESTING_APP_H

#include "harness/accept/accept.h"

extern const struct tg_app testing_app;

#endif
