/* Data calls with several buffers: limited as read and write of the sum of their sizes. */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "stage.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SLOT(name) _Atomic(void *) real_##name;
/* Most buffers that the kernel takes in one call. */
#define MOST_BUFFERS 1024

/*
 * Bytes that a call requests. 0 if the kernel will refuse it: too many buffers, or a list that cannot be read. Called for managed
 * files only.
 */
static uint64_t bytes_of(const struct iovec *buffers, int count) {
  if (count <= 0 || count > MOST_BUFFERS) return 0;
  if (!memory_readable(buffers, (size_t)count * sizeof *buffers)) return 0;
  uint64_t bytes = 0;
  for (int i = 0; i < count; i++) {
    if (__builtin_add_overflow(bytes, buffers[i].iov_len, &bytes)) return UINT64_MAX;
  }
  return bytes;
}

static void gate(enum call c, int fd, const struct iovec *buffers, int count) {
  gate_fd(c, fd, gate_ready() && is_managed(fd_place(fd)) ? bytes_of(buffers, count) : 0);
}

static ssize_t done(enum call c, ssize_t r) {
  if (UNLIKELY(r < 0)) report_error(c);
  return r;
}

#define DEFINE_VECTOR(name)                                                                                            \
  SLOT(name)                                                                                                           \
  EXPORT ssize_t name(int fd, const struct iovec *buffers, int count) {                                                \
    __typeof__(&name) f = REAL(name);                                                                                  \
    gate(CALL_##name, fd, buffers, count);                                                                             \
    return done(CALL_##name, f ? f(fd, buffers, count) : syscall(SYS_##name, fd, buffers, count));                     \
  }
DEFINE_VECTOR(readv)
DEFINE_VECTOR(writev)

/* The kernel takes the offset in two words, the second of which is unused where a word has 64 bits. */
#define DEFINE_VECTOR_AT(name, call, offset, other)                                                                    \
  SLOT(name)                                                                                                           \
  EXPORT ssize_t name(int fd, const struct iovec *buffers, int count, offset at) {                                     \
    __typeof__(&name) f = REAL_OR(name, other);                                                                        \
    gate(CALL_##call, fd, buffers, count);                                                                             \
    return done(CALL_##call, f ? f(fd, buffers, count, at) : syscall(SYS_##call, fd, buffers, count, at, 0));          \
  }
DEFINE_VECTOR_AT(preadv, preadv, off_t, NULL)
DEFINE_VECTOR_AT(preadv64, preadv, off64_t, "preadv")
DEFINE_VECTOR_AT(pwritev, pwritev, off_t, NULL)
DEFINE_VECTOR_AT(pwritev64, pwritev, off64_t, "pwritev")

#define DEFINE_VECTOR_FLAGS(name, call, offset, other)                                                                 \
  ssize_t name(int fd, const struct iovec *buffers, int count, offset at, int flags);                                  \
  SLOT(name)                                                                                                           \
  EXPORT ssize_t name(int fd, const struct iovec *buffers, int count, offset at, int flags) {                          \
    __typeof__(&name) f = REAL_OR(name, other);                                                                        \
    gate(CALL_##call, fd, buffers, count);                                                                             \
    return done(CALL_##call,                                                                                           \
                f ? f(fd, buffers, count, at, flags) : syscall(SYS_##call##2, fd, buffers, count, at, 0, flags));      \
  }
DEFINE_VECTOR_FLAGS(preadv2, preadv, off_t, NULL)
DEFINE_VECTOR_FLAGS(preadv64v2, preadv, off64_t, "preadv2")
DEFINE_VECTOR_FLAGS(pwritev2, pwritev, off_t, NULL)
DEFINE_VECTOR_FLAGS(pwritev64v2, pwritev, off64_t, "pwritev2")
