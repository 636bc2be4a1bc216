// The pair of ends, and what may be asked of one.
#include "harness/kernel/tcp.h"

#include <assert.h>
#include <stdlib.h>

#include "harness/kernel/tcp_state.h"

#define DELAY_MIN_NS        UINT64_C(1000)
#define DELAY_MAX_NS        (10000 * TG_SIM_NS_PER_MS)
#define MSS_MAX             65483u
#define WINDOW_MAX          (1u << 20)
#define SEND_BUFFER_MAX     (1u << 24)
#define SEND_BUFFER_DEFAULT (1u << 18)

void tg_tcp_options_default(struct tg_tcp_options *out) {
  *out = (struct tg_tcp_options){
      .delay_ns = 2000,
      .mss = 32741,
      .segmentation_offload = true,
      .send_buffer = {SEND_BUFFER_DEFAULT, SEND_BUFFER_DEFAULT},
      .window = {65536, 65536},
      .pingpong_threshold = 1,
      .rules = TG_TCP_RULES_ALL,
  };
}

// tcp_bound_to_half_wnd
static uint32_t bound_to_half(uint32_t mss, uint32_t window) {
  uint32_t cut = window > TG_TCP_MSS_DEFAULT ? window / 2 : window;
  return mss < cut ? mss : cut;
}

static void end_init(struct tg_tcp_pair *pair, enum tg_tcp_side side) {
  const struct tg_tcp_options *options = &pair->options;
  struct tg_tcp *end = &pair->ends[side];
  uint32_t window = options->window[side];
  end->pair = pair;
  end->side = side;
  end->send_buffer = options->send_buffer[side];
  end->snd_wnd = options->window[!side];
  end->mss = bound_to_half(options->mss, end->snd_wnd);
  end->cwnd = TG_TCP_INIT_CWND;
  end->flight.item_size = sizeof(struct tg_tcp_flight);
  end->wire.item_size = sizeof(struct tg_tcp_segment);
  end->srtt_ns = 2 * pair->delay_ns;  // of the handshake
  end->probe_timer = (struct tg_tcp_timer){TG_SIM_NEVER, TG_SIM_NEVER};
  end->delack_timer = end->probe_timer;
  end->loss_probe_timer = end->probe_timer;
  end->rcv_wnd = window;
  end->told_wnd = window;
  tg_tcp_space_init(end, window);
  end->lrcvtime = tg_tcp_jiffies(end);  // tcp_create_openreq_child, tcp_finish_connect
  // tcp_initialize_rcv_mss
  uint32_t hint = bound_to_half(options->mss, window);
  hint = hint < window / 2 ? hint : window / 2;
  hint = hint < TG_TCP_MSS_DEFAULT ? hint : TG_TCP_MSS_DEFAULT;
  end->rcv_mss = hint > TG_TCP_MIN_MSS ? hint : TG_TCP_MIN_MSS;
}

struct tg_tcp_pair *tg_tcp_pair_create(struct tg_sim *sim, struct tg_trace *trace, uint32_t id,
                                       const struct tg_tcp_options *options, uint32_t listener_pingpong, bool nodelay) {
  assert(options->delay_ns >= DELAY_MIN_NS && options->delay_ns <= DELAY_MAX_NS);
  assert(options->mss >= TG_TCP_MIN_MSS && options->mss <= MSS_MAX);
  assert(options->pingpong_threshold >= 1 && options->pingpong_threshold <= UINT8_MAX);
  for (int side = 0; side < 2; side++) {
    assert(options->window[side] >= 1 && options->window[side] <= WINDOW_MAX);
    assert(options->send_buffer[side] >= 1 && options->send_buffer[side] <= SEND_BUFFER_MAX);
  }
  assert((options->rules & ~(uint32_t)TG_TCP_RULES_ALL) == 0);
  struct tg_tcp_pair *pair = calloc(1, sizeof(*pair));
  if (pair == NULL) {
    return NULL;
  }
  pair->sim = sim;
  pair->trace = trace;
  pair->id = id;
  pair->options = *options;
  pair->delay_ns = options->delay_ns;
  end_init(pair, TG_TCP_SERVER);
  end_init(pair, TG_TCP_CLIENT);
  pair->ends[TG_TCP_SERVER].pingpong = listener_pingpong;
  pair->ends[TG_TCP_SERVER].nodelay = nodelay;
  return pair;
}

