#include "fuzz/examples/handoff/guest.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// So many bytes earn a response its time anew.
#define RESPONSE_BLOCK 65536u

static bool set_up_tls(struct guest *guest) {
  guest->ssl = SSL_new(guest->house->tls);
  BIO *bio = guest->ssl == NULL ? NULL : socket_bio_new(guest->house->bio_method, &guest->plug);
  if (bio == NULL) {
    return false;
  }
  SSL_set_bio(guest->ssl, bio, bio);
  SSL_set_accept_state(guest->ssl);
  return true;
}

struct guest *guest_new(const struct house *house, struct letter letter, uint64_t now_ns) {
  const int on = 1;
  struct guest *guest = malloc(sizeof(*guest));
  if (guest == NULL) {
    close(letter.fd);
    return NULL;
  }
  memset(guest, 0, offsetof(struct guest, head));
  guest->filled = guest->sent = 0;
  guest->out_at = guest->out_len = 0;
  guest->house = house;
  guest->plug.fd = letter.fd;
  guest->state = letter.tls ? GUEST_HELLO : GUEST_HEAD;
  guest->deadline_ns = now_ns + (letter.tls ? house->handshake_ns : house->idle_ns);
  if (letter.tls && !set_up_tls(guest)) {
    ERR_clear_error();
    guest_free(guest);
    return NULL;
  }
  // A response never waits for the client's ACK.
  (void)setsockopt(letter.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return guest;
}

void guest_free(struct guest *guest) {
  SSL_free(guest->ssl);
  close(guest->plug.fd);
  free(guest);
}

static void wait_to_send(struct guest *guest) {
  guest->waits_for = EPOLLOUT;
}

// The client may be about to wait for an ACK before it says more (Nagle), and Linux may be about to delay that: the
// option makes it go, and does not last (tcp(7)).
static void wait_to_receive(struct guest *guest) {
  const int on = 1;
  guest->waits_for = EPOLLIN;
  (void)setsockopt(guest->plug.fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

static void enter(struct guest *guest, enum guest_state state, uint64_t deadline_ns) {
  guest->state = state;
  guest->deadline_ns = deadline_ns;
}

static void end(struct guest *guest, uint64_t now_ns) {
  enter(guest, GUEST_GOODBYE, now_ns + guest->house->drain_ns);
}

// What the TLS library has returned is no progress. Returns false when it is not to be called again before the socket
// has become ready, or at all.
static bool judge_tls(struct guest *guest, int returned, uint64_t now_ns) {
  switch (SSL_get_error(guest->ssl, returned)) {
    case SSL_ERROR_WANT_READ:
      wait_to_receive(guest);
      return false;
    case SSL_ERROR_WANT_WRITE:
      wait_to_send(guest);
      return false;
    case SSL_ERROR_ZERO_RETURN:
      break;
    case SSL_ERROR_SYSCALL:
      // An end without close_notify is one all the same: who has asked has been answered.
      guest->mute = guest->mute || !guest->plug.ended || guest->state == GUEST_HELLO;
      break;
    default:
      // The alert that says why has been sent by now.
      guest->mute = true;
      break;
  }
  if (guest->plug.broken) {
    guest->state = GUEST_GONE;
  } else {
    end(guest, now_ns);
  }
  return true;
}

// Returns how many bytes have come; 0: none, and the state or waits_for has been set. `again` says which.
static size_t receive(struct guest *guest, char *data, size_t len, uint64_t now_ns, bool *again) {
  *again = true;
  if (guest->ssl != NULL) {
    const int got = SSL_read(guest->ssl, data, (int)len);
    if (got <= 0) {
      *again = judge_tls(guest, got, now_ns);
    }
    return got > 0 ? (size_t)got : 0;
  }
  const long got = plug_recv(&guest->plug, data, len);
  if (got == PLUG_BLOCKED) {
    wait_to_receive(guest);
    *again = false;
  } else if (got == PLUG_OVER && guest->plug.broken) {
    guest->state = GUEST_GONE;
  } else if (got == PLUG_OVER) {
    end(guest, now_ns);
  }
  return got > 0 ? (size_t)got : 0;
}

// --- each state: returns whether another step can be done at once ----------------------------------------------------

static bool hello(struct guest *guest, uint64_t now_ns) {
  const int done = SSL_do_handshake(guest->ssl);
  if (done == 1) {
    enter(guest, GUEST_HEAD, now_ns + guest->house->idle_ns);
    return true;
  }
  return judge_tls(guest, done, now_ns);
}

static void begin_reply(struct guest *guest, uint64_t now_ns) {
  const struct answer *answer = &guest->answer;
  guest->filled = guest->sent = 0;
  guest->out_at = 0;
  guest->out_len = (size_t)snprintf(guest->out, sizeof(guest->out), "HTTP/1.1 %d %s\r\nContent-Length: %llu\r\n%s\r\n",
                                    answer->status, request_reason(answer->status),
                                    (unsigned long long)answer->body_len, answer->last ? "Connection: close\r\n" : "");
  enter(guest, GUEST_REPLY, now_ns + guest->house->response_ns);
}

static void begin_answer(struct guest *guest, struct answer answer, uint64_t now_ns) {
  guest->answer = answer;
  if (answer.unread > 0) {
    guest->state = GUEST_BODY;
  } else {
    begin_reply(guest, now_ns);
  }
}

static bool head(struct guest *guest, uint64_t now_ns) {
  const size_t len = request_end(guest->head, guest->head_len);
  if (len > 0) {
    const struct answer answer = request_answer(guest->head, len, guest->house->max_body);
    guest->head_len -= len;
    memmove(guest->head, guest->head + len, guest->head_len);
    begin_answer(guest, answer, now_ns);
    return true;
  }
  if (guest->head_len == sizeof(guest->head)) {
    begin_answer(guest, request_refusal(431), now_ns);
    return true;
  }
  bool again;
  const size_t got =
      receive(guest, guest->head + guest->head_len, sizeof(guest->head) - guest->head_len, now_ns, &again);
  if (guest->head_len == 0 && got > 0) {
    guest->deadline_ns = now_ns + guest->house->request_ns;
  }
  guest->head_len += got;
  return again;
}

// What has come behind the head is the body's beginning.
static size_t take_from_head(struct guest *guest) {
  const uint64_t most = guest->answer.unread;
  const size_t len = guest->head_len < most ? guest->head_len : (size_t)most;
  guest->head_len -= len;
  memmove(guest->head, guest->head + len, guest->head_len);
  return len;
}

static bool body(struct guest *guest, uint64_t now_ns) {
  bool again = true;
  size_t got = take_from_head(guest);
  if (got == 0) {
    const uint64_t left = guest->answer.unread;
    got = receive(guest, guest->out, left < sizeof(guest->out) ? (size_t)left : sizeof(guest->out), now_ns, &again);
  }
  guest->answer.unread -= got;
  if (guest->answer.unread == 0) {
    begin_reply(guest, now_ns);
  }
  return again;
}

static void fill(struct guest *guest) {
  static const char kFiller[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const struct answer *answer = &guest->answer;
  if (guest->out_at == guest->out_len) {
    guest->out_at = guest->out_len = 0;
  }
  if (guest->out_at > 0 || answer->head_only) {
    return;
  }
  while (guest->filled < answer->body_len && guest->out_len < sizeof(guest->out)) {
    const uint64_t left = answer->body_len - guest->filled;
    const size_t room = sizeof(guest->out) - guest->out_len;
    const size_t from = answer->text == NULL ? (size_t)(guest->filled % (sizeof(kFiller) - 1)) : (size_t)guest->filled;
    const char *source = answer->text == NULL ? kFiller + from : answer->text + from;
    const uint64_t run = answer->text == NULL ? sizeof(kFiller) - 1 - from : left;
    size_t len = run < left ? (size_t)run : (size_t)left;
    len = len < room ? len : room;
    memcpy(guest->out + guest->out_len, source, len);
    guest->out_len += len;
    guest->filled += len;
  }
}

// Returns how many bytes have gone; 0: none, and the state or waits_for has been set.
static size_t transmit(struct guest *guest, uint64_t now_ns, bool *again) {
  const char *data = guest->out + guest->out_at;
  const size_t len = guest->out_len - guest->out_at;
  *again = true;
  if (guest->ssl != NULL) {
    const int sent = SSL_write(guest->ssl, data, (int)len);
    if (sent <= 0) {
      *again = judge_tls(guest, sent, now_ns);
    }
    return sent > 0 ? (size_t)sent : 0;
  }
  const long sent = plug_send(&guest->plug, data, len);
  if (sent == PLUG_BLOCKED) {
    wait_to_send(guest);
    *again = false;
  } else if (sent == PLUG_OVER) {
    guest->state = GUEST_GONE;
  }
  return sent > 0 ? (size_t)sent : 0;
}

static void end_reply(struct guest *guest, uint64_t now_ns) {
  if (guest->answer.last) {
    end(guest, now_ns);
  } else {
    const struct house *house = guest->house;
    enter(guest, GUEST_HEAD, now_ns + (guest->head_len > 0 ? house->request_ns : house->idle_ns));
  }
}

static bool reply(struct guest *guest, uint64_t now_ns) {
  // Not while TLS holds on to these very bytes: it is to be given them again.
  fill(guest);
  if (guest->out_len == 0) {
    end_reply(guest, now_ns);
    return true;
  }
  bool again;
  const size_t sent = transmit(guest, now_ns, &again);
  guest->out_at += sent;
  guest->sent += sent;
  if (guest->sent >= RESPONSE_BLOCK) {
    guest->sent = 0;
    guest->deadline_ns = now_ns + guest->house->response_ns;
  }
  return again;
}

static bool goodbye(struct guest *guest) {
  if (guest->ssl != NULL && !guest->mute) {
    const int done = SSL_shutdown(guest->ssl);
    if (done < 0 && SSL_get_error(guest->ssl, done) == SSL_ERROR_WANT_WRITE) {
      wait_to_send(guest);
      return false;
    }
  }
  // With an end of its own and all read, the client is not cut short by close().
  guest->state = guest->plug.broken || shutdown(guest->plug.fd, SHUT_WR) != 0 ? GUEST_GONE : GUEST_DRAIN;
  return true;
}

static bool drain(struct guest *guest) {
  char nowhere[4096];
  const long got = plug_recv(&guest->plug, nowhere, sizeof(nowhere));
  if (got == PLUG_BLOCKED) {
    guest->waits_for = EPOLLIN;
    return false;
  }
  if (got == PLUG_OVER) {
    guest->state = GUEST_GONE;
  }
  return true;
}

static bool one_step(struct guest *guest, uint64_t now_ns) {
  switch (guest->state) {
    case GUEST_HELLO:
      return hello(guest, now_ns);
    case GUEST_HEAD:
      return head(guest, now_ns);
    case GUEST_BODY:
      return body(guest, now_ns);
    case GUEST_REPLY:
      return reply(guest, now_ns);
    case GUEST_GOODBYE:
      return goodbye(guest);
    case GUEST_DRAIN:
      return drain(guest);
    case GUEST_GONE:
      return false;
  }
  assert(false);
  return false;
}

void guest_step(struct guest *guest, uint64_t now_ns) {
  while (one_step(guest, now_ns)) {
  }
  ERR_clear_error();
}

void guest_expire(struct guest *guest, uint64_t now_ns) {
  if (guest->state == GUEST_HEAD || guest->state == GUEST_BODY) {
    end(guest, now_ns);
    guest_step(guest, now_ns);
  } else {
    guest->state = GUEST_GONE;
  }
}
