// The simulated kernel from the inside: what its parts share. Nobody outside this folder includes it.
#ifndef TLSGATE_HARNESS_KERNEL_STATE_H
#define TLSGATE_HARNESS_KERNEL_STATE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "harness/kernel/kernel.h"

#define TG_WATCHES_MAX 1024u  // registrations in all epolls together: max_user_watches, so to speak
#define TG_PORTS_MAX   64u    // distinct ports listened on in one run

#define TG_TIMER_EVENTS 8u  // of one timer that are remembered

enum tg_file_kind {
  TG_FILE_FREE,
  TG_FILE_SOCKET,  // a TCP socket that is neither connected nor listening
  TG_FILE_LISTENER,
  TG_FILE_CONN,
  TG_FILE_EPOLL,
  TG_FILE_EVENTFD,
  TG_FILE_TIMERFD,
};

struct tg_file;

// A registration: struct epitem.
struct tg_watch {
  struct tg_file *epoll;
  struct tg_file *file;
  uint32_t events;  // EPOLLET, EPOLLONESHOT and EPOLLEXCLUSIVE among them
  bool disarmed;    // EPOLLONESHOT has fired
  bool ready;       // on the epoll's ready list
  uint64_t data;
  struct tg_watch *next_of_file;
  struct tg_watch *next_of_epoll;
  struct tg_watch *ready_prev;
  struct tg_watch *ready_next;
};

struct tg_epoll {
  struct tg_watch *watches;
  struct tg_watch *ready_head;
  struct tg_watch *ready_tail;
};

// The options of a socket that its connections inherit, and the accept queue of one that listens.
struct tg_socket {
  sa_family_t family;
  bool bound;
  bool any_address;
  uint8_t address[16];  // of 4 or 16 bytes, network order
  uint16_t port;
  bool reuse_address;
  bool reuse_port;
  bool keepalive;
  bool v6only;
  bool nodelay;
  bool cork;
  bool pingpong;  // TCP_QUICKACK 0
  uint32_t send_buffer;
  uint32_t receive_buffer;  // 0: the options of the connection
  struct linger linger;
  uint32_t backlog;
  uint32_t pending;      // connections that are in the queue or have a place in it
  uint64_t group_order;  // place in its port's SO_REUSEPORT group
  struct tg_connection *queue_head;
  struct tg_connection *queue_tail;
};

enum tg_connection_state {
  TG_CONNECTION_NONE,      // the place is free
  TG_CONNECTION_ARRIVING,  // the last ACK of the three-way handshake is on its way
  TG_CONNECTION_QUEUED,    // waits for accept4
  TG_CONNECTION_ACCEPTED,
  TG_CONNECTION_CLOSED,  // by the server; its end lives on until both are finished
};

struct tg_connection {
  enum tg_connection_state state;
  struct tg_kernel *kernel;
  uint32_t number;
  struct tg_tcp_pair *pair;
  struct tg_tcp *end;    // the server's
  struct tg_tcp *other;  // the client's
  uint16_t port;
  struct tg_file *listener;    // while ARRIVING or QUEUED
  struct tg_connection *next;  // in the queue
  struct tg_file *file;        // while ACCEPTED
  struct tg_socket options;    // copied from the listener
  uint64_t accepted_at_ns;
  bool was_accepted;
  bool unread_by_design;  // tg_kernel_set_reads(false): an RST cuts nothing that anyone would read
};

struct tg_eventfd {
  uint64_t count;
  bool semaphore;
};

struct tg_timerfd {
  int clock;
  uint64_t first_ns;     // CLOCK_MONOTONIC of the next expiry, TG_SIM_NEVER: disarmed
  uint64_t interval_ns;  // 0: once
  bool expired;
  uint64_t number;  // by which its events know it
  // When its events are posted for: the earliest last. A server that moves its timer on with each request must not have
  // an event of its own for each.
  uint64_t posted_ns[TG_TIMER_EVENTS];
  uint32_t num_posted;
};

struct tg_file {
  enum tg_file_kind kind;
  int fd;
  bool was_open;  // since the reset
  bool nonblock;
  bool cloexec;
  struct tg_watch *watches;  // of this file, in any epoll
  union {
    struct tg_socket socket;
    struct tg_connection *conn;
    struct tg_epoll epoll;
    struct tg_eventfd eventfd;
    struct tg_timerfd timerfd;
  };
};

struct tg_thread {
  bool parked;
  bool woken;             // since it parked, by an event: it is no longer among those who wait
  bool ended;             // adapter.h
  struct tg_file *epoll;  // that it waits on
  uint64_t wakes_at_ns;
};

