// ./tlsgate fuzzd
#include <stdio.h>

#include "fuzz/service/options.h"
#include "fuzz/service/service.h"

int main(int argc, char **argv) {
  static struct tg_fuzzd_options options;
  struct tg_error err;
  if (!tg_fuzzd_options_parse(argc, argv, &options, &err)) {
    fprintf(stderr, "fuzzd: %s\n", err.text);
    return 2;
  }
  if (options.help) {
    tg_fuzzd_options_help();
    return 0;
  }
  return tg_fuzzd_run(&options);
}
