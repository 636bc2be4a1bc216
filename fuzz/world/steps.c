#include "fuzz/world/steps.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static uint64_t delay_ns(unsigned setting) {
  static const uint64_t kDelays_ns[] = {2000, 50000, 1000000, 20000000, 100000000};
  return kDelays_ns[setting % 5];
}

struct tg_tcp_options tg_world_settings_tcp(const struct tg_schedule_settings *settings) {
  static const uint32_t kMss[] = {32741, 1448, 536, 88};
  static const uint32_t kSendBuffers[] = {2621440, 65536, 4608, 1024};
  static const uint32_t kWindows[] = {65536, 1048576, 4096, 256};
  struct tg_tcp_options tcp;
  tg_tcp_options_default(&tcp);
  tcp.delay_ns = delay_ns(settings->delay);
  tcp.mss = kMss[settings->mss % 4];
  tcp.send_buffer[TG_TCP_SERVER] = kSendBuffers[settings->send_buffer % 4];
  tcp.window[TG_TCP_CLIENT] = kWindows[settings->window % 4];
  return tcp;
}

uint64_t tg_world_settings_call_ns(const struct tg_schedule_settings *settings) {
  static const uint64_t kCalls_ns[] = {1000, 100, 100000, 5000000};
  return kCalls_ns[settings->call_ns % 4];
}

struct failure {
  enum tg_call call;
  int error;
  uint32_t limit;
  bool hard;  // it may cost a connection; otherwise clients must not notice
};

static const struct failure failures[TG_SCHEDULE_FAILURES_COUNT] = {
    [TG_FAILURE_RECV_EINTR] = {TG_CALL_RECV, EINTR, 0, false},
    [TG_FAILURE_RECV_EAGAIN] = {TG_CALL_RECV, EAGAIN, 0, false},
    [TG_FAILURE_RECV_ECONNRESET] = {TG_CALL_RECV, ECONNRESET, 0, true},
    [TG_FAILURE_RECV_ENOMEM] = {TG_CALL_RECV, ENOMEM, 0, true},
    [TG_FAILURE_RECV_SHORT_1] = {TG_CALL_RECV, 0, 1, false},
    [TG_FAILURE_RECV_SHORT_100] = {TG_CALL_RECV, 0, 100, false},
    [TG_FAILURE_SEND_EINTR] = {TG_CALL_SEND, EINTR, 0, false},
    [TG_FAILURE_SEND_EAGAIN] = {TG_CALL_SEND, EAGAIN, 0, false},
    [TG_FAILURE_SEND_ECONNRESET] = {TG_CALL_SEND, ECONNRESET, 0, true},
    [TG_FAILURE_SEND_EPIPE] = {TG_CALL_SEND, EPIPE, 0, true},
    [TG_FAILURE_SEND_ENOBUFS] = {TG_CALL_SEND, ENOBUFS, 0, true},
    [TG_FAILURE_SEND_SHORT_1] = {TG_CALL_SEND, 0, 1, false},
    [TG_FAILURE_SEND_SHORT_100] = {TG_CALL_SEND, 0, 100, false},
    [TG_FAILURE_ACCEPT_EINTR] = {TG_CALL_ACCEPT, EINTR, 0, false},
    [TG_FAILURE_ACCEPT_ECONNABORTED] = {TG_CALL_ACCEPT, ECONNABORTED, 0, false},
    [TG_FAILURE_ACCEPT_EMFILE] = {TG_CALL_ACCEPT, EMFILE, 0, true},
    [TG_FAILURE_ACCEPT_ENFILE] = {TG_CALL_ACCEPT, ENFILE, 0, true},
    [TG_FAILURE_ACCEPT_ENOBUFS] = {TG_CALL_ACCEPT, ENOBUFS, 0, true},
    [TG_FAILURE_ACCEPT_ENOMEM] = {TG_CALL_ACCEPT, ENOMEM, 0, true},
    [TG_FAILURE_SETSOCKOPT_ENOPROTOOPT] = {TG_CALL_SETSOCKOPT, ENOPROTOOPT, 0, false},
    [TG_FAILURE_SETSOCKOPT_EINVAL] = {TG_CALL_SETSOCKOPT, EINVAL, 0, false},
    [TG_FAILURE_SETSOCKOPT_EBADF] = {TG_CALL_SETSOCKOPT, EBADF, 0, false},
    [TG_FAILURE_EPOLL_CTL_ENOMEM] = {TG_CALL_EPOLL_CTL, ENOMEM, 0, true},
    [TG_FAILURE_EPOLL_WAIT_EINTR] = {TG_CALL_EPOLL_WAIT, EINTR, 0, false},
    [TG_FAILURE_SHUTDOWN_ENOTCONN] = {TG_CALL_SHUTDOWN, ENOTCONN, 0, true},
    [TG_FAILURE_CLOSE_EINTR] = {TG_CALL_CLOSE, EINTR, 0, false},
    [TG_FAILURE_MALLOC] = {TG_CALL_MALLOC, ENOMEM, 0, true},
    [TG_FAILURE_ACCEPT_EINVAL] = {TG_CALL_ACCEPT, EINVAL, 0, true},
};