void tg_tcp_pair_destroy(struct tg_tcp_pair *pair) {
  if (pair == NULL) {
    return;
  }
  for (int side = 0; side < 2; side++) {
    tg_tcp_stream_free(&pair->ends[side].out);
    free(pair->ends[side].flight.items);
    free(pair->ends[side].wire.items);
    free(pair->ends[side].space.packets.items);
  }
  free(pair);
}

bool tg_tcp_pair_finished(const struct tg_tcp_pair *pair) {
  return pair->events == 0 && pair->ends[0].closed && pair->ends[1].closed;
}

struct tg_tcp *tg_tcp_end(struct tg_tcp_pair *pair, enum tg_tcp_side side) {
  return &pair->ends[side];
}

struct tg_tcp *tg_tcp_other(struct tg_tcp *end) {
  return &end->pair->ends[!end->side];
}

struct tg_tcp_pair *tg_tcp_pair_of(struct tg_tcp *end) {
  return end->pair;
}

uint32_t tg_tcp_id(const struct tg_tcp *end) {
  return end->pair->id;
}

enum tg_tcp_side tg_tcp_side_of(const struct tg_tcp *end) {
  return end->side;
}

void tg_tcp_set_notify(struct tg_tcp *end, tg_tcp_notify notify, void *context) {
  end->notify = notify;
  end->notify_context = context;
}

void tg_tcp_set_delay(struct tg_tcp_pair *pair, uint64_t delay_ns) {
  assert(delay_ns >= DELAY_MIN_NS && delay_ns <= DELAY_MAX_NS);
  pair->delay_ns = delay_ns;
}

bool tg_tcp_nodelay(const struct tg_tcp *end) {
  return end->nodelay;
}

static uint64_t acked(const struct tg_tcp *end) {  // of the bytes: una may be past the FIN
  return end->snd_una < end->out.written ? end->snd_una : end->out.written;
}

size_t tg_tcp_unacked(const struct tg_tcp *end) {
  return (size_t)(end->out.written - acked(end));
}

size_t tg_tcp_room(const struct tg_tcp *end) {
  size_t unacked = tg_tcp_unacked(end);
  return unacked < end->send_buffer ? end->send_buffer - unacked : 0;
}

size_t tg_tcp_held(const struct tg_tcp *end) {
  return end->snd_nxt < end->out.written ? (size_t)(end->out.written - end->snd_nxt) : 0;
}

uint64_t tg_tcp_written(const struct tg_tcp *end) {
  return end->out.written;
}

uint64_t tg_tcp_delivered(const struct tg_tcp *end) {
  const struct tg_tcp *peer = &end->pair->ends[!end->side];
  return peer->rcv_nxt - peer->fin_received;
}

uint64_t tg_tcp_consumed(const struct tg_tcp *end) {
  return end->pair->ends[!end->side].out.read;
}

bool tg_tcp_fin_sent(const struct tg_tcp *end) {
  return end->fin_sent;
}

bool tg_tcp_fin_received(const struct tg_tcp *end) {
  return end->fin_received;
}

bool tg_tcp_rst_sent(const struct tg_tcp *end) {
  return end->rst_sent;
}

bool tg_tcp_rst_received(const struct tg_tcp *end) {
  return end->rst_received;
}

bool tg_tcp_write_shut(const struct tg_tcp *end) {
  return end->shut_write || end->dead;
}

bool tg_tcp_read_shut(const struct tg_tcp *end) {
  return end->shut_read || end->fin_received || end->dead;
}

int tg_tcp_error(const struct tg_tcp *end) {
  return end->error;
}

int tg_tcp_take_error(struct tg_tcp *end) {
  int error = end->error;
  end->error = 0;
  return error;
}

// sk_stream_is_writeable: what is free is at least half of what is queued.
bool tg_tcp_writable(const struct tg_tcp *end) {
  size_t room = tg_tcp_room(end);
  return end->dead || end->shut_write || (room > 0 && room >= tg_tcp_unacked(end) / 2);
}

bool tg_tcp_closed(const struct tg_tcp *end) {
  return end->closed;
}

const struct tg_tcp_stats *tg_tcp_stats_of(const struct tg_tcp *end) {
  return &end->stats;
}
