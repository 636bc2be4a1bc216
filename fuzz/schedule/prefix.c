#include "fuzz/schedule/prefix.h"

#include <string.h>

#include "fuzz/schedule/fold.h"

enum {
  PREFIX_VERSION,
  PREFIX_FLAGS,    // bit 0 flush_tickets, 1 early_data, 2 client_ca, 3 plaintext, 4 nodelay; bits 6-7 deadlines
  PREFIX_CHOICES,  // bits 0-1 key, 2-3 ticket_lifetime, 4-5 mss, 6-7 call_ns
  PREFIX_SIZES,    // bits 0-1 send_buffer, 2-3 window, 4-5 end
  PREFIX_DELAY,
  PREFIX_CUT_LOW,
  PREFIX_CUT_HIGH,
  PREFIX_GAP,
  PREFIX_END,
};
_Static_assert(PREFIX_END == TG_BYTE_INPUT_PREFIX, "no byte more");
_Static_assert(TG_BYTE_INPUT_ENDS == 4, "two bits hold every end");

// As with schedules, the version is not looked at: there is one so far.
void tg_byte_input_decode(const uint8_t *data, size_t len, struct tg_byte_input *out) {
  memset(out, 0, sizeof(*out));
  uint8_t prefix[TG_BYTE_INPUT_PREFIX] = {0};
  const size_t got = len < sizeof(prefix) ? len : sizeof(prefix);
  if (got > 0) {
    memcpy(prefix, data, got);
  }
  if (len > got) {
    out->payload = data + got;
    out->payload_len = len - got;
  }
  const uint8_t flags = prefix[PREFIX_FLAGS], choices = prefix[PREFIX_CHOICES], sizes = prefix[PREFIX_SIZES];
  out->plaintext = flags >> 3 & 1;
  out->nodelay = flags >> 4 & 1;
  out->cut = (uint16_t)(prefix[PREFIX_CUT_LOW] | prefix[PREFIX_CUT_HIGH] << 8);
  out->gap = prefix[PREFIX_GAP];
  out->end = sizes >> 4 & 3;
  out->settings = (struct tg_schedule_settings){
      .shards = 1,
      .key = choices & 3,
      .flush_tickets = flags & 1,
      .early_data = flags >> 1 & 1,
      .client_ca = flags >> 2 & 1,
      .plaintext_listener = out->plaintext,
      .deadlines = flags >> 6,
      .ticket_lifetime = choices >> 2 & 3,
      .delay = prefix[PREFIX_DELAY],
      .mss = choices >> 4 & 3,
      .send_buffer = sizes & 3,
      .window = sizes >> 2 & 3,
      .call_ns = choices >> 6,
  };
  tg_schedule_fold_settings(&out->settings);
}

size_t tg_byte_input_encode(const struct tg_byte_input *input, uint8_t *out) {
  struct tg_schedule_settings settings = input->settings;
  tg_schedule_fold_settings(&settings);
  out[PREFIX_VERSION] = TG_BYTE_INPUT_VERSION;
  out[PREFIX_FLAGS] = (uint8_t)(settings.flush_tickets | settings.early_data << 1 | settings.client_ca << 2 |
                                input->plaintext << 3 | input->nodelay << 4 | settings.deadlines << 6);
  out[PREFIX_CHOICES] =
      (uint8_t)(settings.key | settings.ticket_lifetime << 2 | settings.mss << 4 | settings.call_ns << 6);
  out[PREFIX_SIZES] = (uint8_t)(settings.send_buffer | settings.window << 2 | input->end % TG_BYTE_INPUT_ENDS << 4);
  out[PREFIX_DELAY] = settings.delay;
  out[PREFIX_CUT_LOW] = input->cut & 0xff;
  out[PREFIX_CUT_HIGH] = input->cut >> 8;
  out[PREFIX_GAP] = input->gap;
  if (input->payload_len > 0) {
    memcpy(out + TG_BYTE_INPUT_PREFIX, input->payload, input->payload_len);
  }
  return TG_BYTE_INPUT_PREFIX + input->payload_len;
}
