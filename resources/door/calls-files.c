/* Calls that open, close and copy descriptors. */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "door.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Checked variants of glibc, which its headers declare only when they use them. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);

/* -1: not a path of ccPFS; -2: an error, in errno. */
enum { ELSEWHERE = -1, FAILED = -2 };

/* The paths of descriptors (/dev/stdout) would lead to the memory behind them: they become copies. */
static int try_open(int dirfd, const char *path, int flags, mode_t mode) {
  if (LIKELY(!door.enabled)) return ELSEWHERE;
  char inside[MAX_PATH];
  int from = path_descriptor(path);
  int r;
  if (from >= 0 && fd_is_file(from)) {
    r = (int)syscall(SYS_fcntl, from, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
    if (r >= 0) file_copied(from, r);
    else r = -errno;
  } else {
    if (!path_inside(dirfd, path, inside)) return ELSEWHERE;
    r = file_open(inside, flags, mode);
  }
  if (r >= 0) return r;
  errno = -r;
  return FAILED;
}

/* A new descriptor of something else: its number can no longer be one of ccPFS. */
static int other(int fd) {
  if (UNLIKELY(fd_is_file(fd))) {
    file_forget(fd);
    if (fd <= 2) streams_follow(fd);
  } else if (door.enabled && fd >= 0 && fd <= 2) {
    streams_follow(fd);
  }
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

#define OPENED(dirfd, path, flags, mode, next)                                                                         \
  int fd = try_open(dirfd, path, flags, mode);                                                                         \
  if (fd == ELSEWHERE) return other(next);                                                                             \
  return fd == FAILED ? -1 : fd;

#define DEFINE_OPEN(name, extra)                                                                                       \
  SLOT(name)                                                                                                           \
  EXPORT int name(const char *path, int flags, ...) {                                                                  \
    WITH_MODE                                                                                                          \
    OPENED(AT_FDCWD, path, flags, mode,                                                                                \
           NEXT_OR((int)syscall(SYS_openat, AT_FDCWD, path, flags | (extra), mode), name, path, flags, mode))          \
  }
DEFINE_OPEN(open, 0)
DEFINE_OPEN(open64, O_LARGEFILE)

#define DEFINE_OPENAT(name, extra)                                                                                     \
  SLOT(name)                                                                                                           \
  EXPORT int name(int dirfd, const char *path, int flags, ...) {                                                       \
    WITH_MODE                                                                                                          \
    OPENED(dirfd, path, flags, mode,                                                                                   \
           NEXT_OR((int)syscall(SYS_openat, dirfd, path, flags | (extra), mode), name, dirfd, path, flags, mode))      \
  }
DEFINE_OPENAT(openat, 0)
DEFINE_OPENAT(openat64, O_LARGEFILE)

#define DEFINE_OPEN_2(name)                                                                                            \
  SLOT(name)                                                                                                           \
  EXPORT int name(const char *path, int flags) { OPENED(AT_FDCWD, path, flags, 0, NEXT(name, path, flags)) }
DEFINE_OPEN_2(__open_2)
DEFINE_OPEN_2(__open64_2)

#define DEFINE_OPENAT_2(name)                                                                                          \
  SLOT(name)                                                                                                           \
  EXPORT int name(int dirfd, const char *path, int flags) {                                                            \
    OPENED(dirfd, path, flags, 0, NEXT(name, dirfd, path, flags))                                                      \
  }
DEFINE_OPENAT_2(__openat_2)
DEFINE_OPENAT_2(__openat64_2)

#define DEFINE_CREAT(name)                                                                                             \
  SLOT(name)                                                                                                           \
  EXPORT int name(const char *path, mode_t mode) {                                                                     \
    OPENED(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode, NEXT(name, path, mode))                                 \
  }
DEFINE_CREAT(creat)
DEFINE_CREAT(creat64)

/* --- Temporary files, which the C library opens internally ----------------------------------------------------------------- */

static int make_temporary(char *template, int suffix, int flags) {
  size_t n = strlen(template);
  if (suffix < 0 || n < 6 + (size_t)suffix) return -EINVAL;
  char *at = template + n - (size_t)suffix - 6;
  if (memcmp(at, "XXXXXX", 6) != 0) return -EINVAL;
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  char inside[MAX_PATH];
  for (int attempt = 0; attempt < 100; attempt++) {
    unsigned char random[6];
    if (syscall(SYS_getrandom, random, sizeof random, 0) != sizeof random) return -EIO;
    for (int i = 0; i < 6; i++) at[i] = letters[random[i] % (sizeof letters - 1)];
    if (!path_inside(AT_FDCWD, template, inside)) return -ENOENT;
    int r = file_open(inside, O_RDWR | O_CREAT | O_EXCL | (flags & ~O_ACCMODE), 0600);
    if (r != -EEXIST) return r;
  }
  return -EEXIST;
}

#define DEFINE_TEMPORARY(name, parameters, suffix, flags, arguments)                                                   \
  SLOT(name)                                                                                                           \
  EXPORT int name parameters {                                                                                         \
    char inside[MAX_PATH];                                                                                             \
    if (LIKELY(!path_inside(AT_FDCWD, template, inside))) return other(NEXT(name, arguments));                         \
    return (int)result_of(make_temporary(template, suffix, flags));                                                    \
  }
#define ARGUMENTS(...) __VA_ARGS__
DEFINE_TEMPORARY(mkstemp, (char *template), 0, 0, template)
DEFINE_TEMPORARY(mkstemp64, (char *template), 0, 0, template)
DEFINE_TEMPORARY(mkostemp, (char *template, int flags), 0, flags, ARGUMENTS(template, flags))
DEFINE_TEMPORARY(mkostemp64, (char *template, int flags), 0, flags, ARGUMENTS(template, flags))
DEFINE_TEMPORARY(mkstemps, (char *template, int suffix), suffix, 0, ARGUMENTS(template, suffix))
DEFINE_TEMPORARY(mkostemps, (char *template, int suffix, int flags), suffix, flags, ARGUMENTS(template, suffix, flags))

/* --- Closing and copying ------------------------------------------------------------------------------------------------------ */

SLOT(close)
EXPORT int close(int fd) {
  int failed = 0;
  if (UNLIKELY(door.enabled)) {
    /* The program never opened this number. */
    if (client_is_descriptor(fd)) return (int)result_of(-EBADF);
    if (fd_is_file(fd)) failed = file_forget(fd);
  }
  int r = NEXT_OR((int)syscall(SYS_close, fd), close, fd);
  if (UNLIKELY(door.enabled) && fd >= 0 && fd <= 2) streams_follow(fd);
  return failed < 0 ? (int)result_of(failed) : r;
}

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

static int close_between(unsigned first, unsigned last, int flags) {
  if (first > last) return 0;
  /* Lowest first: another thread may open the freed numbers only after they are forgotten. */
  for (unsigned fd = first; !(flags & CLOSE_RANGE_CLOEXEC) && fd <= last && fd < MAX_FDS; fd++) {
    if (fd_is_file((int)fd)) file_forget((int)fd);
  }
  int r = (int)syscall(SYS_close_range, first, last, flags);
  for (unsigned fd = first; fd <= 2 && fd <= last; fd++) streams_follow((int)fd);
  return r;
}

EXPORT int close_range(unsigned first, unsigned last, int flags) {
  if (!door.enabled) return (int)syscall(SYS_close_range, first, last, flags);
  if (first > last) return (int)result_of(-EINVAL);
  unsigned connection = first;
  while (connection <= last && connection < MAX_FDS && !client_is_descriptor((int)connection)) connection++;
  if (connection > last || connection >= MAX_FDS) return close_between(first, last, flags);
  int r = connection > first ? close_between(first, connection - 1, flags) : 0;
  return r == 0 && connection < last ? close_between(connection + 1, last, flags) : r;
}

void closefrom(int first);
EXPORT void closefrom(int first) { close_range(first < 0 ? 0 : (unsigned)first, ~0u, 0); }

SLOT(dup)
EXPORT int dup(int fd) {
  if (UNLIKELY(client_is_descriptor(fd))) return (int)result_of(-EBADF);
  int r = NEXT_OR((int)syscall(SYS_dup, fd), dup, fd);
  if (UNLIKELY(door.enabled) && r >= 0) {
    file_copied(fd, r);
    if (r <= 2) streams_follow(r);
  }
  return r;
}

/* `to` is about to become a copy of `from`; false with an error in errno. */
static bool before_copy(int from, int to) {
  if (LIKELY(!door.enabled)) return true;
  if (client_is_descriptor(from)) return result_of(-EBADF) == 0;
  if (from == to) return true;
  client_makes_way(to);
  if (to >= 0 && to <= 2 && (fd_is_file(from) || fd_is_file(to))) streams_flush(to);
  return true;
}

static int after_copy(int from, int to) {
  if (UNLIKELY(door.enabled) && to >= 0) {
    file_copied(from, to);
    if (to <= 2) streams_follow(to);
  }
  return to;
}

SLOT(dup2)
EXPORT int dup2(int from, int to) {
  if (!before_copy(from, to)) return -1;
  return after_copy(from, NEXT_OR((int)syscall(SYS_dup3, from, to, 0), dup2, from, to));
}

SLOT(dup3)
EXPORT int dup3(int from, int to, int flags) {
  if (!before_copy(from, to)) return -1;
  return after_copy(from, NEXT_OR((int)syscall(SYS_dup3, from, to, flags), dup3, from, to, flags));
}

/* Between vfork and exec a child would change the tables in the parent's memory: it gets a copy of it, as POSIX allows. */
SLOT(fork)
EXPORT pid_t vfork(void) { return NEXT_OR((pid_t)-1, fork); }

/* --- Readiness: files are always ready ------------------------------------------------------------------------------------------ */

static int poll_with_files(struct pollfd *all, nfds_t n, const struct timespec *wait, const sigset_t *mask) {
  struct pollfd *rest = calloc(n, sizeof *rest);
  if (!rest) return (int)result_of(-ENOMEM);
  int ready = 0;
  for (nfds_t i = 0; i < n; i++) {
    rest[i] = all[i];
    bool ours = fd_is_file(all[i].fd);
    if (ours) rest[i].fd = -1;
    all[i].revents = ours ? all[i].events & (POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM) : 0;
    if (all[i].revents) ready++;
  }
  struct timespec none = {0, 0};
  int r = (int)syscall(SYS_ppoll, rest, n, ready ? &none : wait, mask, 8);
  for (nfds_t i = 0; r > 0 && i < n; i++) {
    if (rest[i].fd >= 0) all[i].revents = rest[i].revents;
  }
  free(rest);
  return r < 0 ? r : r + ready;
}

static bool any_file(const struct pollfd *all, nfds_t n) {
  if (LIKELY(!door.enabled) || !all) return false;
  for (nfds_t i = 0; i < n; i++) {
    if (fd_is_file(all[i].fd)) return true;
  }
  return false;
}

SLOT(poll)
EXPORT int poll(struct pollfd *all, nfds_t n, int ms) {
  if (!any_file(all, n)) return NEXT(poll, all, n, ms);
  struct timespec wait = {ms / 1000, (long)(ms % 1000) * 1000000};
  return poll_with_files(all, n, ms < 0 ? NULL : &wait, NULL);
}

SLOT(ppoll)
EXPORT int ppoll(struct pollfd *all, nfds_t n, const struct timespec *wait, const sigset_t *mask) {
  if (!any_file(all, n)) return NEXT(ppoll, all, n, wait, mask);
  struct timespec copy = wait ? *wait : (struct timespec){0, 0};
  return poll_with_files(all, n, wait ? &copy : NULL, mask);
}
