#include "fuzz/schedule/explain_step.h"

#include <inttypes.h>

#include "fuzz/schedule/duration.h"
#include "fuzz/schedule/fold.h"
#include "fuzz/schedule/sentence.h"
#include "fuzz/schedule/wait.h"
#include "fuzz/schedule/words.h"

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))
#define KIB            1024u

// "1 MiB", "1 KiB" for whole ones, else "100 bytes".
static void write_bytes(uint32_t bytes, FILE *to) {
  if (bytes >= KIB * KIB && bytes % (KIB * KIB) == 0) {
    (void)fprintf(to, "%" PRIu32 " MiB", bytes / (KIB * KIB));
  } else if (bytes >= KIB && bytes % KIB == 0) {
    (void)fprintf(to, "%" PRIu32 " KiB", bytes / KIB);
  } else {
    (void)fprintf(to, "%" PRIu32 " byte%s", bytes, bytes == 1 ? "" : "s");
  }
}

static void explain_connect(uint16_t bits, FILE *to) {
  static const struct {
    uint16_t bit;
    const char *words;
  } extras[] = {
      {TG_CONNECT_RESUME, "resuming a session"},
      {TG_CONNECT_EARLY_DATA, "first request as early data"},
      {TG_CONNECT_HELLO_RETRY, "with a key share the server refuses"},
      {TG_CONNECT_LARGE_HELLO, "with a client hello of 16 KiB"},
      {TG_CONNECT_CERTIFICATE, "with a client certificate"},
      {TG_CONNECT_ALPN_H2, "offering only h2"},
      {TG_CONNECT_NO_TLS, "without sending a client hello"},
      {TG_CONNECT_QUICKACK_OFF, "its own quick ACKs off"},
  };
  (void)fprintf(to, "connects with %s, Nagle %s",
                bits & TG_CONNECT_PLAINTEXT ? "plain HTTP"
                : bits & TG_CONNECT_TLS12   ? "TLS 1.2"
                                            : "TLS 1.3",
                bits & TG_CONNECT_NODELAY ? "off" : "on");
  struct tg_sentence s = {to, true};
  for (size_t i = 0; i < COUNT_OF(extras); i++) {
    if (bits & extras[i].bit) {
      (void)fputs(extras[i].words, tg_sentence_item(&s));
    }
  }
}

static void explain_request(uint16_t value, FILE *to) {
  const uint32_t n = value >> 4;
  switch (value & 0xf) {
    case TG_REQUEST_GET:
      (void)fputs("asks for the small route", to);
      break;
    case TG_REQUEST_BYTES:
      (void)fputs("asks for a body of ", to);
      write_bytes(n * KIB, to);
      break;
    case TG_REQUEST_POST:
    case TG_REQUEST_POST_CHUNKED:
    case TG_REQUEST_EXPECT:
      (void)fputs("posts ", to);
      write_bytes(n * 64, to);
      (void)fputs((value & 0xf) == TG_REQUEST_POST           ? ""
                  : (value & 0xf) == TG_REQUEST_POST_CHUNKED ? ", chunked"
                                                             : " with Expect: 100-continue, the body at once",
                  to);
      break;
    case TG_REQUEST_HEAD:
      (void)fputs("asks for the head of the small route", to);
      break;
    case TG_REQUEST_PIPELINE: {
      const uint32_t count = n + 1 < 16 ? n + 1 : 16;
      (void)fprintf(to, "pipelines %" PRIu32 " request%s in one write", count, count == 1 ? "" : "s");
      break;
    }
    case TG_REQUEST_CLOSE:
      (void)fputs("asks for the small route and, with Connection: close, for the end", to);
      break;
    case TG_REQUEST_HTTP10:
      (void)fputs("asks for the small route with HTTP/1.0", to);
      break;
    case TG_REQUEST_STATS:
      (void)fputs("asks for the counters", to);
      break;
    case TG_REQUEST_NOT_FOUND:
      (void)fputs("asks for a route that is not there", to);
      break;
    case TG_REQUEST_BIG_HEAD:
      (void)fputs("asks with ", to);
      write_bytes(n * 64, to);
      (void)fputs(" of header fields", to);
      break;
    case TG_REQUEST_NUL:
      (void)fputs("asks with a NUL in a header field", to);
      break;
    case TG_REQUEST_BROKEN:
      (void)fputs("sends a request that is no HTTP", to);
      break;
    case TG_REQUEST_HEAD_ONLY:
      (void)fputs("sends the first part of a head", to);
      break;
    default:
      (void)fputs("posts more than the limit", to);
  }
}

static void explain_record(uint16_t value, FILE *to) {
  static const char *const kinds[] = {
      "a warning alert, user_canceled",     "a fatal alert, internal_error",
      "a close_notify in the clear",        "a change_cipher_spec",
      "an empty application data record",   "a header that announces more than comes",
      "a header that announces 2^14 + 257", "GET / HTTP/1.1 in the clear",
  };
  _Static_assert(COUNT_OF(kinds) == TG_SCHEDULE_RECORDS_COUNT, "words for each");
  (void)fprintf(to, "sends %s, past TLS", kinds[value & 0xf]);
  if (value >> 4 != 0) {
    (void)fprintf(to, " (length %u)", value >> 4);
  }
}