// "All" short transfers of a run. A body of a quarter of a megabyte that is moved a byte at a time takes a second of
// real time, and has nothing new to say behind the first thousands.
#define SHORT_TRANSFERS 8192

static void inject(struct tg_world *world, uint16_t value) {
  const struct failure *failure = &failures[(value & 31) % TG_SCHEDULE_FAILURES_COUNT];
  uint32_t skip = (value >> 5) & 7;
  uint32_t times = value >> 8;
  if (failure->call == TG_CALL_MALLOC) {
    // Of the many allocations of a handshake any may be the one; what follows works again.
    skip = value >> 5;
    times = 1;
  } else if (times == 0 && !failure->hard && failure->error != 0) {
    // A call that is interrupted for ever may be tried for ever.
    times = 255;
  } else if (times == 0 && failure->error == 0) {
    times = SHORT_TRANSFERS;
  }
  world->injected = true;
  world->excused = world->excused || failure->hard;
  world->listener_broken = world->listener_broken || failure == &failures[TG_FAILURE_ACCEPT_EINVAL];
  tg_kernel_inject(
      world->kernel,
      &(struct tg_injection){
          .call = failure->call, .skip = skip, .times = times, .error = failure->error, .limit = failure->limit});
}

void tg_world_limit_fds(struct tg_world *world, uint32_t more) {
  if (more == 0) {
    tg_kernel_set_max_fds(world->kernel, TG_KERNEL_FDS_MAX);
    return;
  }
  world->starved = true;
  // schedule.h: 8 + n.
  uint32_t limit = 8 + more;
  tg_kernel_set_max_fds(world->kernel, limit < TG_KERNEL_FDS_MAX ? limit : TG_KERNEL_FDS_MAX);
}

static void send_raw(struct tg_peer *peer, uint16_t value) {
  uint8_t data[4096];
  size_t len = 1 + value % sizeof(data);
  for (size_t i = 0; i < len; i++) {
    data[i] = (uint8_t)(i * 7 + value);
  }
  tg_peer_raw(peer, data, len);
}

static void send_record(struct tg_peer *peer, uint16_t value) {
  // RFC 8446, 5.1 and 6: type, version, length; alerts are level and description.
  static const struct {
    uint8_t data[20];
    size_t len;
  } records[] = {
      [TG_RECORD_ALERT_WARNING] = {{21, 3, 3, 0, 2, 1, 90}, 7},
      [TG_RECORD_ALERT_FATAL] = {{21, 3, 3, 0, 2, 2, 80}, 7},
      [TG_RECORD_ALERT_CLOSE] = {{21, 3, 3, 0, 2, 1, 0}, 7},
      [TG_RECORD_CCS] = {{20, 3, 3, 0, 1, 1}, 6},
      [TG_RECORD_EMPTY] = {{23, 3, 3, 0, 0}, 5},
      [TG_RECORD_PARTIAL] = {{22, 3, 3, 1, 0, 1, 0, 0}, 8},
      [TG_RECORD_OVERSIZED] = {{23, 3, 3, 0x41, 1}, 5},
      [TG_RECORD_HTTP] = {"GET / HTTP/1.1\r\n\r\n", 18},
  };
  const unsigned kind = (value & 15) % TG_SCHEDULE_RECORDS_COUNT;
  const unsigned times = 1 + ((value >> 4) % 64);
  for (unsigned i = 0; i < times; i++) {
    tg_peer_raw(peer, records[kind].data, records[kind].len);
  }
}

