// A simulated kernel: file descriptors, TCP sockets, epoll, eventfd, timerfd, clocks and memory, in virtual time.
//
// A program is put on it by linking //harness/kernel, which brings -Wl,--wrap=CALL for every call of wrap.bzl. Between
// tg_kernel_enter() and tg_kernel_leave() the wrapped calls of this thread are the kernel's; outside they are the real
// ones (the runtimes of sanitizers and fuzzers use them, and so does the driver). A call that is neither modelled nor
// harmless aborts with its name. Single-threaded; no real descriptor, time, thread or randomness: the same input gives
// the same run, always.
//
// The driver plays the network's other side: it connects clients (tg_kernel_connect), uses their ends through tcp.h,
// and has code run at given times (tg_sim_post, TG_SIM_DRIVER). The code under test is turned by the loop of adapter.h.
#ifndef TLSGATE_HARNESS_KERNEL_KERNEL_H
#define TLSGATE_HARNESS_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/kernel/call.h"
#include "harness/kernel/sim.h"
#include "harness/kernel/tcp.h"
#include "harness/kernel/trace.h"

#define TG_KERNEL_FDS_MAX     256u
#define TG_KERNEL_PAIRS_MAX   128u  // connections that exist at once, those in accept queues among them
#define TG_KERNEL_THREADS_MAX 8u
#define TG_KERNEL_FIRST_FD    1000  // so that a modelled descriptor is never taken for a real one

struct tg_kernel;

// What no code under test may do, whatever happens; a breach ends the run (see tg_kernel_set_breach).
typedef void (*tg_kernel_breach)(void *context, const char *property, const char *text);

struct tg_kernel_options {
  uint64_t start_ns;          // CLOCK_MONOTONIC at the start
  int64_t wall_s;             // CLOCK_REALTIME at the start, seconds since the Epoch
  uint64_t call_ns;           // virtual time a system call takes; 1,000 by default. Network events fall due within it
  uint32_t max_fds;           // RLIMIT_NOFILE: descriptors open at once, 1 to TG_KERNEL_FDS_MAX
  uint32_t backlog_max;       // somaxconn
  struct tg_tcp_options tcp;  // of connections from here on
  uint64_t random_seed;       // getrandom
  // Calls at one virtual instant of driver's making (without one network or driver event, or a byte moved) that count
  // as spinning: P10. 100,000 by default.
  uint32_t spin_calls;
  // Calls of a whole run, from one reset to the next; more of them count as endless: P10. 0, the default: no bound.
  uint64_t calls_max;
  FILE *trace;  // all lines; NULL: the last ones are kept
  bool trace_silent;
  // With AddressSanitizer: large blocks that were allocated inside and freed are kept and used again by runs after the
  // next reset, rather than given back to it, which costs more than all else that a short run does. While one is kept
  // any use of it is reported ("use-after-poison"), and so is freeing it twice.
  bool keep_blocks;
};

void tg_kernel_options_default(struct tg_kernel_options *out);

// tg_kernel_create returns a kernel, or NULL when out of memory. One exists at a time.
struct tg_kernel *tg_kernel_create(const struct tg_kernel_options *options);

// tg_kernel_reset puts everything back as after tg_kernel_create: cheaper than making a new one. All connections, fds,
// injections and counts are gone; memory the code under test still holds is forgotten by the books, not freed.
void tg_kernel_reset(struct tg_kernel *kernel, const struct tg_kernel_options *options);
void tg_kernel_destroy(struct tg_kernel *kernel);

// tg_kernel_set_breach: called when the code under test breaks a rule the kernel itself can see: "P1" (use of a closed
// descriptor: EBADF on a call, a double close), "P6" (RST sent by close() while what was sent is not yet read by a peer
// that still reads), "SIGPIPE" (a send that would raise it), "P10" (spinning, or a run without end), "blocks" (a call
// that would wait on a descriptor without O_NONBLOCK), "unmodelled" (an unknown call, option or argument). The default
// prints and aborts. A handler runs with the real calls. It may return: the call then ends as the real one would
// (EPIPE, EBADF, ...), except for a call that is not modelled at all, which aborts. It may also leave by longjmp, to
// where the driver then calls tg_kernel_leave.
void tg_kernel_set_breach(struct tg_kernel *kernel, tg_kernel_breach breach, void *context);

// tg_kernel_enter makes the calls of this thread the kernel's, as simulated thread `thread` (0 to
// TG_KERNEL_THREADS_MAX - 1). tg_kernel_leave ends it. Not nested.
void tg_kernel_enter(struct tg_kernel *kernel, uint32_t thread);
void tg_kernel_leave(struct tg_kernel *kernel);
struct tg_kernel *tg_kernel_current(void);  // NULL outside

// tg_kernel_allow_files lets the calls that are neither modelled nor harmless be the real ones for a while, instead of
// aborting: a server reads its certificates when it is created. Off after a reset.
void tg_kernel_allow_files(struct tg_kernel *kernel, bool allowed);

