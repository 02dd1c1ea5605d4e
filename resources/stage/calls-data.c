/* Data calls: their cost is the requested size in bytes; for mmap it is one. */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "stage.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOT(name) _Atomic(void *) real_##name;

ssize_t __read_chk(int fd, void *to, size_t n, size_t space);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t space);
ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t at, size_t space);

/* Most descriptors are not managed: a single lookup in the map. */
#define GATE(call, fd, n) gate_fd(CALL_##call, fd, n)

static ssize_t done(enum call c, ssize_t r) {
  if (UNLIKELY(r < 0)) report_error(c);
  return r;
}

SLOT(read)
EXPORT ssize_t read(int fd, void *to, size_t n) {
  __typeof__(&read) f = REAL(read);
  GATE(read, fd, n);
  return done(CALL_read, f ? f(fd, to, n) : syscall(SYS_read, fd, to, n));
}

SLOT(__read_chk)
EXPORT ssize_t __read_chk(int fd, void *to, size_t n, size_t space) {
  __typeof__(&__read_chk) f = REAL(__read_chk);
  GATE(read, fd, n);
  return done(CALL_read, f ? f(fd, to, n, space) : syscall(SYS_read, fd, to, n < space ? n : space));
}

SLOT(write)
EXPORT ssize_t write(int fd, const void *from, size_t n) {
  __typeof__(&write) f = REAL(write);
  GATE(write, fd, n);
  return done(CALL_write, f ? f(fd, from, n) : syscall(SYS_write, fd, from, n));
}

#define DEFINE_PREAD(name, call, offset, other)                                                                        \
  SLOT(name)                                                                                                           \
  EXPORT ssize_t name(int fd, void *to, size_t n, offset at) {                                                         \
    __typeof__(&name) f = REAL_OR(name, other);                                                                        \
    GATE(call, fd, n);                                                                                                 \
    return done(CALL_##call, f ? f(fd, to, n, at) : syscall(SYS_pread64, fd, to, n, at));                              \
  }
DEFINE_PREAD(pread, pread, off_t, NULL)
DEFINE_PREAD(pread64, pread64, off64_t, "pread")

#define DEFINE_PREAD_CHK(name, call, offset)                                                                           \
  SLOT(name)                                                                                                           \
  EXPORT ssize_t name(int fd, void *to, size_t n, offset at, size_t space) {                                           \
    __typeof__(&name) f = REAL(name);                                                                                  \
    GATE(call, fd, n);                                                                                                 \
    return done(CALL_##call,                                                                                           \
                f ? f(fd, to, n, at, space) : syscall(SYS_pread64, fd, to, n < space ? n : space, at));                \
  }
DEFINE_PREAD_CHK(__pread_chk, pread, off_t)
DEFINE_PREAD_CHK(__pread64_chk, pread64, off64_t)

#define DEFINE_PWRITE(name, offset, other)                                                                             \
  SLOT(name)                                                                                                           \
  EXPORT ssize_t name(int fd, const void *from, size_t n, offset at) {                                                 \
    __typeof__(&name) f = REAL_OR(name, other);                                                                        \
    GATE(name, fd, n);                                                                                                 \
    return done(CALL_##name, f ? f(fd, from, n, at) : syscall(SYS_pwrite64, fd, from, n, at));                         \
  }
DEFINE_PWRITE(pwrite, off_t, NULL)
DEFINE_PWRITE(pwrite64, off64_t, "pwrite")

/* Raw system calls: allocators call mmap before symbols can be resolved. */
static void *map(void *at, size_t n, int protection, int flags, int fd, off64_t offset) {
  if (fd >= 0 && !(flags & MAP_ANONYMOUS)) GATE(mmap, fd, 1);
  return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

EXPORT void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
  return map(at, n, protection, flags, fd, offset);
}

EXPORT void *mmap64(void *at, size_t n, int protection, int flags, int fd, off64_t offset) {
  return map(at, n, protection, flags, fd, offset);
}

/* An address does not identify a file: counted, never limited. */
EXPORT int munmap(void *at, size_t n) {
  if (gate_ready()) report_call(CALL_munmap, OUTCOME_BYPASSED, 0, 0);
  return (int)syscall(SYS_munmap, at, n);
}
