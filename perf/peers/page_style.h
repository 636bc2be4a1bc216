// The style of compare.html. For page.c alone.
#ifndef TLSGATE_PERF_PEERS_PAGE_STYLE_H
#define TLSGATE_PERF_PEERS_PAGE_STYLE_H

extern const char tg_peers_page_style[];

#endif
