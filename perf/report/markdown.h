// A report as Markdown, for the summary of a CI job or a comment on a pull request.
#ifndef TLSGATE_PERF_REPORT_MARKDOWN_H
#define TLSGATE_PERF_REPORT_MARKDOWN_H

#include <stdio.h>

#include "perf/report/report.h"

// tg_markdown_print writes the report to `out`: the verdict and what it is worth first, then what failed or is
// undecided and why, then all judged rows, earlier runs and provenance, folded. Texts of the report are escaped.
void tg_markdown_print(FILE *out, const struct tg_report *report);

#endif
