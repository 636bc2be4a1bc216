// The sections on fuzzing, on the fault catalogue and on the exact gates.
#include <string.h>

#include "perf/certify/html.h"
#include "perf/certify/page_sections.h"

static const json_t *figures_of(const struct tg_certificate *certificate, const char *name) {
  const struct tg_cert_part *part = tg_certificate_part(certificate, name);
  const struct tg_attempt *last = part != NULL ? tg_cert_part_last(part) : NULL;
  return last != NULL ? last->figures : NULL;
}

static void put_cell(FILE *page, const json_t *value) {
  fputs("<td class=\"num\">", page);
  tg_html_number(page, json_number_value(value));
  fputs("</td>", page);
}

static void put_text(FILE *page, const json_t *object, const char *key) {
  tg_html_text(page, json_string_value(json_object_get(object, key)));
}

void tg_page_put_fuzz(FILE *page, const struct tg_certificate *certificate) {
  const json_t *runs = json_object_get(figures_of(certificate, "fuzz"), "runs");
  size_t i;
  const json_t *run;
  if (json_array_size(runs) == 0) {
    return;
  }
  fputs(
      "<h2>Fresh fuzzing</h2><p class=\"muted\">From the seeds of the commit alone. Each engine counts edges in its "
      "own way: compare them within an engine.</p><div class=\"scroll\"><table><tr><th>Target</th><th>Engine</th>"
      "<th class=\"num\">Executions</th><th class=\"num roomy\">per second</th><th class=\"num\">Edges covered</th>"
      "<th class=\"num roomy\">New inputs</th><th>Finding</th></tr>\n",
      page);
  json_array_foreach(runs, i, run) {
    double seconds = json_number_value(json_object_get(run, "seconds"));
    const json_t *finding = json_object_get(run, "finding");
    fputs("<tr><td><code>", page);
    put_text(page, run, "target");
    fputs("</code></td><td>", page);
    put_text(page, run, "engine");
    fputs("</td>", page);
    put_cell(page, json_object_get(run, "executions"));
    fputs("<td class=\"num roomy\">", page);
    tg_html_number(page, seconds > 0 ? json_number_value(json_object_get(run, "executions")) / seconds : 0);
    fputs("</td>", page);
    put_cell(page, json_object_get(run, "edges"));
    fputs("<td class=\"num roomy\">", page);
    tg_html_number(page, json_number_value(json_object_get(run, "new_entries")));
    fputs("</td><td>", page);
    if (json_is_string(finding)) {
      tg_html_pill(page, "fail");
      fputs(" <code>", page);
      tg_html_text(page, json_string_value(finding));
      fputs("</code>", page);
    } else {
      fputs("none", page);
    }
    fputs("</td></tr>\n", page);
  }
  fputs("</table></div>\n", page);
}

void tg_page_put_faults(FILE *page, const struct tg_certificate *certificate) {
  const json_t *figures = figures_of(certificate, "faults");
  const json_t *faults = json_object_get(figures, "faults");
  size_t i;
  const json_t *fault;
  if (json_array_size(faults) == 0) {
    return;
  }
  fprintf(page,
          "<h2>Fault catalogue</h2><p>%lld of %lld planted faults caught.</p><details><summary>Every fault, and what "
          "caught it</summary><div class=\"scroll\"><table><tr><th>Fault</th><th>Caught</th><th>Said</th>"
          "<th class=\"roomy\">Check</th><th class=\"num roomy\">Executions</th></tr>\n",
          (long long)json_integer_value(json_object_get(figures, "caught")),
          (long long)json_integer_value(json_object_get(figures, "planted")));
  json_array_foreach(faults, i, fault) {
    fputs("<tr><td><code>", page);
    put_text(page, fault, "name");
    fputs("</code></td><td>", page);
    tg_html_pill(page, json_is_true(json_object_get(fault, "caught")) ? "pass" : "fail");
    fputs("</td><td>", page);
    put_text(page, fault, "said");
    fputs("</td><td class=\"roomy\"><code>", page);
    put_text(page, fault, "check");
    fputs("</code> (", page);
    put_text(page, fault, "how");
    fputs(")</td><td class=\"num roomy\">", page);
    tg_html_number(page, json_number_value(json_object_get(fault, "executions")));
    fputs("</td></tr>\n", page);
  }
  fputs("</table></div></details>\n", page);
}

void tg_page_put_exact(FILE *page, const struct tg_certificate *certificate) {
  const json_t *figures = figures_of(certificate, "exact");
  const json_t *unenforced = json_object_get(figures, "unenforced");
  size_t i;
  const json_t *section;
  if (figures == NULL || json_object_get(figures, "passed") == NULL) {
    return;
  }
  fprintf(page, "<h2>Exact gates</h2><p>%lld figures are what was accepted, %lld are not, %lld are disabled.</p>\n",
          (long long)json_integer_value(json_object_get(figures, "passed")),
          (long long)json_integer_value(json_object_get(figures, "failed")),
          (long long)json_integer_value(json_object_get(figures, "disabled")));
  if (json_array_size(unenforced) == 0) {
    return;
  }
  fputs("<ul class=\"plain\">", page);
  json_array_foreach(unenforced, i, section) {
    const char *key;
    json_t *value;
    fputs("<li>", page);
    tg_html_pill(page, "unenforced");
    fprintf(page, " %lld figures of ", (long long)json_integer_value(json_object_get(section, "rows")));
    put_text(page, section, "section");
    fputs(": nothing is recorded for", page);
    json_object_foreach(json_object_get(section, "key"), key, value) {
      fputs(" ", page);
      tg_html_text(page, key);
      fputs(" <code>", page);
      tg_html_text(page, json_string_value(value));
      fputs("</code>", page);
    }
    fputs("</li>\n", page);
  }
  fputs("</ul>\n", page);
}
