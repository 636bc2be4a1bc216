// Files, pipes and names: a run has none of them.
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/kernel/refuse.h"

REFUSE(int, creat, (const char *path, mode_t mode), (path, mode))
REFUSE(int, creat64, (const char *path, mode_t mode), (path, mode))
REFUSE(int, __open_2, (const char *path, int flags), (path, flags))
REFUSE(int, __open64_2, (const char *path, int flags), (path, flags))
REFUSE(int, __openat_2, (int folder, const char *path, int flags), (folder, path, flags))
REFUSE(int, __openat64_2, (int folder, const char *path, int flags), (folder, path, flags))
REFUSE(FILE *, fopen, (const char *path, const char *mode), (path, mode))
REFUSE(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
REFUSE(FILE *, fdopen, (int fd, const char *mode), (fd, mode))
REFUSE(FILE *, freopen, (const char *path, const char *mode, FILE *file), (path, mode, file))
REFUSE(FILE *, freopen64, (const char *path, const char *mode, FILE *file), (path, mode, file))
REFUSE(FILE *, tmpfile, (void), ())
REFUSE(FILE *, open_memstream, (char **out, size_t *len), (out, len))
REFUSE(ssize_t, getline, (char **line, size_t *size, FILE *file), (line, size, file))
REFUSE(ssize_t, getdelim, (char **line, size_t *size, int end, FILE *file), (line, size, end, file))
REFUSE(ssize_t, __getdelim, (char **line, size_t *size, int end, FILE *file), (line, size, end, file))
REFUSE(FILE *, popen, (const char *command, const char *mode), (command, mode))
REFUSE(int, mkstemp, (char *path), (path))
REFUSE(int, mkstemp64, (char *path), (path))
REFUSE(int, memfd_create, (const char *name, unsigned flags), (name, flags))
REFUSE(int, stat, (const char *path, struct stat *out), (path, out))
REFUSE(int, stat64, (const char *path, struct stat64 *out), (path, out))
REFUSE(int, lstat, (const char *path, struct stat *out), (path, out))
REFUSE(int, lstat64, (const char *path, struct stat64 *out), (path, out))
REFUSE(int, fstat, (int fd, struct stat *out), (fd, out))
REFUSE(int, fstat64, (int fd, struct stat64 *out), (fd, out))
REFUSE(int, access, (const char *path, int mode), (path, mode))
REFUSE(int, unlink, (const char *path), (path))
REFUSE(int, rename, (const char *from, const char *to), (from, to))
REFUSE(int, mkdir, (const char *path, mode_t mode), (path, mode))
REFUSE(int, ftruncate, (int fd, off_t len), (fd, len))
REFUSE(int, ftruncate64, (int fd, off64_t len), (fd, len))
REFUSE(DIR *, opendir, (const char *path), (path))
REFUSE(ssize_t, readlink, (const char *path, char *out, size_t len), (path, out, len))
REFUSE(char *, realpath, (const char *path, char *out), (path, out))
REFUSE(off_t, lseek, (int fd, off_t at, int whence), (fd, at, whence))
REFUSE(off64_t, lseek64, (int fd, off64_t at, int whence), (fd, at, whence))
REFUSE(ssize_t, pread, (int fd, void *out, size_t len, off_t at), (fd, out, len, at))
REFUSE(ssize_t, pread64, (int fd, void *out, size_t len, off64_t at), (fd, out, len, at))
REFUSE(ssize_t, __pread_chk, (int fd, void *out, size_t len, off_t at, size_t size), (fd, out, len, at, size))
REFUSE(ssize_t, __pread64_chk, (int fd, void *out, size_t len, off64_t at, size_t size), (fd, out, len, at, size))
REFUSE(ssize_t, pwrite, (int fd, const void *data, size_t len, off_t at), (fd, data, len, at))
REFUSE(ssize_t, pwrite64, (int fd, const void *data, size_t len, off64_t at), (fd, data, len, at))
REFUSE(ssize_t, preadv, (int fd, const struct iovec *parts, int num, off_t at), (fd, parts, num, at))
REFUSE(ssize_t, preadv64, (int fd, const struct iovec *parts, int num, off64_t at), (fd, parts, num, at))
REFUSE(ssize_t, pwritev, (int fd, const struct iovec *parts, int num, off_t at), (fd, parts, num, at))
REFUSE(ssize_t, pwritev64, (int fd, const struct iovec *parts, int num, off64_t at), (fd, parts, num, at))
REFUSE(ssize_t, sendfile, (int out, int in, off_t *at, size_t len), (out, in, at, len))
REFUSE(ssize_t, sendfile64, (int out, int in, off64_t *at, size_t len), (out, in, at, len))
REFUSE(ssize_t, splice, (int in, off64_t *in_at, int out, off64_t *out_at, size_t len, unsigned flags),
       (in, in_at, out, out_at, len, flags))
REFUSE(ssize_t, tee, (int in, int out, size_t len, unsigned flags), (in, out, len, flags))
REFUSE(ssize_t, vmsplice, (int fd, const struct iovec *parts, size_t num, unsigned flags), (fd, parts, num, flags))
REFUSE(int, pipe, (int ends[2]), (ends))
REFUSE(int, pipe2, (int ends[2], int flags), (ends, flags))
REFUSE(int, dup, (int fd), (fd))
REFUSE(int, dup2, (int fd, int to), (fd, to))
REFUSE(int, dup3, (int fd, int to, int flags), (fd, to, flags))
REFUSE(int, close_range, (unsigned first, unsigned last, int flags), (first, last, flags))
REFUSE_VOID(closefrom, (int first), (first))
REFUSE(int, getaddrinfo, (const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **out),
       (node, service, hints, out))
REFUSE(int, getnameinfo,
       (const struct sockaddr *address, socklen_t len, char *host, socklen_t host_len, char *service,
        socklen_t service_len, int flags),
       (address, len, host, host_len, service, service_len, flags))
REFUSE(struct hostent *, gethostbyname, (const char *name), (name))
REFUSE(int, gethostname, (char *out, size_t len), (out, len))

// With O_CREAT or O_TMPFILE a mode follows; without, the real call does not look at it.
#define REFUSE_OPEN(name)                                        \
  int __real_##name(const char *path, int flags, ...);           \
  int __wrap_##name(const char *path, int flags, ...);           \
  TG_PLAIN int __wrap_##name(const char *path, int flags, ...) { \
    va_list args;                                                \
    va_start(args, flags);                                       \
    mode_t mode = va_arg(args, mode_t);                          \
    va_end(args);                                                \
    tg_refuse_inside(#name);                                     \
    return __real_##name(path, flags, mode);                     \
  }
REFUSE_OPEN(open)
REFUSE_OPEN(open64)

#define REFUSE_OPENAT(name)                                                  \
  int __real_##name(int folder, const char *path, int flags, ...);           \
  int __wrap_##name(int folder, const char *path, int flags, ...);           \
  TG_PLAIN int __wrap_##name(int folder, const char *path, int flags, ...) { \
    va_list args;                                                            \
    va_start(args, flags);                                                   \
    mode_t mode = va_arg(args, mode_t);                                      \
    va_end(args);                                                            \
    tg_refuse_inside(#name);                                                 \
    return __real_##name(folder, path, flags, mode);                         \
  }
REFUSE_OPENAT(openat)
REFUSE_OPENAT(openat64)
