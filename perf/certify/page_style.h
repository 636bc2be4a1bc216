// The style of certificate.html. For page.c alone.
#ifndef TLSGATE_PERF_CERTIFY_PAGE_STYLE_H
#define TLSGATE_PERF_CERTIFY_PAGE_STYLE_H

extern const char tg_page_style[];

#endif
