// report: shows the report of a run. `report --help` says more.
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "perf/report/markdown.h"

static const char usage[] =
    "usage: report --markdown [FILE|DIR]\n"
    "\n"
    "Prints the report of a run as Markdown, for the summary of a CI job or a pull request:\n"
    "\n"
    "    ./tlsgate report --markdown >> \"$GITHUB_STEP_SUMMARY\"\n"
    "\n"
    "  --markdown   the form; there is no other yet\n"
    "  --help       this text\n"
    "\n"
    "FILE is a report.json; DIR holds one. Without either it is the newest in reports/ of the current folder. The "
    "report\n"
    "is decoded strictly first, so that this also checks one: docs/evidence.md describes the file.\n"
    "\n"
    "Exit status: 0 printed, whatever the report's verdict; 1 there is no report, or it does not decode; 2 usage.\n";

static int complain(const char *what, const char *value) {
  fprintf(stderr, "report: %s%s; --help says what there is\n", what, value);
  return TG_EXIT_USAGE;
}

// Finds the newest reports/*/report.json.
static bool find_newest(char out[PATH_MAX], struct tg_error *err) {
  glob_t found;
  time_t newest = 0;
  bool any = false;
  if (glob("reports/*/report.json", 0, NULL, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; i++) {
      struct stat status;
      if (stat(found.gl_pathv[i], &status) == 0 && (!any || status.st_mtime >= newest)) {
        any = snprintf(out, PATH_MAX, "%s", found.gl_pathv[i]) < PATH_MAX;
        newest = status.st_mtime;
      }
    }
    globfree(&found);
  }
  if (!any) {
    tg_error_set(err, "there is no reports/*/report.json here; name the report, or run the gates first");
  }
  return any;
}

static bool find_file(const char *argument, char out[PATH_MAX], struct tg_error *err) {
  struct stat status;
  if (argument == NULL) {
    return find_newest(out, err);
  }
  bool folder = stat(argument, &status) == 0 && S_ISDIR(status.st_mode);
  if (snprintf(out, PATH_MAX, "%s%s", argument, folder ? "/report.json" : "") < PATH_MAX) {
    return true;
  }
  tg_error_set(err, "%s: the path is too long", argument);
  return false;
}

static int print(const char *argument) {
  char file[PATH_MAX];
  struct tg_error err;
  struct tg_report *report = find_file(argument, file, &err) ? tg_report_load(file, &err) : NULL;
  if (report == NULL) {
    fprintf(stderr, "report: %s\n", err.text);
    return TG_EXIT_FAIL;
  }
  tg_markdown_print(stdout, report);
  tg_report_free(report);
  if (fflush(stdout) != 0) {
    perror("report: standard output");
    return TG_EXIT_FAIL;
  }
  return TG_EXIT_PASS;
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"markdown", no_argument, NULL, 'm'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  bool markdown = false;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == 'h') {
      (void)fputs(usage, stdout);
      return TG_EXIT_PASS;
    }
    if (option == '?') {
      return complain("unknown option ", argv[optind - 1]);
    }
    markdown = true;
  }
  if (!markdown) {
    return complain("--markdown", " is missing");
  }
  if (argc - optind > 1) {
    return complain("unexpected argument ", argv[optind + 1]);
  }
  return print(optind < argc ? argv[optind] : NULL);
}
