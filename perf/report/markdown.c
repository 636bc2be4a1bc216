#include "perf/report/markdown.h"

#include <string.h>

#include "perf/verdict/table.h"

// What has a meaning in Markdown, in a table of it, or in HTML, must not have one here.
static void put_text(FILE *out, const char *text) {
  for (; *text != '\0'; text++) {
    switch (*text) {
      case '<':
        (void)fputs("&lt;", out);
        break;
      case '>':
        (void)fputs("&gt;", out);
        break;
      case '&':
        (void)fputs("&amp;", out);
        break;
      case '|':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '\\':
      case '#':
      case '@':
      case '~':
        fprintf(out, "&#%d;", (unsigned char)*text);
        break;
      default:
        (void)fputc(*text, out);
        break;
    }
  }
}

static void put_line(FILE *out, const char *before, const char *text) {
  (void)fputs(before, out);
  put_text(out, text);
  (void)fputs("\n", out);
}

static const char *headline(const struct tg_report *report) {
  switch (report->verdict) {
    case TG_OUTCOME_PASS:
      return report->partial ? "PARTIAL" : "pass";
    case TG_OUTCOME_FAIL:
      return "FAIL";
    case TG_OUTCOME_UNDECIDED:
      return "UNDECIDED";
    case TG_OUTCOME_UNENFORCED:
      return "UNENFORCED";
    case TG_OUTCOME_ERROR:
      break;
  }
  return "ERROR: no verdict";
}

static void put_worth(FILE *out, const struct tg_report *report) {
  fprintf(out, "Mode `%s`, profile `%s`, exit status %d. ", tg_mode_name(report->mode),
          tg_profile_name(report->profile), (int)report->exit_status);
  (void)fputs(report->acceptance ? "This run is an acceptance" : "This run is **no acceptance**", out);
  (void)fputs(report->enforced ? "; the recorded baseline of this host was enforced.\n" : ".\n", out);
  if (report->server != NULL) {
    put_line(out, "\nThe server that was judged is described as: ", report->server);
  } else if (!tg_report_is_genuine(report)) {
    fprintf(out, "\nThe server was served with `--quickack %s`%s: it is not the one that ships.\n", report->quickack,
            report->fault != NULL ? " and a planted fault" : "");
  }
  if (report->unenforced_because != NULL) {
    put_line(out, "\nNo recorded baseline was enforced: ", report->unenforced_because);
  }
  if (report->undecided_reported) {
    (void)fputs("\nUndecided is reported here, and not counted as failed (`TLSGATE_UNDECIDED=report`).\n", out);
  }
}

static void put_error(FILE *out, const struct tg_report *report) {
  fprintf(out, "\nThe run failed in stage **%s**", report->error_stage);
  if (report->error_workload != NULL) {
    (void)fputs(", workload ", out);
    put_text(out, report->error_workload);
  }
  if (report->error_round > 0) {
    fprintf(out, ", round %lld", report->error_round);
  }
  put_line(out, ":\n\n> ", report->error_message);
}

static void put_row(FILE *out, const struct tg_report_row *row) {
  char value[32] = "-";
  char bound[32] = "-";
  char against[64] = "-";
  char spread[32] = "-";
  if (row->has_value) {
    (void)tg_table_number(value, row->value);
  }
  if (row->has_bound) {
    (void)tg_table_number(bound, row->bound);
  }
  if (row->baseline.present) {
    (void)snprintf(against, sizeof(against), "%.2f of %.2f", row->baseline.ratio, 1 + row->baseline.allowance);
  } else if (row->history.present) {
    (void)snprintf(against, sizeof(against), "%.2f of %.2f (model)", row->history.ratio, 1 + row->history.allowance);
  }
  if (row->trust.known) {
    (void)snprintf(spread, sizeof(spread), "%.1f %%", 100 * row->trust.spread);
  }
  fprintf(out, "| %s | `%s` | %s ", tg_status_name(row->status), row->name, value);
  put_text(out, row->unit);
  fprintf(out, " | %s %s | %s | %s | %zu |\n", row->has_bound ? (row->direction == TG_AT_MOST ? "≤" : "≥") : "", bound,
          against, spread, row->rounds);
}

static void put_table(FILE *out, const struct tg_report *report, bool (*wanted)(const struct tg_report_row *)) {
  (void)fputs(
      "\n| verdict | metric | value | bound | times worse than recorded | spread | rounds |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
      out);
  for (size_t i = 0; i < report->num_rows; i++) {
    if (wanted(&report->rows[i])) {
      put_row(out, &report->rows[i]);
    }
  }
}

static bool is_judged(const struct tg_report_row *row) {
  return row->status != TG_STATUS_RECORDED && row->status != TG_STATUS_DISABLED && row->status != TG_STATUS_LEFT_OUT;
}

static bool is_trouble(const struct tg_report_row *row) {
  return is_judged(row) && row->status != TG_STATUS_PASS;
}

static void put_trouble(FILE *out, const struct tg_report *report) {
  bool any = false;
  for (size_t i = 0; i < report->num_rows && !any; i++) {
    any = is_trouble(&report->rows[i]);
  }
  if (!any) {
    return;
  }
  put_table(out, report, is_trouble);
  (void)fputs("\n", out);
  for (size_t i = 0; i < report->num_rows; i++) {
    if (is_trouble(&report->rows[i])) {
      fprintf(out, "- `%s`: ", report->rows[i].name);
      put_line(out, "", report->rows[i].message);
    }
  }
}

