/* Calls on names and attributes: metadata, directories, extended attributes. */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SLOT(name) _Atomic(void *) real_##name;
#define DONE(call, r)                                                                                                  \
  ({                                                                                                                   \
    __typeof__(r) r_ = (r);                                                                                            \
    if (UNLIKELY(r_ < 0)) report_error(CALL_##call);                                                                   \
    r_;                                                                                                                \
  })

/* Defines a call on a path: its further parameters, their names, and the system call to use without a function. */
#define DEFINE_PATH(type, name, call, parameters, arguments, fallback)                                                 \
  SLOT(name)                                                                                                           \
  EXPORT type name parameters {                                                                                        \
    gate_path(CALL_##call, AT_FDCWD, path, 1);                                                                         \
    __typeof__(&name) f = REAL(name);                                                                                  \
    return DONE(call, f ? f arguments : (type)(fallback));                                                             \
  }
#define DEFINE_AT(type, name, call, parameters, arguments, fallback)                                                   \
  SLOT(name)                                                                                                           \
  EXPORT type name parameters {                                                                                        \
    gate_path(CALL_##call, dirfd, path, 1);                                                                            \
    __typeof__(&name) f = REAL(name);                                                                                  \
    return DONE(call, f ? f arguments : (type)(fallback));                                                             \
  }
#define DEFINE_FD(type, name, call, parameters, arguments, fallback)                                                   \
  SLOT(name)                                                                                                           \
  EXPORT type name parameters {                                                                                        \
    gate_fd(CALL_##call, fd, 1);                                                                                       \
    __typeof__(&name) f = REAL(name);                                                                                  \
    return DONE(call, f ? f arguments : (type)(fallback));                                                             \
  }

DEFINE_PATH(int, unlink, unlink, (const char *path), (path), syscall(SYS_unlinkat, AT_FDCWD, path, 0))
DEFINE_AT(int, unlinkat, unlinkat, (int dirfd, const char *path, int flags), (dirfd, path, flags),
          syscall(SYS_unlinkat, dirfd, path, flags))
DEFINE_PATH(int, mkdir, mkdir, (const char *path, mode_t mode), (path, mode),
            syscall(SYS_mkdirat, AT_FDCWD, path, mode))
DEFINE_AT(int, mkdirat, mkdirat, (int dirfd, const char *path, mode_t mode), (dirfd, path, mode),
          syscall(SYS_mkdirat, dirfd, path, mode))
DEFINE_PATH(int, rmdir, rmdir, (const char *path), (path), syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR))
DEFINE_PATH(int, mknod, mknod, (const char *path, mode_t mode, dev_t dev), (path, mode, dev),
            syscall(SYS_mknodat, AT_FDCWD, path, mode, (unsigned)dev))
DEFINE_AT(int, mknodat, mknodat, (int dirfd, const char *path, mode_t mode, dev_t dev), (dirfd, path, mode, dev),
          syscall(SYS_mknodat, dirfd, path, mode, (unsigned)dev))
DEFINE_PATH(int, statfs, statfs, (const char *path, struct statfs *to), (path, to), syscall(SYS_statfs, path, to))
DEFINE_PATH(int, statfs64, statfs64, (const char *path, struct statfs64 *to), (path, to),
            syscall(SYS_statfs, path, to))
DEFINE_FD(int, fstatfs, fstatfs, (int fd, struct statfs *to), (fd, to), syscall(SYS_fstatfs, fd, to))
DEFINE_FD(int, fstatfs64, fstatfs64, (int fd, struct statfs64 *to), (fd, to), syscall(SYS_fstatfs, fd, to))

/* The new path decides, because its directory grows. */
SLOT(rename)
EXPORT int rename(const char *from, const char *to) {
  gate_path(CALL_rename, AT_FDCWD, to, 1);
  __typeof__(&rename) f = REAL(rename);
  return DONE(rename, f ? f(from, to) : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

SLOT(renameat)
EXPORT int renameat(int a, const char *from, int b, const char *to) {
  gate_path(CALL_renameat, b, to, 1);
  __typeof__(&renameat) f = REAL(renameat);
  return DONE(renameat, f ? f(a, from, b, to) : (int)syscall(SYS_renameat2, a, from, b, to, 0));
}

SLOT(renameat2)
EXPORT int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  gate_path(CALL_renameat, b, to, 1);
  __typeof__(&renameat2) f = REAL(renameat2);
  return DONE(renameat, f ? f(a, from, b, to, flags) : (int)syscall(SYS_renameat2, a, from, b, to, flags));
}

/* Deletes the path; its calls inside the C library are not intercepted. */
SLOT(remove)
EXPORT int remove(const char *path) {
  gate_path(CALL_unlink, AT_FDCWD, path, 1);
  __typeof__(&remove) f = REAL(remove);
  return DONE(unlink, f ? f(path) : -1);
}

SLOT(sync)
EXPORT void sync(void) {
  if (gate_ready()) report_call(CALL_sync, OUTCOME_PASSED, 0, 0);
  __typeof__(&sync) f = REAL(sync);
  if (f) f();
  else syscall(SYS_sync);
}

DEFINE_PATH(ssize_t, getxattr, getxattr, (const char *path, const char *name, void *to, size_t n), (path, name, to, n),
            syscall(SYS_getxattr, path, name, to, n))
DEFINE_PATH(ssize_t, lgetxattr, lgetxattr, (const char *path, const char *name, void *to, size_t n),
            (path, name, to, n), syscall(SYS_lgetxattr, path, name, to, n))
DEFINE_FD(ssize_t, fgetxattr, fgetxattr, (int fd, const char *name, void *to, size_t n), (fd, name, to, n),
          syscall(SYS_fgetxattr, fd, name, to, n))
DEFINE_PATH(int, setxattr, setxattr, (const char *path, const char *name, const void *from, size_t n, int flags),
            (path, name, from, n, flags), syscall(SYS_setxattr, path, name, from, n, flags))
DEFINE_PATH(int, lsetxattr, lsetxattr, (const char *path, const char *name, const void *from, size_t n, int flags),
            (path, name, from, n, flags), syscall(SYS_lsetxattr, path, name, from, n, flags))
DEFINE_FD(int, fsetxattr, fsetxattr, (int fd, const char *name, const void *from, size_t n, int flags),
          (fd, name, from, n, flags), syscall(SYS_fsetxattr, fd, name, from, n, flags))
DEFINE_PATH(ssize_t, listxattr, listxattr, (const char *path, char *to, size_t n), (path, to, n),
            syscall(SYS_listxattr, path, to, n))
DEFINE_PATH(ssize_t, llistxattr, llistxattr, (const char *path, char *to, size_t n), (path, to, n),
            syscall(SYS_llistxattr, path, to, n))
DEFINE_FD(ssize_t, flistxattr, flistxattr, (int fd, char *to, size_t n), (fd, to, n),
          syscall(SYS_flistxattr, fd, to, n))

/*
 * The stat family. In C libraries before glibc 2.33 `stat` has no symbol; programs built there call __xstat, newer ones find
 * the function here. Struct stat is the kernel's on 64-bit machines.
 */
#define KERNEL_STAT(dirfd, path, to, flags) (int)syscall(SYS_newfstatat, dirfd, path, to, flags)

#define DEFINE_STATS(suffix, type)                                                                                     \
  DEFINE_PATH(int, stat##suffix, stat, (const char *restrict path, type *restrict to), (path, to),                     \
              KERNEL_STAT(AT_FDCWD, path, to, 0))                                                                      \
  DEFINE_PATH(int, lstat##suffix, lstat, (const char *restrict path, type *restrict to), (path, to),                   \
              KERNEL_STAT(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW))                                                    \
  DEFINE_FD(int, fstat##suffix, fstat, (int fd, type *to), (fd, to), KERNEL_STAT(fd, "", to, AT_EMPTY_PATH))
DEFINE_STATS(, struct stat)
DEFINE_STATS(64, struct stat64)

static void gate_at(enum call c, int dirfd, const char *path, int flags) {
  if ((flags & AT_EMPTY_PATH) && path && !*path && dirfd != AT_FDCWD) gate_fd(c, dirfd, 1);
  else gate_path(c, dirfd, path, 1);
}

#define DEFINE_FSTATAT(name, type)                                                                                     \
  SLOT(name)                                                                                                           \
  EXPORT int name(int dirfd, const char *restrict path, type *restrict to, int flags) {                                \
    gate_at(CALL_fstatat, dirfd, path, flags);                                                                         \
    __typeof__(&name) f = REAL(name);                                                                                  \
    return DONE(fstatat, f ? f(dirfd, path, to, flags) : KERNEL_STAT(dirfd, path, to, flags));                         \
  }
DEFINE_FSTATAT(fstatat, struct stat)
DEFINE_FSTATAT(fstatat64, struct stat64)

SLOT(statx)
EXPORT int statx(int dirfd, const char *restrict path, int flags, unsigned mask, struct statx *restrict to) {
  gate_at(CALL_statx, dirfd, path, flags);
  __typeof__(&statx) f = REAL(statx);
  return DONE(statx, f ? f(dirfd, path, flags, mask, to) : (int)syscall(SYS_statx, dirfd, path, flags, mask, to));
}

#ifdef __x86_64__
/* Names of the same calls in programs built before glibc 2.33; version 1 is the kernel's struct. */
#define DEFINE_XSTATS(suffix, type)                                                                                    \
  EXPORT int __xstat##suffix(int version, const char *path, type *to);                                                 \
  EXPORT int __lxstat##suffix(int version, const char *path, type *to);                                                \
  EXPORT int __fxstat##suffix(int version, int fd, type *to);                                                          \
  EXPORT int __fxstatat##suffix(int version, int dirfd, const char *path, type *to, int flags);                        \
  DEFINE_PATH(int, __xstat##suffix, stat, (int version, const char *path, type *to), (version, path, to),              \
              KERNEL_STAT(AT_FDCWD, path, to, 0))                                                                      \
  DEFINE_PATH(int, __lxstat##suffix, lstat, (int version, const char *path, type *to), (version, path, to),            \
              KERNEL_STAT(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW))                                                    \
  DEFINE_FD(int, __fxstat##suffix, fstat, (int version, int fd, type *to), (version, fd, to),                          \
            KERNEL_STAT(fd, "", to, AT_EMPTY_PATH))                                                                    \
  SLOT(__fxstatat##suffix)                                                                                             \
  EXPORT int __fxstatat##suffix(int version, int dirfd, const char *path, type *to, int flags) {                       \
    gate_at(CALL_fstatat, dirfd, path, flags);                                                                         \
    __typeof__(&__fxstatat##suffix) f = REAL(__fxstatat##suffix);                                                      \
    return DONE(fstatat, f ? f(version, dirfd, path, to, flags) : KERNEL_STAT(dirfd, path, to, flags));                \
  }
DEFINE_XSTATS(, struct stat)
DEFINE_XSTATS(64, struct stat64)
#endif