struct tg_installed {
  struct tg_injection what;
  uint64_t seen;
};

struct tg_port {
  uint16_t port;
  uint64_t accepts;
};

struct tg_allocation {
  void *pointer;
  size_t size;
  uint64_t number;
  void *caller;
  uint64_t generation;  // of the books; another one: the place is free
};

// Allocations by address: open addressing, so that a reset need only count up the generation.
struct tg_books {
  struct tg_allocation *places;
  size_t num_places;  // a power of two
  uint64_t generation;
  uint64_t live;
  uint64_t live_bytes;
  uint64_t made;
  uint64_t made_bytes;
  uint64_t peak_bytes;  // the most that live_bytes has been since the last tg_kernel_mark_peak
};

#define TG_KEPT_BLOCKS_MAX 16u

// Large blocks that were freed: options.keep_blocks.
struct tg_kept_blocks {
  struct tg_kept_block {
    void *pointer;
    size_t size;
  } blocks[TG_KEPT_BLOCKS_MAX];  // in the order they were freed in
  size_t num;
  size_t num_old;  // the first of them, freed before the last reset: these are used again
  uint64_t bits;   // of their addresses
};

struct tg_kernel {
  struct tg_kernel_options options;
  struct tg_sim sim;
  struct tg_trace trace;
  tg_kernel_breach breach;
  void *breach_context;
  int saved_errno;
  bool entered;
  bool files_allowed;
  uint32_t thread;      // that is inside
  bool hit_now;         // the present call is one that an injection has hit
  uint64_t calls_made;  // since the reset
  uint64_t idle_calls;
  uint64_t events_seen;
  bool spun;
  uint64_t random_state;
  uint64_t timers_made;
  uint64_t group_orders;
  uint32_t connections_made;
  uint16_t next_port;
  uint32_t num_open;
  uint32_t lowest_free;
  uint32_t files_used;        // places of `files` that are not as after the creation
  uint32_t connections_used;  // likewise
  uint32_t watches_used;
  struct tg_watch *free_watches;
  uint32_t num_ports;
  uint32_t num_injections;
  const void *adapter_server;  // whose threads `ended` speaks of
  uint64_t calls[TG_CALL_COUNT];
  uint64_t wakeups;
  uint64_t quickacks;
  bool hit[TG_CALL_COUNT];
  struct tg_thread threads[TG_KERNEL_THREADS_MAX];
  struct tg_installed injections[TG_INJECTIONS_MAX];
  struct tg_port ports[TG_PORTS_MAX];
  struct tg_file files[TG_KERNEL_FDS_MAX];
  struct tg_connection connections[TG_KERNEL_PAIRS_MAX];
  struct tg_watch watches[TG_WATCHES_MAX];
  struct tg_books books;
  struct tg_kept_blocks kept;
  char *scratch;  // for readv and writev
  size_t scratch_size;
};

// --- call.c: what every modelled call begins and ends with ---------------------------------------------------------

// tg_call_begin counts the call, lets its time pass (network events included), and returns 0 or the error number that
// an injection gives it. `limit` (may be NULL) is lowered to what an injection lets RECV and SEND move.
int tg_call_begin(struct tg_kernel *kernel, enum tg_call call, size_t *limit);

// tg_call_end traces the call, `format` saying it with its arguments, and returns `result` (a negative error number for
// a failure).
__attribute__((format(printf, 3, 4))) long tg_call_end(struct tg_kernel *kernel, long result, const char *format, ...);

// tg_inject counts a call for the injections and returns the error number that one of them gives it, or 0.
int tg_inject(struct tg_kernel *kernel, enum tg_call call, size_t *limit);

// tg_call_progress says that something has moved: what the code does is not spinning.
void tg_call_progress(struct tg_kernel *kernel);

// tg_refuse aborts a run in which a call was made that is not modelled.
_Noreturn void tg_refuse(struct tg_kernel *kernel, const char *call);

// tg_breach reports a breach. It returns if the handler does.
__attribute__((format(printf, 3, 4))) void tg_breach(struct tg_kernel *kernel, const char *property, const char *format,
                                                     ...);

// --- fds.c -----------------------------------------------------------------------------------------------------------

// tg_file_open takes the lowest free descriptor (get_unused_fd_flags), or returns NULL: EMFILE.
struct tg_file *tg_file_open(struct tg_kernel *kernel, enum tg_file_kind kind, bool nonblock, bool cloexec);
bool tg_file_room(const struct tg_kernel *kernel);

