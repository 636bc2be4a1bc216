#include "fuzz/schedule/words.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))
#define WORDS(list) \
  { (list), COUNT_OF(list) }

#define TEXT_3(name, text, meaning) text,
#define TEXT_2(name, text)          text,
static const char *const actions[] = {TG_SCHEDULE_ACTIONS(TEXT_3)};
static const char *const requests[] = {TG_SCHEDULE_REQUESTS(TEXT_3)};
static const char *const records[] = {TG_SCHEDULE_RECORDS(TEXT_3)};
static const char *const failures[] = {TG_SCHEDULE_FAILURES(TEXT_2)};
static const char *const refusals[] = {TG_SCHEDULE_REFUSALS(TEXT_3)};
#undef TEXT_3
#undef TEXT_2
static const char *const connect_bits[] = {"plaintext",  "nodelay",     "tls12",       "resume",
                                           "early_data", "hello_retry", "large_hello", "certificate",
                                           "alpn_h2",    "no_tls",      "quickack_off"};
_Static_assert(COUNT_OF(connect_bits) == TG_CONNECT_BITS, "a word for each bit");
static const char *const delays[] = {"2us", "50us", "1ms", "20ms", "100ms"};
static const char *const all[] = {"all"};
static const char *const off_on[] = {"off", "on"};

const struct tg_words tg_words_actions = WORDS(actions);
const struct tg_words tg_words_connect_bits = WORDS(connect_bits);
const struct tg_words tg_words_requests = WORDS(requests);
const struct tg_words tg_words_records = WORDS(records);
const struct tg_words tg_words_failures = WORDS(failures);
const struct tg_words tg_words_delays = WORDS(delays);
const struct tg_words tg_words_all = WORDS(all);
const struct tg_words tg_words_off_on = WORDS(off_on);

int tg_words_find(const struct tg_words *words, const char *word) {
  for (size_t i = 0; i < words->count; i++) {
    if (strcmp(words->words[i], word) == 0) {
      return (int)i;
    }
  }
  return -1;
}

const char *tg_words_join(const struct tg_words *words, char *out, size_t size) {
  size_t len = 0;
  out[0] = '\0';
  for (size_t i = 0; i < words->count && len < size; i++) {
    int wrote = snprintf(out + len, size - len, "%s%s", i == 0 ? "" : ", ", words->words[i]);
    len += (size_t)wrote;
  }
  return out;
}

#define MAX_16  65535
#define FDS_MAX (TG_FDS_FLOOR + 255)

static const char *const freely_stop[] = {"freely", "stop"};
static const char *const half_close[] = {"", "without_close_notify"};
static const char *const key_update[] = {"", "both"};
static const char *const plenty[] = {"plenty"};
static const struct tg_words words_read = WORDS(freely_stop), words_half_close = WORDS(half_close),
                             words_key_update = WORDS(key_update), words_plenty = WORDS(plenty);

