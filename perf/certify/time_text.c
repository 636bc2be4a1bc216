#include "perf/certify/time_text.h"

#include <time.h>

void tg_utc_now(char out[TG_TIME_TEXT_LEN + 1]) {
  time_t now = time(NULL);
  struct tm utc;
  (void)gmtime_r(&now, &utc);
  (void)strftime(out, TG_TIME_TEXT_LEN + 1, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
