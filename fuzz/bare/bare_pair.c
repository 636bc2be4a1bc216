// For every TLS client of a schedule, one handshake in memory: what accept_schedule is held against, on the same
// schedules.
#include <openssl/err.h>

#include "fuzz/bare/bare_tls.h"
#include "fuzz/base/count.h"
#include "fuzz/base/rng.h"
#include "fuzz/base/target.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  tg_fuzz_reset_rng();
  tg_bare_init();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint16_t kNoTls = TG_CONNECT_PLAINTEXT | TG_CONNECT_NO_TLS;
  static struct tg_schedule schedule;
  tg_schedule_decode(data, size, &schedule);
  tg_fuzz_reset_rng();
  for (size_t i = 0; i < schedule.num_steps; i++) {
    const struct tg_schedule_step *step = &schedule.steps[i];
    if (step->action != TG_SCHEDULE_CONNECT || (step->value & kNoTls) != 0) {
      continue;
    }
    SSL *client = tg_bare_client(step->value);
    SSL *server = tg_bare_server(&schedule.settings);
    tg_fuzz_count_handshakes(tg_bare_handshake(client, server) ? 1 : 0);
    SSL_free(client);
    SSL_free(server);
  }
  return 0;
}
