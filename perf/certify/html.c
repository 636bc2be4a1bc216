#include "perf/certify/html.h"

#include <string.h>

#include "perf/verdict/table.h"

void tg_html_text(FILE *page, const char *text) {
  for (const char *c = text != NULL ? text : ""; *c != '\0'; c++) {
    switch (*c) {
      case '&':
        fputs("&amp;", page);
        break;
      case '<':
        fputs("&lt;", page);
        break;
      case '>':
        fputs("&gt;", page);
        break;
      case '"':
        fputs("&quot;", page);
        break;
      case '\'':
        fputs("&#39;", page);
        break;
      default:
        if ((unsigned char)*c >= ' ' || *c == '\n') {
          fputc(*c, page);
        }
    }
  }
}

void tg_html_number(FILE *page, double value) {
  char text[32];
  tg_html_text(page, tg_table_number(text, value));
}

void tg_html_pill(FILE *page, const char *word) {
  // Classes are ours: a word that is none of them is shown in the neutral colour.
  static const char *const known[] = {"pass",         "fail", "undecided", "unenforced", "error",
                                      "client-bound", "kept", "recorded",  "disabled",   "unfinished"};
  const char *class = "other";
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
    class = strcmp(known[i], word) == 0 ? known[i] : class;
  }
  fprintf(page, "<span class=\"pill %s\">", class);
  tg_html_text(page, strcmp(word, "unenforced") == 0 ? "not enforced" : word);
  fputs("</span>", page);
}

const char *tg_html_word(enum tg_outcome outcome) {
  static const char *const words[] = {"PASS", "FAIL", "UNDECIDED", "NOT ENFORCED", "FAIL"};
  return words[outcome];
}