static void explain_inject(uint16_t value, FILE *to) {
  const unsigned skip = value >> 5 & 7, times = value >> 8;
  const char *failure = tg_words_failures.words[value & 0x1f];
  (void)fputs("from here on ", to);
  if (times == 0) {
    (void)fputs("every", to);
  } else if (times == 1) {
    (void)fputs("the next", to);
  } else {
    (void)fprintf(to, "the next %u calls of", times);
  }
  const char *result = failure;
  while (*result != ':') {
    result++;
  }
  (void)fprintf(to, " %.*s ", (int)(result - failure), failure);
  if (result[1] >= '0' && result[1] <= '9') {
    (void)fprintf(to, "%s at most %s byte%s", times > 1 ? "move" : "moves", result + 1,
                  result[1] == '1' && result[2] == '\0' ? "" : "s");
  } else {
    (void)fprintf(to, "%s with %s", times > 1 ? "fail" : "fails", result + 1);
  }
  if (skip != 0) {
    (void)fprintf(to, ", after %u that go%s well", skip, skip == 1 ? "es" : "");
  }
}

static void explain_number(const struct tg_schedule_step *step, FILE *to) {
  const uint16_t value = step->value;
  switch (step->action) {
    case TG_SCHEDULE_CUT:
      if (value == 0) {
        (void)fputs("writes as it comes from here on", to);
      } else {
        (void)fputs("cuts what it writes into pieces of ", to);
        write_bytes(value, to);
      }
      break;
    case TG_SCHEDULE_PUSH:
      (void)fputs("sends ", to);
      if (value == 0) {
        (void)fputs("all", to);
      } else {
        write_bytes(value, to);
      }
      (void)fputs(" of what it keeps back", to);
      break;
    case TG_SCHEDULE_READ:
      if (value == 0) {
        (void)fputs("reads as it comes", to);
      } else if (value == 1) {
        (void)fputs("stops reading", to);
      } else {
        (void)fputs("reads ", to);
        write_bytes(value, to);
        (void)fputs(", then stops", to);
      }
      break;
    case TG_SCHEDULE_RAW:
      (void)fputs("sends ", to);
      write_bytes(value, to);
      (void)fputs(" of a fixed pattern, past TLS", to);
      break;
    default:
      (void)fprintf(to, "flips bit %u of byte %u of what it keeps back", value & 7, value >> 3);
  }
}

static void explain_switch(const struct tg_schedule_step *step, FILE *to) {
  static const char *const words[TG_SCHEDULE_ACTIONS_COUNT][2] = {
      [TG_SCHEDULE_HOLD] = {"lets go what it would send", "keeps back what it would send"},
      [TG_SCHEDULE_CLOSE_NOTIFY] = {"sends close_notify", NULL},
      [TG_SCHEDULE_HALF_CLOSE] = {"sends close_notify and FIN, and goes on reading",
                                  "sends FIN without close_notify, and goes on reading"},
      [TG_SCHEDULE_CLOSE] = {"closes its socket", NULL},
      [TG_SCHEDULE_RESET] = {"resets the connection", NULL},
      [TG_SCHEDULE_KEY_UPDATE] = {"updates its keys", "updates its keys and asks for the server's too"},
      [TG_SCHEDULE_NODELAY] = {"turns Nagle on", "turns Nagle off"},
      [TG_SCHEDULE_CORK] = {"uncorks its socket", "corks its socket"},
      [TG_SCHEDULE_DROP_FLIGHT] = {"throws away what it keeps back", NULL},
  };
  (void)fputs(words[step->action][step->value], to);
}

void tg_explain_step(const struct tg_schedule_step *step, FILE *to) {
  char duration[TG_DURATION_TEXT_MAX];
  if (tg_schedule_names_client(step->action)) {
    (void)fprintf(to, "client %u ", step->client);
  }
  switch (step->action) {
    case TG_SCHEDULE_WAIT:
      (void)fputs("nothing is done", to);
      break;
    case TG_SCHEDULE_CONNECT:
      explain_connect(step->value, to);
      break;
    case TG_SCHEDULE_REQUEST:
      explain_request(step->value, to);
      break;
    case TG_SCHEDULE_CUT:
    case TG_SCHEDULE_PUSH:
    case TG_SCHEDULE_READ:
    case TG_SCHEDULE_RAW:
    case TG_SCHEDULE_FLIP:
      explain_number(step, to);
      break;
    case TG_SCHEDULE_GAP:
      (void)fprintf(to, "pauses %s between the pieces",
                    step->value == TG_SCHEDULE_WAIT_REST
                        ? "until all is at rest"
                        : tg_duration_format(tg_schedule_wait_ns((uint8_t)step->value), " ", duration));
      break;
    case TG_SCHEDULE_RECORD:
      explain_record(step->value, to);
      break;
    case TG_SCHEDULE_DELAY:
      (void)fprintf(to, "the network takes %s one way from here on", tg_words_delays.words[step->value]);
      break;
    case TG_SCHEDULE_REPLAY:
      (void)fprintf(to, "sends the first flight of client %u again, past TLS", step->value);
      break;
    case TG_SCHEDULE_INJECT:
      explain_inject(step->value, to);
      break;
    case TG_SCHEDULE_CLEAR:
      (void)fputs("no call fails any more", to);
      break;
    case TG_SCHEDULE_MAX_FDS:
      if (step->value == 0) {
        (void)fputs("descriptors are plenty", to);
      } else {
        (void)fprintf(to, "%u descriptors from here on", step->value + TG_FDS_FLOOR);
      }
      break;
    case TG_SCHEDULE_WIND_DOWN:
      (void)fprintf(to, "the server winds down, with a grace of %s",
                    step->value == TG_SCHEDULE_WAIT_REST
                        ? "as long as anything happens"
                        : tg_duration_format(tg_schedule_wait_ns((uint8_t)step->value), " ", duration));
      break;
    default:
      explain_switch(step, to);
  }
}
