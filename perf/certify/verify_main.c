// verify: whether a certificate is what its raw files and its commit come to. `verify --help` says more.
#include <stdio.h>

#include "perf/certify/html.h"
#include "perf/certify/options.h"
#include "perf/certify/verify.h"
#include "perf/process/runfiles.h"

int main(int argc, char **argv) {
  char folder[PATH_MAX];
  char workspace[PATH_MAX];
  int ended = tg_verify_options_parse(folder, argc, argv);
  if (ended >= 0) {
    return ended;
  }
  if (!tg_workspace("baselines/gates.json", workspace)) {
    fprintf(stderr, "verify: the source tree cannot be told: start it by ./tlsgate verify\n");
    return TG_EXIT_FAIL;
  }
  struct tg_verified verified;
  tg_verify(&verified, folder, workspace, tg_parts, tg_num_parts, stdout);
  if (verified.differences > 0) {
    printf("\n%zu difference%s: this is not the certificate of what lies beside it\n", verified.differences,
           verified.differences == 1 ? "" : "s");
    return TG_EXIT_FAIL;
  }
  printf(
      "\nIt verifies. Its verdict: %s. Hashes are no signature: they say that the files belong together, not who made "
      "them.\n",
      tg_html_word(verified.verdict));
  return fflush(stdout) == 0 ? TG_EXIT_PASS : TG_EXIT_FAIL;
}
