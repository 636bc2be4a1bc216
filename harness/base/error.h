// One error, in words, for a person to act on.
#ifndef TLSGATE_HARNESS_BASE_ERROR_H
#define TLSGATE_HARNESS_BASE_ERROR_H

struct tg_error {
  char text[512];  // one line without control characters; names the place and, where there is one, the remedy
};

// tg_error_set formats the text, truncating it to what fits. `err` may be NULL.
void tg_error_set(struct tg_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

// tg_error_set_tls appends the reason at the head of the TLS library's error queue to the text, and empties the queue.
void tg_error_set_tls(struct tg_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