// What is not enforced is said, once for each message: it is not passed.
static void put_unenforced(FILE *out, const struct tg_report *report) {
  const char *told = "";
  for (size_t i = 0; i < report->num_rows; i++) {
    const struct tg_report_row *row = &report->rows[i];
    const bool exact = row->kind == TG_KIND_EXACT || row->kind == TG_KIND_COUNTED;
    if (exact && row->status == TG_STATUS_RECORDED && strcmp(row->message, told) != 0) {
      fprintf(out, "\n- `%s` and its like: ", row->name);
      put_text(out, row->message);
      (void)fputs("\n", out);
      told = row->message;
    }
  }
}

static void put_diagnosis(FILE *out, const struct tg_report *report) {
  const json_t *lines = json_object_get(report->diagnosis, "lines");
  for (size_t i = 0; i < json_array_size(lines); i++) {
    (void)fputs(i == 0 ? "\nDiagnosis of the stall, by experiment:\n\n" : "", out);
    put_line(out, "- ", json_string_value(json_array_get(lines, i)));
  }
}

static void put_left_out(FILE *out, const struct tg_report *report) {
  bool any = false;
  for (size_t i = 0; i < report->num_rows; i++) {
    if (report->rows[i].status == TG_STATUS_LEFT_OUT) {
      (void)fputs(any ? "" : "\nNot judged, for they do not apply to this server:\n\n", out);
      fprintf(out, "- `%s`: ", report->rows[i].name);
      put_line(out, "", report->rows[i].message);
      any = true;
    }
  }
}

static void put_trust(FILE *out, const struct tg_report *report) {
  (void)fputs(report->readable ? "\nThe run is readable" : "\n**The run is not readable**", out);
  if (report->has_stolen) {
    fprintf(out, "; %.1f %% of the CPU time was stolen", 100 * report->stolen);
  }
  if (report->calibration.known) {
    fprintf(out, "; the calibration loop's slowest round was %.2f x its median", report->calibration.slowest);
  }
  fprintf(out, "; the negative control stalled by %.1f ms.\n", report->off_p50_ms[0]);
  for (size_t i = 0; i < report->num_reasons; i++) {
    put_line(out, "- ", report->reasons[i]);
  }
  if (!report->host_stalls) {
    put_line(out, "\nThis host hides the stall: ", report->hidden_by);
  }
  if (report->drift.rows > 0) {
    fprintf(out, "\nDrift: %zu rows are %.2f x as bad as the %s in the median (quartiles %.2f and %.2f).\n",
            report->drift.rows, report->drift.median, report->drift.against, report->drift.lower_quartile,
            report->drift.upper_quartile);
  }
}

static void put_earlier(FILE *out, const struct tg_report *report) {
  if (report->num_earlier_total == 0) {
    (void)fputs("\nThis is the first run of this revision on this host that is known.\n", out);
    return;
  }
  fprintf(out,
          "\n<details><summary>%zu earlier runs of this revision on this host</summary>\n\n| start | mode | verdict | "
          "tree | run |\n| --- | --- | --- | --- | --- |\n",
          report->num_earlier_total);
  for (size_t i = 0; i < report->num_earlier; i++) {
    const struct tg_earlier_run *run = &report->earlier[i];
    fprintf(out, "| %s | %s | %s | %s | `%s` |\n", run->start, tg_mode_name(run->mode),
            run->finished ? tg_outcome_name(run->verdict) : "unfinished", run->dirty ? "dirty" : "clean", run->id);
  }
  (void)fputs("\n</details>\n", out);
}

static void put_fact(FILE *out, const char *name, const char *value) {
  fprintf(out, "| %s | ", name);
  put_text(out, value != NULL ? value : "unknown");
  (void)fputs(" |\n", out);
}

static void put_provenance(FILE *out, const struct tg_report *report) {
  const struct tg_environment *environment = &report->environment;
  (void)fputs("\n<details><summary>Provenance</summary>\n\n| | |\n| --- | --- |\n", out);
  put_fact(out, "run", report->id);
  put_fact(out, "start", report->start);
  put_fact(out, "finish", report->finish);
  put_fact(out, "commit", environment->commit);
  put_fact(out, "tree", tg_environment_is_clean(environment) ? "clean" : "dirty, or unknown");
  put_fact(out, "host", environment->host);
  put_fact(out, "label", environment->label != NULL ? environment->label : "none");
  put_fact(out, "CPU", environment->cpu_model);
  put_fact(out, "kernel", environment->kernel);
  put_fact(out, "compiler", environment->compiler);
  put_fact(out, "flags", environment->flags);
  put_fact(out, "BoringSSL", environment->boringssl);
  put_fact(out, "server binary, SHA-256", environment->server_sha256);
  (void)fputs("\n</details>\n", out);
}

void tg_markdown_print(FILE *out, const struct tg_report *report) {
  bool complete = report->kind == TG_REPORT_COMPLETE;
  fprintf(out, "## tlsgate: %s\n\n", headline(report));
  if (complete) {
    struct tg_report_counts counts = tg_report_count(report);
    fprintf(out, "%zu of %zu gates passed, %zu failed, %zu undecided. ", counts.passed, counts.judged, counts.failed,
            counts.undecided);
  }
  put_worth(out, report);
  if (!complete) {
    put_error(out, report);
  } else {
    put_trouble(out, report);
    put_unenforced(out, report);
    put_diagnosis(out, report);
    put_left_out(out, report);
    put_trust(out, report);
    (void)fputs("\n<details><summary>All judged gates</summary>\n", out);
    put_table(out, report, is_judged);
    (void)fputs("\n</details>\n", out);
  }
  put_earlier(out, report);
  put_provenance(out, report);
}
