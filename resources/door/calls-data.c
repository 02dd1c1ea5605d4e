/* Calls that transfer data of a descriptor, and its offset, size and locks. */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "door.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

/* Checked variants of glibc, which its headers declare only when they use them. */
ssize_t __read_chk(int fd, void *to, size_t n, size_t space);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t space);
ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t at, size_t space);
int __vdprintf_chk(int fd, int flag, const char *format, va_list args);
int __dprintf_chk(int fd, int flag, const char *format, ...);

/* Defines a call: with a file of ccPFS as `f` the expression `ours`, a value or -errno; otherwise `next`. */
#define DEFINE(type, name, parameters, ours, next)                                                                     \
  SLOT(name)                                                                                                           \
  EXPORT type name parameters {                                                                                        \
    struct file *f = file_get(fd);                                                                                     \
    if (LIKELY(!f)) return next;                                                                                       \
    long r_ = (long)(ours);                                                                                            \
    file_put(f);                                                                                                       \
    return (type)result_of(r_);                                                                                        \
  }

static ssize_t read_one(struct file *f, void *to, size_t n) {
  struct iovec one = {to, n};
  return file_read(f, &one, 1);
}

static ssize_t write_one(struct file *f, const void *from, size_t n) {
  struct iovec one = {(void *)from, n};
  return file_write(f, &one, 1);
}

static ssize_t read_one_at(struct file *f, void *to, size_t n, int64_t at) {
  struct iovec one = {to, n};
  return file_read_at(f, &one, 1, at);
}

static ssize_t write_one_at(struct file *f, const void *from, size_t n, int64_t at) {
  struct iovec one = {(void *)from, n};
  return file_write_at(f, &one, 1, at);
}

DEFINE(ssize_t, read, (int fd, void *to, size_t n), read_one(f, to, n),
       NEXT_OR(syscall(SYS_read, fd, to, n), read, fd, to, n))
/* A read beyond the program's buffer is the C library's to report: it ends the program. */
DEFINE(ssize_t, __read_chk, (int fd, void *to, size_t n, size_t space),
       n <= space ? read_one(f, to, n) : (abort(), 0), NEXT(__read_chk, fd, to, n, space))
DEFINE(ssize_t, write, (int fd, const void *from, size_t n), write_one(f, from, n),
       NEXT_OR(syscall(SYS_write, fd, from, n), write, fd, from, n))
DEFINE(ssize_t, pread, (int fd, void *to, size_t n, off_t at), read_one_at(f, to, n, at), NEXT(pread, fd, to, n, at))
DEFINE(ssize_t, pread64, (int fd, void *to, size_t n, off64_t at), read_one_at(f, to, n, at), NEXT(pread64, fd, to, n, at))
DEFINE(ssize_t, __pread_chk, (int fd, void *to, size_t n, off_t at, size_t space),
       n <= space ? read_one_at(f, to, n, at) : (abort(), 0), NEXT(__pread_chk, fd, to, n, at, space))
DEFINE(ssize_t, __pread64_chk, (int fd, void *to, size_t n, off64_t at, size_t space),
       n <= space ? read_one_at(f, to, n, at) : (abort(), 0), NEXT(__pread64_chk, fd, to, n, at, space))
DEFINE(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), write_one_at(f, from, n, at),
       NEXT(pwrite, fd, from, n, at))
DEFINE(ssize_t, pwrite64, (int fd, const void *from, size_t n, off64_t at), write_one_at(f, from, n, at),
       NEXT(pwrite64, fd, from, n, at))

DEFINE(ssize_t, readv, (int fd, const struct iovec *to, int n), file_read(f, to, n), NEXT(readv, fd, to, n))
DEFINE(ssize_t, writev, (int fd, const struct iovec *from, int n), file_write(f, from, n), NEXT(writev, fd, from, n))

