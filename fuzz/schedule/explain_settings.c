#include "fuzz/schedule/explain_settings.h"

#include "fuzz/schedule/sentence.h"
#include "fuzz/schedule/words.h"

static void explain_server(const struct tg_schedule_settings *settings, FILE *to) {
  static const char *const keys[] = {"a P-256 key", "an RSA-2048 key",
                                     "a certificate chain that overflows small buffers"};
  static const char *const deadlines[] = {NULL, "a tenth of its deadlines", "a hundredth of its deadlines",
                                          "deadlines of 1 ms"};
  static const char *const lifetimes[] = {NULL, "tickets for a minute", "tickets for a second"};
#define MEANING(name, text, meaning) meaning,
  static const char *const refusals[] = {TG_SCHEDULE_REFUSALS(MEANING)};
#undef MEANING
  (void)fprintf(to, "  server   %u shard%s, %s", settings->shards, settings->shards == 1 ? "" : "s",
                keys[settings->key]);
  struct tg_sentence s = {to, true};
  if (settings->flush_tickets) {
    (void)fputs("tickets flushed at once", tg_sentence_item(&s));
  }
  if (settings->early_data) {
    (void)fputs("early data allowed", tg_sentence_item(&s));
  }
  if (settings->client_ca) {
    (void)fputs("client certificates required", tg_sentence_item(&s));
  }
  if (settings->plaintext_listener) {
    (void)fputs("a plaintext listener", tg_sentence_item(&s));
  }
  if (settings->deadlines != 0) {
    (void)fputs(deadlines[settings->deadlines], tg_sentence_item(&s));
  }
  if (settings->max_connections != 0) {
    (void)fprintf(tg_sentence_item(&s), "at most %u connection%s", settings->max_connections,
                  settings->max_connections == 1 ? "" : "s");
  }
  if (settings->ticket_lifetime != 0) {
    (void)fputs(lifetimes[settings->ticket_lifetime], tg_sentence_item(&s));
  }
  if (settings->refused != TG_REFUSAL_NOTHING) {
    (void)fprintf(tg_sentence_item(&s), "after another was refused for %s", refusals[settings->refused]);
  }
  (void)fputc('\n', to);
}

static void explain_world(const struct tg_schedule_settings *settings, FILE *to) {
  static const char *const delays[] = {"2 us", "50 us", "1 ms", "20 ms", "100 ms"};
  static const char *const msses[] = {"32,741", "1,448", "536", "88"};
  static const char *const send_buffers[] = {"2.5 MiB", "64 KiB", "4,608 bytes", "1 KiB"};
  static const char *const windows[] = {"64 KiB", "1 MiB", "4 KiB", "256 bytes"};
  static const char *const calls[] = {"1 us", "0.1 us", "100 us", "5 ms"};
  (void)fprintf(to, "  network  %s one way, segments of at most %s bytes\n", delays[settings->delay],
                msses[settings->mss]);
  (void)fprintf(to, "  buffers  the server sends from %s, the client receives into %s\n",
                send_buffers[settings->send_buffer], windows[settings->window]);
  (void)fprintf(to, "  kernel   a system call takes %s, ", calls[settings->call_ns]);
  if (settings->max_fds == 0) {
    (void)fputs("descriptors are plenty\n", to);
  } else {
    (void)fprintf(to, "%u descriptors\n", settings->max_fds + TG_FDS_FLOOR);
  }
}

void tg_explain_settings(const struct tg_schedule_settings *settings, FILE *to) {
  explain_server(settings, to);
  explain_world(settings, to);
}
