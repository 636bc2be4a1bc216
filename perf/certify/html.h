// Writing HTML: every text that is not ours goes through here.
#ifndef TLSGATE_PERF_CERTIFY_HTML_H
#define TLSGATE_PERF_CERTIFY_HTML_H

#include <stdio.h>

#include "perf/report/report.h"

// tg_html_text writes a text as text: & < > " ' are escaped, and control characters but line ends are left out. NULL is
// written as nothing.
void tg_html_text(FILE *page, const char *text);

// tg_html_number writes a number with four significant digits (tg_table_number).
void tg_html_number(FILE *page, double value);

// tg_html_pill writes an outcome, or the status of a gate, as a coloured word.
void tg_html_pill(FILE *page, const char *word);

// tg_html_word returns what people call an outcome: "NOT ENFORCED" for unenforced.
const char *tg_html_word(enum tg_outcome outcome);

#endif