#define DEFINE_VECTORS(suffix, offset)                                                                                 \
  DEFINE(ssize_t, preadv##suffix, (int fd, const struct iovec *to, int n, offset at), file_read_at(f, to, n, at),      \
         NEXT(preadv##suffix, fd, to, n, at))                                                                          \
  DEFINE(ssize_t, pwritev##suffix, (int fd, const struct iovec *from, int n, offset at),                               \
         file_write_at(f, from, n, at), NEXT(pwritev##suffix, fd, from, n, at))
DEFINE_VECTORS(, off_t)
DEFINE_VECTORS(64, off64_t)

/* Flags: hints are ignored, durability is a sync, anything that changes the result is refused as an old kernel does. */
static ssize_t read_flagged(struct file *f, const struct iovec *to, int n, int64_t at, int flags) {
  if (flags & ~RWF_HIPRI) return -EOPNOTSUPP;
  return at == -1 ? file_read(f, to, n) : file_read_at(f, to, n, at);
}

static ssize_t write_flagged(struct file *f, const struct iovec *from, int n, int64_t at, int flags) {
  if (flags & ~(RWF_HIPRI | RWF_DSYNC | RWF_SYNC)) return -EOPNOTSUPP;
  ssize_t done = at == -1 ? file_write(f, from, n) : file_write_at(f, from, n, at);
  int r = done > 0 && (flags & (RWF_DSYNC | RWF_SYNC)) ? file_sync(f) : 0;
  return r < 0 ? r : done;
}

#define DEFINE_VECTORS_2(name64, offset)                                                                               \
  DEFINE(ssize_t, pread##name64, (int fd, const struct iovec *to, int n, offset at, int flags),                        \
         read_flagged(f, to, n, at, flags), NEXT(pread##name64, fd, to, n, at, flags))                                 \
  DEFINE(ssize_t, pwrite##name64, (int fd, const struct iovec *from, int n, offset at, int flags),                     \
         write_flagged(f, from, n, at, flags), NEXT(pwrite##name64, fd, from, n, at, flags))
DEFINE_VECTORS_2(v2, off_t)
DEFINE_VECTORS_2(v64v2, off64_t)

DEFINE(off_t, lseek, (int fd, off_t to, int whence), file_seek(f, to, whence), NEXT(lseek, fd, to, whence))
DEFINE(off64_t, lseek64, (int fd, off64_t to, int whence), file_seek(f, to, whence), NEXT(lseek64, fd, to, whence))

DEFINE(int, fsync, (int fd), file_sync(f), NEXT(fsync, fd))
DEFINE(int, fdatasync, (int fd), file_sync(f), NEXT(fdatasync, fd))
DEFINE(int, syncfs, (int fd), file_sync(f), NEXT(syncfs, fd))
DEFINE(int, sync_file_range, (int fd, off64_t at, off64_t n, unsigned flags), file_sync(f),
       NEXT(sync_file_range, fd, at, n, flags))
DEFINE(int, ftruncate, (int fd, off_t size), file_truncate(f, size), NEXT(ftruncate, fd, size))
DEFINE(int, ftruncate64, (int fd, off64_t size), file_truncate(f, size), NEXT(ftruncate64, fd, size))

/* Space is allocated when it is written. */
DEFINE(int, fallocate, (int fd, int mode, off_t at, off_t n), -EOPNOTSUPP, NEXT(fallocate, fd, mode, at, n))
DEFINE(int, fallocate64, (int fd, int mode, off64_t at, off64_t n), -EOPNOTSUPP, NEXT(fallocate64, fd, mode, at, n))

/* These return the number of the error, and leave errno alone. */
#define DEFINE_ADVICE(name, parameters, ours, arguments)                                                               \
  SLOT(name)                                                                                                           \
  EXPORT int name parameters {                                                                                         \
    if (fd_is_file(fd)) return ours;                                                                                   \
    return NEXT_OR(ENOSYS, name, arguments);                                                                           \
  }
#define ARGUMENTS(...) __VA_ARGS__
DEFINE_ADVICE(posix_fallocate, (int fd, off_t at, off_t n), EOPNOTSUPP, ARGUMENTS(fd, at, n))
DEFINE_ADVICE(posix_fallocate64, (int fd, off64_t at, off64_t n), EOPNOTSUPP, ARGUMENTS(fd, at, n))
DEFINE_ADVICE(posix_fadvise, (int fd, off_t at, off_t n, int advice), 0, ARGUMENTS(fd, at, n, advice))
DEFINE_ADVICE(posix_fadvise64, (int fd, off64_t at, off64_t n, int advice), 0, ARGUMENTS(fd, at, n, advice))
DEFINE(ssize_t, readahead, (int fd, off64_t at, size_t n), 0, NEXT(readahead, fd, at, n))

/* Transfers inside the kernel: refused with the answers on which programs fall back to read and write. */
SLOT(copy_file_range)
EXPORT ssize_t copy_file_range(int a, off64_t *from, int b, off64_t *to, size_t n, unsigned flags) {
  if (fd_is_file(a) || fd_is_file(b)) return result_of(-EXDEV);
  return NEXT(copy_file_range, a, from, b, to, n, flags);
}

#define DEFINE_TRANSFER(name, type, a, b, parameters, arguments)                                                       \
  SLOT(name)                                                                                                           \
  EXPORT type name parameters {                                                                                        \
    if (fd_is_file(a) || fd_is_file(b)) return (type)result_of(-EINVAL);                                               \
    return NEXT(name, arguments);                                                                                      \
  }
DEFINE_TRANSFER(sendfile, ssize_t, to, from, (int to, int from, off_t *at, size_t n), ARGUMENTS(to, from, at, n))
DEFINE_TRANSFER(sendfile64, ssize_t, to, from, (int to, int from, off64_t *at, size_t n), ARGUMENTS(to, from, at, n))
DEFINE_TRANSFER(splice, ssize_t, from, to, (int from, off64_t *a, int to, off64_t *b, size_t n, unsigned flags),
                ARGUMENTS(from, a, to, b, n, flags))
DEFINE_TRANSFER(vmsplice, ssize_t, fd, fd, (int fd, const struct iovec *v, size_t n, unsigned flags),
                ARGUMENTS(fd, v, n, flags))
DEFINE_TRANSFER(tee, ssize_t, from, to, (int from, int to, size_t n, unsigned flags), ARGUMENTS(from, to, n, flags))

static int set_cloexec(int fd, bool on) {
  return syscall(SYS_fcntl, fd, F_SETFD, on ? FD_CLOEXEC : 0) < 0 ? -errno : 0;
}

static int control(int fd, unsigned long request) {
  switch (request) {
  case FIOCLEX: return set_cloexec(fd, true);
  case FIONCLEX: return set_cloexec(fd, false);
  case FICLONE:
  case FICLONERANGE: return -EOPNOTSUPP;
  default: return -ENOTTY;
  }
}

SLOT(ioctl)
EXPORT int ioctl(int fd, unsigned long request, ...) {
  va_list args;
  va_start(args, request);
  void *value = va_arg(args, void *);
  va_end(args);
  if (fd_is_file(fd)) return (int)result_of(control(fd, request));
  return NEXT_OR((int)syscall(SYS_ioctl, fd, request, value), ioctl, fd, request, value);
}

SLOT(isatty)
EXPORT int isatty(int fd) {
  if (!fd_is_file(fd)) return NEXT_OR(0, isatty, fd);
  errno = ENOTTY;
  return 0;
}

#define MAP(name, offset)                                                                                              \
  EXPORT void *name(void *at, size_t n, int protection, int flags, int fd, offset from) {                              \
    if (UNLIKELY(!(flags & MAP_ANONYMOUS) && fd_is_file(fd))) {                                                        \
      tell(REASON_MMAP, NULL);                                                                                         \
      errno = ENODEV;                                                                                                  \
      return MAP_FAILED;                                                                                               \
    }                                                                                                                  \
    /* The raw call: allocators call mmap before symbols can be resolved. */                                           \
    return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, from);                                              \
  }
MAP(mmap, off_t)
MAP(mmap64, off64_t)

/* --- Locks: with SLUICE_CCPFS_LOCKS=local on a file of this node that stands for the inode -------------------------------- */

static int lock_descriptor(struct file *f) {
  int fd = atomic_load(&f->lock_fd);
  if (fd >= 0) return fd;
  char path[160];
  snprintf(path, sizeof path, "%s.locks", door.socket);
  if (syscall(SYS_mkdirat, AT_FDCWD, path, 0700) < 0 && errno != EEXIST) return -ENOLCK;
  snprintf(path, sizeof path, "%s.locks/%016llx", door.socket, (unsigned long long)f->shared->ino);
  fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -ENOLCK;
  fd = fd_high(fd);
  int none = -1;
  if (atomic_compare_exchange_strong(&f->lock_fd, &none, fd)) return fd;
  syscall(SYS_close, fd);
  return none;
}

static int lock(struct file *f, int command, const struct flock *wanted, struct flock *found) {
  if (!door.local_locks) {
    tell(REASON_LOCKS, NULL);
    return -ENOLCK;
  }
  struct flock l = *wanted;
  if (l.l_whence == SEEK_CUR) {
    l.l_start += (off_t)atomic_load(&f->shared->offset);
  } else if (l.l_whence == SEEK_END) {
    struct attributes a;
    int r = file_attributes(f, &a);
    if (r < 0) return r;
    l.l_start += (off_t)a.size;
  }
  l.l_whence = SEEK_SET;
  uint32_t mode = file_flags(f) & O_ACCMODE;
  if (command != F_GETLK && ((l.l_type == F_RDLCK && mode == O_WRONLY) || (l.l_type == F_WRLCK && mode == O_RDONLY)))
    return -EBADF;
  int fd = lock_descriptor(f);
  if (fd < 0) return fd;
  if (syscall(SYS_fcntl, fd, command, &l) < 0) return -errno;
  if (command == F_GETLK && found) *found = l;
  return 0;
}

/* Locks of an open file would need a place that fork and exec inherit: refused. */
static int refuse_lock(void) {
  tell(REASON_LOCKS, "flock and F_OFD_SETLK always");
  return -ENOLCK;
}

DEFINE(int, flock, (int fd, int operation), operation & LOCK_UN ? 0 : refuse_lock(), NEXT(flock, fd, operation))

static int lock_section(struct file *f, int command, int64_t length) {
  struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = length};
  switch (command) {
  case F_ULOCK: l.l_type = F_UNLCK; return lock(f, F_SETLK, &l, NULL);
  case F_LOCK: return lock(f, F_SETLKW, &l, NULL);
  case F_TLOCK: return lock(f, F_SETLK, &l, NULL);
  case F_TEST: {
    struct flock found;
    int r = lock(f, F_GETLK, &l, &found);
    return r < 0 ? r : found.l_type == F_UNLCK ? 0 : -EACCES;
  }
  default: return -EINVAL;
  }
}
DEFINE(int, lockf, (int fd, int command, off_t length), lock_section(f, command, length), NEXT(lockf, fd, command, length))
DEFINE(int, lockf64, (int fd, int command, off64_t length), lock_section(f, command, length),
       NEXT(lockf64, fd, command, length))

/* --- fcntl --------------------------------------------------------------------------------------------------------------------- */

static int set_flags(struct file *f, int flags) {
  if (flags & O_DIRECT) return -EINVAL;
  const uint32_t settable = O_APPEND | O_NONBLOCK;
  uint32_t old = file_flags(f);
  while (!atomic_compare_exchange_weak(&f->shared->flags, &old, (old & ~settable) | ((uint32_t)flags & settable))) {
  }
  return 0;
}

static int command_of(struct file *f, int fd, int command, void *value) {
  switch (command) {
  case F_GETFL: return (int)(file_flags(f) | O_LARGEFILE);
  case F_SETFL: return set_flags(f, (int)(intptr_t)value);
  case F_GETLK:
  case F_SETLK:
  case F_SETLKW: return lock(f, command, value, value);
  case F_OFD_GETLK:
  case F_OFD_SETLK:
  case F_OFD_SETLKW: return refuse_lock();
  case F_GETFD:
  case F_SETFD:
  case F_DUPFD:
  case F_DUPFD_CLOEXEC: {
    int r = (int)syscall(SYS_fcntl, fd, command, value);
    if (r < 0) return -errno;
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) file_copied(fd, r);
    return r;
  }
  default: return -EINVAL;
  }
}

#define DEFINE_FCNTL(name)                                                                                             \
  SLOT(name)                                                                                                           \
  EXPORT int name(int fd, int command, ...) {                                                                          \
    va_list args;                                                                                                      \
    va_start(args, command);                                                                                           \
    void *value = va_arg(args, void *);                                                                                \
    va_end(args);                                                                                                      \
    struct file *f = file_get(fd);                                                                                     \
    if (UNLIKELY(f)) {                                                                                                 \
      int r = command_of(f, fd, command, value);                                                                       \
      file_put(f);                                                                                                     \
      return (int)result_of(r);                                                                                        \
    }                                                                                                                  \
    if (UNLIKELY(client_is_descriptor(fd))) return (int)result_of(-EBADF);                                             \
    return NEXT_OR((int)syscall(SYS_fcntl, fd, command, value), name, fd, command, value);                             \
  }
DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

/* --- Formatted output to a descriptor, which the C library writes internally --------------------------------------------- */

static int print(struct file *f, const char *format, va_list args) {
  char *text;
  int n = vasprintf(&text, format, args);
  if (n < 0) return -ENOMEM;
  ssize_t r = write_one(f, text, (size_t)n);
  free(text);
  return (int)r;
}

DEFINE(int, vdprintf, (int fd, const char *format, va_list args), print(f, format, args), NEXT(vdprintf, fd, format, args))
DEFINE(int, __vdprintf_chk, (int fd, int flag, const char *format, va_list args), print(f, format, args),
       NEXT(__vdprintf_chk, fd, flag, format, args))

EXPORT int dprintf(int fd, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int r = vdprintf(fd, format, args);
  va_end(args);
  return r;
}

EXPORT int __dprintf_chk(int fd, int flag, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int r = __vdprintf_chk(fd, flag, format, args);
  va_end(args);
  return r;
}
