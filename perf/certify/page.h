// certificate.html: the certificate for people, in one file that needs nothing else.
#ifndef TLSGATE_PERF_CERTIFY_PAGE_H
#define TLSGATE_PERF_CERTIFY_PAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "harness/base/error.h"
#include "perf/certify/certificate.h"

#define TG_PAGE_FILE "certificate.html"

// tg_page_publish writes certificate.html into `folder` from the complete certificate `value` and its raw files, beside
// its place first, and puts its SHA-256 into the value. Returns false with `err` filled in.
bool tg_page_publish(const char *folder, const struct tg_part *parts, size_t num_parts, json_t *value,
                     struct tg_error *err);

#endif