// tg_file_free gives the descriptor back, with its registrations. What the file is must have been closed.
void tg_file_free(struct tg_kernel *kernel, struct tg_file *file);

// tg_file_get returns the open file, or NULL after a breach of P1: the call fails with EBADF. `call` names it.
struct tg_file *tg_file_get(struct tg_kernel *kernel, int fd, const char *call);

// tg_file_at returns the open file or NULL.
struct tg_file *tg_file_at(struct tg_kernel *kernel, int fd);

// tg_would_block answers for a call that cannot go on now: -EAGAIN, after a breach if the descriptor (or the call)
// would have it wait.
long tg_would_block(struct tg_kernel *kernel, const struct tg_file *file, bool dontwait, const char *call);

// tg_file_poll returns what poll would: EPOLLIN and so on.
uint32_t tg_file_poll(const struct tg_file *file);

// --- epoll.c ---------------------------------------------------------------------------------------------------------

// tg_file_wake tells the epolls that watch the file (ep_poll_callback). `key`: the events, 0 for any.
void tg_file_wake(struct tg_kernel *kernel, struct tg_file *file, uint32_t key);
void tg_epoll_forget_file(struct tg_kernel *kernel, struct tg_file *file);
void tg_epoll_close(struct tg_kernel *kernel, struct tg_file *epoll);
bool tg_epoll_available(
    struct tg_file *epoll);  // some event is there; drops what is on the ready list and is not ready

// --- socket.c, listener.c, connection.c
// ----------------------------------------------------------------------------------------

void tg_listener_join(struct tg_connection *conn);  // the three-way handshake ends at the server
void tg_listener_close(struct tg_kernel *kernel, struct tg_file *file);
// tg_listener_choose returns the listener that a new connection to `port` goes to, or NULL.
struct tg_file *tg_listener_choose(struct tg_kernel *kernel, uint16_t port, uint32_t hash);
uint32_t tg_connection_poll(const struct tg_connection *conn);
void tg_connection_close(struct tg_kernel *kernel, struct tg_connection *conn);
void tg_connection_notify(void *context, struct tg_tcp *end, unsigned changes);
void tg_connections_reset(struct tg_kernel *kernel);

void tg_loopback(sa_family_t family, uint8_t out[16]);  // 127.0.0.1 or ::1
uint16_t tg_connection_peer_port(const struct tg_connection *conn);
bool tg_socket_conflicts(const struct tg_kernel *kernel, const struct tg_file *file);  // its port is another's

// tg_address_write stores an address as move_addr_to_user does: cut at *len, which becomes the full length.
void tg_address_write(sa_family_t family, const uint8_t *address, uint16_t port, struct sockaddr *out, socklen_t *len);

// --- books -----------------------------------------------------------------------------------------------------------

void tg_books_reset(struct tg_books *books);
void tg_books_free(struct tg_books *books);
void tg_books_add(struct tg_books *books, void *pointer, size_t size, void *caller);
bool tg_books_remove(struct tg_books *books, void *pointer, struct tg_allocation *out);  // false: not in them
bool tg_books_find(const struct tg_books *books, const void *pointer, struct tg_allocation *out);
bool tg_memory_fails(struct tg_kernel *kernel);  // counts an allocation; true: it is made to fail

// --- kept_blocks.c ---------------------------------------------------------------------------------------------------

// tg_kept_blocks_put keeps a block that is being freed and must be as it was allocated. Returns false if it is not one
// to keep: the caller frees it.
bool tg_kept_blocks_put(struct tg_kernel *kernel, void *pointer, size_t size);

// tg_kept_blocks_take returns a block of exactly that size, with whatever is in it, or NULL.
void *tg_kept_blocks_take(struct tg_kernel *kernel, size_t size);

// tg_kept_blocks_give_back frees a block that is kept; any other pointer is left alone. To be called before the
// allocator is handed a pointer that is not in the books: freed twice, it is then the allocator that says so.
void tg_kept_blocks_give_back(struct tg_kernel *kernel, void *pointer);

void tg_kept_blocks_reset(struct tg_kernel *kernel);
void tg_kept_blocks_free(struct tg_kernel *kernel);

// --- timerfd.c, clocks.c ---------------------------------------------------------------------------------------------

uint64_t tg_timerfd_take(struct tg_kernel *kernel, struct tg_timerfd *timer);  // expirations; starts an interval again
uint64_t tg_clock_wall_ns(const struct tg_kernel *kernel);                     // CLOCK_REALTIME

#endif