static const struct tg_syntax syntaxes[TG_SCHEDULE_ACTIONS_COUNT] = {
    [TG_SCHEDULE_CONNECT] = {.argument = TG_ARGUMENT_BITS, .words = &tg_words_connect_bits},
    [TG_SCHEDULE_REQUEST] = {.argument = TG_ARGUMENT_KIND, .words = &tg_words_requests},
    [TG_SCHEDULE_CUT] = {.argument = TG_ARGUMENT_NUMBER, .max = MAX_16},
    [TG_SCHEDULE_GAP] = {.argument = TG_ARGUMENT_DURATION},
    [TG_SCHEDULE_HOLD] = {.argument = TG_ARGUMENT_WORD, .words = &tg_words_off_on},
    [TG_SCHEDULE_PUSH] = {.argument = TG_ARGUMENT_NUMBER, .words = &tg_words_all, .min = 1, .max = MAX_16},
    [TG_SCHEDULE_READ] = {.argument = TG_ARGUMENT_NUMBER, .words = &words_read, .min = 2, .max = MAX_16},
    [TG_SCHEDULE_HALF_CLOSE] = {.argument = TG_ARGUMENT_OPTION, .words = &words_half_close},
    [TG_SCHEDULE_FLIP] = {.argument = TG_ARGUMENT_FLIP},
    [TG_SCHEDULE_RAW] = {.argument = TG_ARGUMENT_NUMBER, .min = 1, .max = 4096},
    [TG_SCHEDULE_RECORD] = {.argument = TG_ARGUMENT_KIND, .words = &tg_words_records},
    [TG_SCHEDULE_KEY_UPDATE] = {.argument = TG_ARGUMENT_OPTION, .words = &words_key_update},
    [TG_SCHEDULE_NODELAY] = {.argument = TG_ARGUMENT_WORD, .words = &tg_words_off_on},
    [TG_SCHEDULE_CORK] = {.argument = TG_ARGUMENT_WORD, .words = &tg_words_off_on},
    [TG_SCHEDULE_DELAY] = {.argument = TG_ARGUMENT_WORD, .words = &tg_words_delays},
    [TG_SCHEDULE_REPLAY] = {.argument = TG_ARGUMENT_NUMBER, .max = TG_SCHEDULE_CLIENTS_MAX - 1},
    [TG_SCHEDULE_INJECT] = {.argument = TG_ARGUMENT_INJECT},
    [TG_SCHEDULE_MAX_FDS] = {.argument = TG_ARGUMENT_NUMBER,
                             .words = &words_plenty,
                             .min = TG_FDS_FLOOR + 1,
                             .max = FDS_MAX,
                             .base = TG_FDS_FLOOR},
    [TG_SCHEDULE_WIND_DOWN] = {.argument = TG_ARGUMENT_DURATION},
};

const struct tg_syntax *tg_syntax_of(uint8_t action) {
  return &syntaxes[action];
}

static const char *const keys[] = {"p256", "rsa2048", "long_chain"};
static const char *const deadlines[] = {"default", "tenth", "hundredth", "1ms"};
static const char *const lifetimes[] = {"day", "minute", "second"};
static const char *const msses[] = {"32741", "1448", "536", "88"};
static const char *const send_buffers[] = {"2.5MiB", "64KiB", "4608", "1KiB"};
static const char *const windows[] = {"64KiB", "1MiB", "4KiB", "256"};
static const char *const calls[] = {"1us", "0.1us", "100us", "5ms"};
static const char *const unlimited[] = {"default"};

#define FLAG(field) \
  { #field, TG_SETTING_FLAG, offsetof(struct tg_schedule_settings, field), 0, {NULL, 0 }, 0, 0, 0 }
#define WORD(field, list) \
  { #field, TG_SETTING_WORD, offsetof(struct tg_schedule_settings, field), 0, WORDS(list), 0, 0, 0 }

static const struct tg_setting settings[] = {
    {"shards", TG_SETTING_NUMBER, offsetof(struct tg_schedule_settings, shards), 1, {NULL, 0}, 1, 3, 0},
    WORD(key, keys),
    FLAG(flush_tickets),
    FLAG(early_data),
    FLAG(client_ca),
    FLAG(plaintext_listener),
    WORD(deadlines, deadlines),
    {"max_connections", TG_SETTING_NUMBER, offsetof(struct tg_schedule_settings, max_connections), 0, WORDS(unlimited),
     1, 255, 0},
    WORD(ticket_lifetime, lifetimes),
    WORD(delay, delays),
    WORD(mss, msses),
    WORD(send_buffer, send_buffers),
    WORD(window, windows),
    {"max_fds", TG_SETTING_NUMBER, offsetof(struct tg_schedule_settings, max_fds), 0, WORDS(plenty), TG_FDS_FLOOR + 1,
     FDS_MAX, TG_FDS_FLOOR},
    {"call", TG_SETTING_WORD, offsetof(struct tg_schedule_settings, call_ns), 0, WORDS(calls), 0, 0, 0},
    WORD(refused, refusals),
};

_Static_assert(COUNT_OF(settings) <= TG_SETTINGS_MAX, "callers have room");

const struct tg_setting *tg_settings_table(size_t *count) {
  *count = COUNT_OF(settings);
  return settings;
}
