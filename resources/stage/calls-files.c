/*
 * Calls that open, close and copy descriptors, and calls that create other descriptors: the map must track all of them, or a
 * reused number would be taken for its former managed file.
 */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define SLOT(name) _Atomic(void *) real_##name;

/* Checked variants of glibc, which its headers declare only when they use them. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);

/*
 * Records a new descriptor and its place. Unmanaged files are not recorded, so that they cost nothing; unmanaged directories
 * are, for paths relative to them.
 */
static int opened(enum call c, int fd, place p, int flags) {
  if (fd < 0) report_error(c);
  else if (is_managed(p) || (p == PLACE_OUTSIDE && (flags & (O_DIRECTORY | O_PATH)))) fd_put(fd, p);
  else fd_put(fd, PLACE_UNKNOWN);
  return fd;
}

static int other(int fd) {
  if (fd >= 0 && is_managed(fd_place(fd))) fd_put(fd, PLACE_UNKNOWN);
  return fd;
}

static mode_t mode_of(int flags, va_list args) {
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

#define WITH_MODE                                                                                                      \
  va_list args;                                                                                                        \
  va_start(args, flags);                                                                                               \
  mode_t mode = mode_of(flags, args);                                                                                  \
  va_end(args);

#define DEFINE_OPEN(name, call, extra)                                                                                 \
  SLOT(name)                                                                                                           \
  EXPORT int name(const char *path, int flags, ...) {                                                                  \
    WITH_MODE                                                                                                          \
    place p = gate_path(CALL_##call, AT_FDCWD, path, 1);                                                               \
    __typeof__(&name) f = REAL(name);                                                                                  \
    int fd = f ? f(path, flags, mode) : (int)syscall(SYS_openat, AT_FDCWD, path, flags | (extra), mode);               \
    return opened(CALL_##call, fd, p, flags);                                                                                 \
  }
DEFINE_OPEN(open, open, 0)
DEFINE_OPEN(open64, open64, O_LARGEFILE)

#define DEFINE_OPENAT(name, extra)                                                                                     \
  SLOT(name)                                                                                                           \
  EXPORT int name(int dirfd, const char *path, int flags, ...) {                                                       \
    WITH_MODE                                                                                                          \
    place p = gate_path(CALL_openat, dirfd, path, 1);                                                                  \
    __typeof__(&name) f = REAL(name);                                                                                  \
    int fd = f ? f(dirfd, path, flags, mode) : (int)syscall(SYS_openat, dirfd, path, flags | (extra), mode);           \
    return opened(CALL_openat, fd, p, flags);                                                                                 \
  }
DEFINE_OPENAT(openat, 0)
DEFINE_OPENAT(openat64, O_LARGEFILE)

#define DEFINE_OPEN_2(name, call, extra)                                                                               \
  SLOT(name)                                                                                                           \
  EXPORT int name(const char *path, int flags) {                                                                       \
    place p = gate_path(CALL_##call, AT_FDCWD, path, 1);                                                               \
    __typeof__(&name) f = REAL(name);                                                                                  \
    int fd = f ? f(path, flags) : (int)syscall(SYS_openat, AT_FDCWD, path, flags | (extra), 0);                        \
    return opened(CALL_##call, fd, p, flags);                                                                                 \
  }
DEFINE_OPEN_2(__open_2, open, 0)
DEFINE_OPEN_2(__open64_2, open64, O_LARGEFILE)

#define DEFINE_OPENAT_2(name, extra)                                                                                   \
  SLOT(name)                                                                                                           \
  EXPORT int name(int dirfd, const char *path, int flags) {                                                            \
    place p = gate_path(CALL_openat, dirfd, path, 1);                                                                  \
    __typeof__(&name) f = REAL(name);                                                                                  \
    int fd = f ? f(dirfd, path, flags) : (int)syscall(SYS_openat, dirfd, path, flags | (extra), 0);                    \
    return opened(CALL_openat, fd, p, flags);                                                                                 \
  }
DEFINE_OPENAT_2(__openat_2, 0)
DEFINE_OPENAT_2(__openat64_2, O_LARGEFILE)

#define DEFINE_CREAT(name, extra)                                                                                      \
  SLOT(name)                                                                                                           \
  EXPORT int name(const char *path, mode_t mode) {                                                                     \
    place p = gate_path(CALL_##name, AT_FDCWD, path, 1);                                                               \
    __typeof__(&name) f = REAL(name);                                                                                  \
    int flags = O_CREAT | O_WRONLY | O_TRUNC | (extra);                                                                \
    int fd = f ? f(path, mode) : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                                \
    return opened(CALL_##name, fd, p, flags);                                                                                 \
  }
DEFINE_CREAT(creat, 0)
DEFINE_CREAT(creat64, O_LARGEFILE)

SLOT(close)
EXPORT int close(int fd) {
  __typeof__(&close) f = REAL(close);
  if (gate_ready()) {
    gate_fd(CALL_close, fd, 1);
    /* Forgotten first: another thread may get the number as soon as it is free. */
    if (fd_place(fd) != PLACE_UNKNOWN) fd_put(fd, PLACE_UNKNOWN);
  }
  int r = f ? f(fd) : (int)syscall(SYS_close, fd);
  if (r < 0) report_error(CALL_close);
  return r;
}

EXPORT int close_range(unsigned first, unsigned last, int flags) {
  int r = (int)syscall(SYS_close_range, first, last, flags);
  /* With CLOSE_RANGE_CLOEXEC nothing is closed yet. */
  if (r == 0 && !(flags & 4) && gate_ready()) fd_forget_range(first, last);
  return r;
}

void closefrom(int first);
SLOT(closefrom)
EXPORT void closefrom(int first) {
  __typeof__(&closefrom) f = REAL(closefrom);
  if (f) f(first);
  else syscall(SYS_close_range, first < 0 ? 0 : first, ~0u, 0);
  if (gate_ready()) fd_forget_range(first < 0 ? 0 : (unsigned)first, ~0u);
}

/* Copies: both numbers refer to the same file. */
static int copied(int from, int to) {
  if (to >= 0 && gate_ready()) fd_put(to, fd_place(from));
  return to;
}

SLOT(dup)
EXPORT int dup(int fd) {
  __typeof__(&dup) f = REAL(dup);
  return copied(fd, f ? f(fd) : (int)syscall(SYS_dup, fd));
}

SLOT(dup2)
EXPORT int dup2(int from, int to) {
  __typeof__(&dup2) f = REAL(dup2);
  if (f) return copied(from, f(from, to));
  if (from == to) return fcntl(from, F_GETFD) < 0 ? -1 : to;
  return copied(from, (int)syscall(SYS_dup3, from, to, 0));
}

SLOT(dup3)
EXPORT int dup3(int from, int to, int flags) {
  __typeof__(&dup3) f = REAL(dup3);
  return copied(from, f ? f(from, to, flags) : (int)syscall(SYS_dup3, from, to, flags));
}

#define DEFINE_FCNTL(name)                                                                                             \
  SLOT(name)                                                                                                           \
  EXPORT int name(int fd, int command, ...) {                                                                          \
    va_list args;                                                                                                      \
    va_start(args, command);                                                                                           \
    void *value = va_arg(args, void *);                                                                                \
    va_end(args);                                                                                                      \
    __typeof__(&name) f = REAL(name);                                                                                  \
    int r = f ? f(fd, command, value) : (int)syscall(SYS_fcntl, fd, command, value);                                   \
    if (r >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) copied(fd, r);                                   \
    return r;                                                                                                          \
  }
DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

#define DEFINE_FOPEN(name)                                                                                             \
  SLOT(name)                                                                                                           \
  EXPORT FILE *name(const char *path, const char *mode) {                                                              \
    place p = gate_path(CALL_##name, AT_FDCWD, path, 1);                                                               \
    __typeof__(&name) f = REAL(name);                                                                                  \
    FILE *file = f ? f(path, mode) : NULL;                                                                             \
    if (file) opened(CALL_##name, fileno(file), p, 0);                                                                                 \
    else report_error(CALL_##name);                                                                                    \
    return file;                                                                                                       \
  }
DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

#define DEFINE_FREOPEN(name, call)                                                                                     \
  SLOT(name)                                                                                                           \
  EXPORT FILE *name(const char *path, const char *mode, FILE *old) {                                                   \
    int before = old ? fileno(old) : -1;                                                                               \
    place p = path ? gate_path(CALL_##call, AT_FDCWD, path, 1) : fd_place(before);                                     \
    __typeof__(&name) f = REAL(name);                                                                                  \
    if (before >= 0) fd_put(before, PLACE_UNKNOWN);                                                                    \
    FILE *file = f ? f(path, mode, old) : NULL;                                                                        \
    if (file) opened(CALL_##call, fileno(file), p, 0);                                                                                 \
    else report_error(CALL_##call);                                                                                    \
    return file;                                                                                                       \
  }
DEFINE_FREOPEN(freopen, fopen)
DEFINE_FREOPEN(freopen64, fopen64)

SLOT(fclose)
EXPORT int fclose(FILE *file) {
  __typeof__(&fclose) f = REAL(fclose);
  int kept = errno;
  int fd = file ? fileno(file) : -1;
  errno = kept;
  gate_fd(CALL_fclose, fd, 1);
  if (fd_place(fd) != PLACE_UNKNOWN) fd_put(fd, PLACE_UNKNOWN);
  int r = f ? f(file) : EOF;
  if (r != 0) report_error(CALL_fclose);
  return r;
}

SLOT(opendir)
EXPORT DIR *opendir(const char *path) {
  place p = gate_path(CALL_opendir, AT_FDCWD, path, 1);
  __typeof__(&opendir) f = REAL(opendir);
  DIR *d = f ? f(path) : NULL;
  if (d) opened(CALL_opendir, dirfd(d), p, O_DIRECTORY);
  else report_error(CALL_opendir);
  return d;
}

SLOT(closedir)
EXPORT int closedir(DIR *d) {
  __typeof__(&closedir) f = REAL(closedir);
  int fd = d ? dirfd(d) : -1;
  gate_fd(CALL_closedir, fd, 1);
  if (fd_place(fd) != PLACE_UNKNOWN) fd_put(fd, PLACE_UNKNOWN);
  return f ? f(d) : -1;
}

SLOT(chdir)
EXPORT int chdir(const char *path) {
  __typeof__(&chdir) f = REAL(chdir);
  int r = f ? f(path) : (int)syscall(SYS_chdir, path);
  if (r == 0) cwd_changed();
  return r;
}

SLOT(fchdir)
EXPORT int fchdir(int fd) {
  __typeof__(&fchdir) f = REAL(fchdir);
  int r = f ? f(fd) : (int)syscall(SYS_fchdir, fd);
  if (r == 0) cwd_changed();
  return r;
}

SLOT(socket)
EXPORT int socket(int domain, int type, int protocol) {
  __typeof__(&socket) f = REAL(socket);
  return other(f ? f(domain, type, protocol) : (int)syscall(SYS_socket, domain, type, protocol));
}

/* Calls that create descriptors of other objects than files. */
#define DEFINE_OTHER(name, number, parameters, ...)                                                                    \
  SLOT(name)                                                                                                           \
  EXPORT int name parameters {                                                                                         \
    __typeof__(&name) f = REAL(name);                                                                                  \
    return other(f ? f(__VA_ARGS__) : (int)syscall(number, __VA_ARGS__));                                              \
  }
DEFINE_OTHER(accept4, SYS_accept4, (int s, struct sockaddr *a, socklen_t *n, int flags), s, a, n, flags)
DEFINE_OTHER(epoll_create1, SYS_epoll_create1, (int flags), flags)
DEFINE_OTHER(memfd_create, SYS_memfd_create, (const char *name, unsigned flags), name, flags)
DEFINE_OTHER(timerfd_create, SYS_timerfd_create, (int clock, int flags), clock, flags)

SLOT(accept)
EXPORT int accept(int s, struct sockaddr *a, socklen_t *n) {
  __typeof__(&accept) f = REAL(accept);
  return other(f ? f(s, a, n) : (int)syscall(SYS_accept4, s, a, n, 0));
}

SLOT(eventfd)
EXPORT int eventfd(unsigned value, int flags) {
  __typeof__(&eventfd) f = REAL(eventfd);
  return other(f ? f(value, flags) : (int)syscall(SYS_eventfd2, value, flags));
}

static int both(int r, const int *pair) {
  if (r == 0) {
    other(pair[0]);
    other(pair[1]);
  }
  return r;
}

SLOT(pipe)
EXPORT int pipe(int pair[2]) {
  __typeof__(&pipe) f = REAL(pipe);
  return both(f ? f(pair) : (int)syscall(SYS_pipe2, pair, 0), pair);
}

SLOT(pipe2)
EXPORT int pipe2(int pair[2], int flags) {
  __typeof__(&pipe2) f = REAL(pipe2);
  return both(f ? f(pair, flags) : (int)syscall(SYS_pipe2, pair, flags), pair);
}

SLOT(socketpair)
EXPORT int socketpair(int domain, int type, int protocol, int pair[2]) {
  __typeof__(&socketpair) f = REAL(socketpair);
  return both(f ? f(domain, type, protocol, pair) : (int)syscall(SYS_socketpair, domain, type, protocol, pair), pair);
}
