// Other ways to wait, other sockets, threads, processes and signals: a run has none of them.
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/kernel/refuse.h"

REFUSE(int, poll, (struct pollfd * fds, nfds_t num, int timeout_ms), (fds, num, timeout_ms))
REFUSE(int, __poll_chk, (struct pollfd * fds, nfds_t num, int timeout_ms, size_t size), (fds, num, timeout_ms, size))
REFUSE(int, ppoll, (struct pollfd * fds, nfds_t num, const struct timespec *timeout, const sigset_t *mask),
       (fds, num, timeout, mask))
REFUSE(int, __ppoll_chk,
       (struct pollfd * fds, nfds_t num, const struct timespec *timeout, const sigset_t *mask, size_t size),
       (fds, num, timeout, mask, size))
REFUSE(int, select, (int num, fd_set *in, fd_set *out, fd_set *err, struct timeval *timeout),
       (num, in, out, err, timeout))
REFUSE(int, pselect,
       (int num, fd_set *in, fd_set *out, fd_set *err, const struct timespec *timeout, const sigset_t *mask),
       (num, in, out, err, timeout, mask))
REFUSE(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
REFUSE(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
       (clock, flags, time, left))
REFUSE(int, usleep, (useconds_t us), (us))
REFUSE(unsigned, sleep, (unsigned seconds), (seconds))
REFUSE(int, sched_yield, (void), ())
REFUSE(int, pause, (void), ())

REFUSE(int, socketpair, (int family, int type, int protocol, int ends[2]), (family, type, protocol, ends))
REFUSE(int, connect, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len))
REFUSE(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned num, int flags, struct timespec *timeout),
       (fd, messages, num, flags, timeout))
REFUSE(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned num, int flags), (fd, messages, num, flags))

REFUSE(int, pthread_create, (pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *data),
       (thread, attr, run, data))
REFUSE(int, pthread_join, (pthread_t thread, void **result), (thread, result))
REFUSE(int, pthread_cond_wait, (pthread_cond_t * cond, pthread_mutex_t *mutex), (cond, mutex))
REFUSE(int, pthread_cond_timedwait, (pthread_cond_t * cond, pthread_mutex_t *mutex, const struct timespec *until),
       (cond, mutex, until))
REFUSE(int, sem_wait, (sem_t * sem), (sem))
REFUSE(int, sem_timedwait, (sem_t * sem, const struct timespec *until), (sem, until))

REFUSE(pid_t, fork, (void), ())
REFUSE(int, posix_spawn,
       (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
        char *const argv[], char *const env[]),
       (pid, path, actions, attr, argv, env))
REFUSE(int, posix_spawnp,
       (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
        char *const argv[], char *const env[]),
       (pid, file, actions, attr, argv, env))
REFUSE(int, execve, (const char *path, char *const argv[], char *const env[]), (path, argv, env))
REFUSE(int, execv, (const char *path, char *const argv[]), (path, argv))
REFUSE(int, execvp, (const char *file, char *const argv[]), (file, argv))
REFUSE(int, system, (const char *command), (command))
REFUSE(pid_t, wait, (int *status), (status))
REFUSE(pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags))
REFUSE(pid_t, getpid, (void), ())
REFUSE(pid_t, gettid, (void), ())

REFUSE(int, kill, (pid_t pid, int signal), (pid, signal))
REFUSE(int, raise, (int signal), (signal))
REFUSE(sighandler_t, signal, (int signal, sighandler_t handler), (signal, handler))
// Handlers are outside the run that a signal interrupts: they are the fuzzer's, whose timer ends an input that takes
// too long and writes it down, with calls that a run must not make. In this file, as a runtime's weak reference to
// sigaction does not link one of its own.
int __real_sigaction(int signal, const struct sigaction *action, struct sigaction *old);
int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *old);

static struct sigaction asked[NSIG];  // what the handlers were to be

TG_PLAIN static void outside(int signal, siginfo_t *info, void *context) {
  struct tg_kernel *interrupted = tg_kernel_inside;
  tg_kernel_inside = NULL;
  if ((asked[signal].sa_flags & SA_SIGINFO) != 0) {
    asked[signal].sa_sigaction(signal, info, context);
  } else {
    asked[signal].sa_handler(signal);
  }
  tg_kernel_inside = interrupted;
}

TG_PLAIN static bool handles(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) != 0 || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

TG_PLAIN int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
  tg_refuse_inside("sigaction");
  if (signal <= 0 || signal >= NSIG) {
    return __real_sigaction(signal, action, old);
  }
  const struct sigaction before = asked[signal];
  struct sigaction ours;
  if (action != NULL) {
    ours = *action;
    if (handles(action)) {
      asked[signal] = *action;
      ours.sa_sigaction = outside;
      ours.sa_flags |= SA_SIGINFO;
    }
  }
  int result = __real_sigaction(signal, action != NULL ? &ours : NULL, old);
  if (result != 0) {
    asked[signal] = before;
  } else if (old != NULL && (old->sa_flags & SA_SIGINFO) != 0 && old->sa_sigaction == outside) {
    *old = before;
  }
  return result;
}

REFUSE(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old))
REFUSE(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old))
REFUSE(int, sigwait, (const sigset_t *set, int *signal), (set, signal))
REFUSE(int, signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
REFUSE(unsigned, alarm, (unsigned seconds), (seconds))
REFUSE(int, setitimer, (enum __itimer_which which, const struct itimerval *value, struct itimerval *old),
       (which, value, old))
REFUSE(int, timer_create, (clockid_t clock, struct sigevent *event, timer_t *timer), (clock, event, timer))

// What differs from one run to the next.
REFUSE(clock_t, clock, (void), ())
REFUSE(clock_t, times, (struct tms * out), (out))
REFUSE(int, clock_getres, (clockid_t clock, struct timespec *out), (clock, out))
REFUSE(int, getrusage, (enum __rusage_who who, struct rusage *out), (who, out))
REFUSE(int, getrlimit, (enum __rlimit_resource resource, struct rlimit *out), (resource, out))
REFUSE(int, getrlimit64, (enum __rlimit_resource resource, struct rlimit64 *out), (resource, out))
REFUSE(int, setrlimit, (enum __rlimit_resource resource, const struct rlimit *limit), (resource, limit))
REFUSE(int, setrlimit64, (enum __rlimit_resource resource, const struct rlimit64 *limit), (resource, limit))
REFUSE(struct tm *, localtime, (const time_t *time), (time))
REFUSE(struct tm *, localtime_r, (const time_t *time, struct tm *out), (time, out))
REFUSE(int, rand, (void), ())
REFUSE(long, random, (void), ())
REFUSE(uint32_t, arc4random, (void), ())
REFUSE(uint32_t, arc4random_uniform, (uint32_t bound), (bound))
REFUSE_VOID(arc4random_buf, (void *out, size_t len), (out, len))
