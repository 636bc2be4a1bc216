// The style of status.html. For page.c alone.
#ifndef TLSGATE_FUZZ_SERVICE_PAGE_STYLE_H
#define TLSGATE_FUZZ_SERVICE_PAGE_STYLE_H

extern const char tg_fuzzd_page_style[];

#endif