static void replay(struct tg_peer *peer, const struct tg_peer *from) {
  if (peer->tcp != NULL && from->flight_len > 0) {
    // One's own is kept while it is sent.
    uint8_t copy[TG_PEER_FLIGHT_MAX];
    size_t len = from->flight_len;
    memcpy(copy, from->flight, len);
    tg_peer_raw(peer, copy, len);
  }
}

static uint32_t grace_ms(uint16_t value) {
  uint64_t ns = tg_schedule_wait_ns((uint8_t)value);
  return ns == TG_SCHEDULE_REST ? 1000 : (uint32_t)(ns / TG_SIM_NS_PER_MS);
}

static void wind_down(struct tg_world *world, uint16_t value) {
  if (world->path->wind_down == NULL) {
    return;
  }
  world->winding_down = true;
  world->path->wind_down(world->server, grace_ms(value));
}

static uint64_t gap_ns(uint16_t value) {
  uint64_t ns = tg_schedule_wait_ns((uint8_t)value);
  return ns == TG_SCHEDULE_REST ? 0 : ns;
}

void tg_world_step(struct tg_world *world, const struct tg_schedule_step *step) {
  struct tg_peer *peer = &world->peers[step->client % TG_SCHEDULE_CLIENTS_MAX];
  uint16_t value = step->value;
  switch ((enum tg_schedule_action)step->action) {
    case TG_SCHEDULE_WAIT:
      break;
    case TG_SCHEDULE_CONNECT:
      tg_peer_connect(peer, value);
      break;
    case TG_SCHEDULE_REQUEST:
      tg_peer_request(peer, value);
      break;
    case TG_SCHEDULE_CUT:
      peer->cut = value;
      break;
    case TG_SCHEDULE_GAP:
      peer->gap_ns = gap_ns(value);
      break;
    case TG_SCHEDULE_HOLD:
      peer->hold = (value & 1) != 0;
      peer->pushed = 0;
      tg_peer_flush(peer);
      break;
    case TG_SCHEDULE_PUSH:
      tg_peer_push(peer, value);
      break;
    case TG_SCHEDULE_READ:
      tg_peer_set_reading(peer, value);
      break;
    case TG_SCHEDULE_CLOSE_NOTIFY:
      tg_peer_close_notify(peer);
      break;
    case TG_SCHEDULE_HALF_CLOSE:
      if ((value & 1) == 0) {
        tg_peer_close_notify(peer);
      }
      tg_peer_half_close(peer);
      break;
    case TG_SCHEDULE_CLOSE:
      tg_peer_close(peer);
      break;
    case TG_SCHEDULE_RESET:
      tg_peer_reset(peer);
      break;
    case TG_SCHEDULE_FLIP:
      tg_peer_flip(peer, value);
      break;
    case TG_SCHEDULE_RAW:
      send_raw(peer, value);
      break;
    case TG_SCHEDULE_RECORD:
      send_record(peer, value);
      break;
    case TG_SCHEDULE_KEY_UPDATE:
      tg_peer_key_update(peer, (value & 1) != 0);
      break;
    case TG_SCHEDULE_NODELAY:
      if (peer->tcp != NULL) {
        tg_tcp_set_nodelay(peer->tcp, (value & 1) != 0);
      }
      break;
    case TG_SCHEDULE_CORK:
      if (peer->tcp != NULL) {
        tg_tcp_set_cork(peer->tcp, (value & 1) != 0);
      }
      break;
    case TG_SCHEDULE_DELAY:
      if (peer->tcp != NULL) {
        tg_tcp_set_delay(tg_tcp_pair_of(peer->tcp), delay_ns(value));
      }
      break;
    case TG_SCHEDULE_DROP_FLIGHT:
      tg_peer_drop_outbox(peer);
      break;
    case TG_SCHEDULE_REPLAY:
      replay(peer, &world->peers[value % TG_SCHEDULE_CLIENTS_MAX]);
      break;
    case TG_SCHEDULE_INJECT:
      inject(world, value);
      break;
    case TG_SCHEDULE_CLEAR:
      tg_kernel_clear_injections(world->kernel);
      break;
    case TG_SCHEDULE_MAX_FDS:
      tg_world_limit_fds(world, value);
      break;
    case TG_SCHEDULE_WIND_DOWN:
      wind_down(world, value);
      break;
    case TG_SCHEDULE_ACTIONS_COUNT:
      assert(false);
  }
}
