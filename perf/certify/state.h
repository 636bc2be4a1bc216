// The certificate on disk: state.json while parts run, certificate.json and certificate.html at the end.
#ifndef TLSGATE_PERF_CERTIFY_STATE_H
#define TLSGATE_PERF_CERTIFY_STATE_H

#include "perf/certify/runner.h"

// tg_state_open reads the state of an earlier run in certify->out, or makes a new one. Refused, with `err` filled in:
// a state of another commit, of other options, or of another machine or build, which could not be continued without
// mixing two certificates. What an attempt that did not end has left is hashed, so that it stays.
enum tg_certified tg_state_open(const struct tg_certify *certify, json_t **value, struct tg_error *err);

// tg_state_save writes state.json beside its place and renames it.
bool tg_state_save(const char *folder, const json_t *value, struct tg_error *err);

// tg_state_finish concludes the value, writes certificate.html and certificate.json, and removes state.json.
bool tg_state_finish(const struct tg_certify *certify, json_t *value, struct tg_error *err);

// tg_state_write writes `value` as the file `name` of `folder`, beside its place first. With all digits of every
// number, so that it reads back equal.
bool tg_state_write(const char *folder, const char *name, const json_t *value, struct tg_error *err);

#endif
