// Sections of certificate.html. For page.c alone.
#ifndef TLSGATE_PERF_CERTIFY_PAGE_SECTIONS_H
#define TLSGATE_PERF_CERTIFY_PAGE_SECTIONS_H

#include <stdio.h>

#include "harness/base/error.h"
#include "perf/certify/certificate.h"

// tg_page_put_gates writes the table of gates, and the charts: how far each gate is from its bound, each metric's
// rounds, and its history. Without raw files of the part "gates" it says that there are none. Returns false with `err`
// filled in when gnuplot cannot draw.
bool tg_page_put_gates(FILE *page, const char *folder, const struct tg_certificate *certificate, struct tg_error *err);

// These write what is in the figures of the parts fuzz, faults and exact; nothing if such a part has none.
void tg_page_put_fuzz(FILE *page, const struct tg_certificate *certificate);
void tg_page_put_faults(FILE *page, const struct tg_certificate *certificate);
void tg_page_put_exact(FILE *page, const struct tg_certificate *certificate);

#endif
