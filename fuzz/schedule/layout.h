// Where each field of an encoded schedule stands; docs/schedules.md has the same table in words.
#ifndef TLSGATE_FUZZ_SCHEDULE_LAYOUT_H
#define TLSGATE_FUZZ_SCHEDULE_LAYOUT_H

enum {
  TG_LAYOUT_VERSION,
  // bit 0 flush_tickets, 1 early_data, 2 client_ca, 3 plaintext_listener; bits 4-5 shards - 1, 6-7 deadlines
  TG_LAYOUT_SERVER,
  TG_LAYOUT_CHOICES,  // bits 0-1 key, 2-3 ticket_lifetime, 4-5 call_ns
  TG_LAYOUT_SIZES,    // bits 0-1 mss, 2-3 send_buffer, 4-5 window
  TG_LAYOUT_DELAY,
  TG_LAYOUT_MAX_CONNECTIONS,
  TG_LAYOUT_MAX_FDS,
  TG_LAYOUT_REFUSED,  // until it had a meaning it was written as 0, and not read
  TG_LAYOUT_STEPS,
};

enum {
  TG_LAYOUT_STEP_ACTION,
  TG_LAYOUT_STEP_CLIENT,
  TG_LAYOUT_STEP_VALUE_LOW,
  TG_LAYOUT_STEP_VALUE_HIGH,
  TG_LAYOUT_STEP_WAIT,
  TG_LAYOUT_STEP_BYTES,
};

#endif
