/*
 * Blocks of FILE* streams: limited as read and write of the requested bytes when the program asks for them, also where the
 * stream's buffer answers. The C library's own reads and writes for a stream are not seen.
 */
#define _GNU_SOURCE
#include "stage.h"

#include <errno.h>
#include <stdio.h>

/* Macros of glibc's headers. */
#undef fread_unlocked
#undef fwrite_unlocked

#define SLOT(name) _Atomic(void *) real_##name;

/* Checked variants of glibc, which its headers declare only when they use them. */
size_t __fread_chk(void *to, size_t space, size_t size, size_t n, FILE *file);
size_t __fread_unlocked_chk(void *to, size_t space, size_t size, size_t n, FILE *file);

static void gate(enum call c, FILE *file, size_t size, size_t n) {
  if (!file || !gate_ready()) return;
  int kept = errno;
  int fd = fileno_unlocked(file); /* -1 for a stream in memory */
  errno = kept;
  uint64_t bytes;
  if (__builtin_mul_overflow((uint64_t)size, (uint64_t)n, &bytes)) bytes = UINT64_MAX;
  gate_fd(c, fd, bytes);
}

static size_t done(enum call c, size_t got, size_t n, FILE *file) {
  if (UNLIKELY(got < n) && file && ferror_unlocked(file)) report_error(c);
  return got;
}

/* Without an underlying function nothing is transferred: streams exist only in the C library. */
#define DEFINE_BLOCK(name, call, pointer)                                                                              \
  SLOT(name)                                                                                                           \
  EXPORT size_t name(pointer block, size_t size, size_t n, FILE *file) {                                               \
    __typeof__(&name) f = REAL(name);                                                                                  \
    gate(CALL_##call, file, size, n);                                                                                  \
    return f ? done(CALL_##call, f(block, size, n, file), n, file) : 0;                                                \
  }
DEFINE_BLOCK(fread, fread, void *)
DEFINE_BLOCK(fread_unlocked, fread, void *)
DEFINE_BLOCK(fwrite, fwrite, const void *)
DEFINE_BLOCK(fwrite_unlocked, fwrite, const void *)

#define DEFINE_BLOCK_CHK(name)                                                                                         \
  SLOT(name)                                                                                                           \
  EXPORT size_t name(void *to, size_t space, size_t size, size_t n, FILE *file) {                                      \
    __typeof__(&name) f = REAL(name);                                                                                  \
    gate(CALL_fread, file, size, n);                                                                                   \
    return f ? done(CALL_fread, f(to, space, size, n, file), n, file) : 0;                                             \
  }
DEFINE_BLOCK_CHK(__fread_chk)
DEFINE_BLOCK_CHK(__fread_unlocked_chk)