uint64_t tg_kernel_call_ns(const struct tg_kernel *kernel);  // options.call_ns

struct tg_sim *tg_kernel_sim(struct tg_kernel *kernel);
struct tg_trace *tg_kernel_trace(struct tg_kernel *kernel);

// --- threads ---------------------------------------------------------------------------------------------------------
// epoll_wait with nothing ready does not block: it notes what it waits for and returns 0, so that the driver can go on
// with other threads. The thread is parked until its epoll has an event or its time-out has come.
// tg_kernel_runnable: its loop has not ended (adapter.h), and it is not parked or what it waits for has come.
bool tg_kernel_runnable(struct tg_kernel *kernel, uint32_t thread);
uint64_t tg_kernel_wakes_at(struct tg_kernel *kernel, uint32_t thread);  // its time-out, TG_SIM_NEVER if none

// --- the other side of the network -----------------------------------------------------------------------------------
// tg_kernel_connect connects to `port` with the options' link (NULL: the kernel's). The connection joins the accept
// queue of one listener on that port one delay later (SO_REUSEPORT: by a hash of its number, like
// reuseport_select_sock) and the returned client's end may be used at once. NULL: refused (no listener, queue full, or
// TG_KERNEL_PAIRS_MAX). The client's end lives until the reset; but when all places are taken, a new connection is
// given that of the oldest one that both ends have closed and that nothing is on its way of.
struct tg_tcp *tg_kernel_connect(struct tg_kernel *kernel, uint16_t port, const struct tg_tcp_options *options);

// tg_kernel_socket returns the descriptor of the server's end of a client's connection, or -1: not accepted or closed.
int tg_kernel_socket(const struct tg_kernel *kernel, struct tg_tcp *client);

// tg_kernel_set_reads says whether a client reads what is sent to it (true at first). Closing on one that never meant
// to read is no breach of P6.
void tg_kernel_set_reads(struct tg_kernel *kernel, struct tg_tcp *client, bool reads);

// tg_kernel_accepted says whether a client's connection has left the accept queue, and when.
bool tg_kernel_accepted(const struct tg_kernel *kernel, struct tg_tcp *client, uint64_t *out_at_ns);

// --- faults ----------------------------------------------------------------------------------------------------------
bool tg_kernel_inject(struct tg_kernel *kernel, const struct tg_injection *injection);  // false: TG_INJECTIONS_MAX
void tg_kernel_clear_injections(struct tg_kernel *kernel);
bool tg_kernel_was_hit(const struct tg_kernel *kernel, enum tg_call call);  // some injection has taken effect
void tg_kernel_set_max_fds(struct tg_kernel *kernel, uint32_t max_fds);

// --- books -----------------------------------------------------------------------------------------------------------
uint32_t tg_kernel_open_fds(const struct tg_kernel *kernel);
uint64_t tg_kernel_calls(const struct tg_kernel *kernel, enum tg_call call);  // made since the reset
uint64_t tg_kernel_accepts(const struct tg_kernel *kernel, uint16_t port);    // connections accept4 has returned
// Times that a thread was run again which had parked in epoll_wait: how often a real one would have been woken. An
// epoll_wait that parks is made again when it is run again, so a real thread makes this many fewer.
uint64_t tg_kernel_wakeups(const struct tg_kernel *kernel);
uint64_t tg_kernel_quickacks(const struct tg_kernel *kernel);  // TCP_QUICKACK set to an odd value, and not refused
// Allocations made between enter and leave since the reset, freed or not, and their bytes; one that is moved by realloc
// counts again.
uint64_t tg_kernel_allocations_made(const struct tg_kernel *kernel);
uint64_t tg_kernel_bytes_made(const struct tg_kernel *kernel);
// The most bytes that were held at once since tg_kernel_mark_peak, what was held then included.
void tg_kernel_mark_peak(struct tg_kernel *kernel);
uint64_t tg_kernel_peak_bytes(const struct tg_kernel *kernel);
// Allocations made between enter and leave and not yet freed, and their bytes. What a library allocates for good on its
// first use (an error queue, a generator's state) counts if that is inside: use it once outside first.
// tg_kernel_print_allocations writes number, size and caller of at most 16 of them.
uint64_t tg_kernel_allocations(const struct tg_kernel *kernel);
uint64_t tg_kernel_allocated_bytes(const struct tg_kernel *kernel);
void tg_kernel_print_allocations(const struct tg_kernel *kernel, FILE *to);

// tg_kernel_visit_sockets calls `visit` for every accepted connection whose descriptor is open, in order of descriptor.
typedef void (*tg_kernel_visit)(void *context, int fd, struct tg_tcp *server_end);
void tg_kernel_visit_sockets(struct tg_kernel *kernel, tg_kernel_visit visit, void *context);
// tg_kernel_watched returns the epoll events that `fd` is registered for in any epoll (0: none).
uint32_t tg_kernel_watched(const struct tg_kernel *kernel, int fd);

#endif
