/* Calls on names and attributes. */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "door.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

/* Device of all files of ccPFS: major numbers this high are never assigned. */
#define DEVICE makedev(0xccf, 5)
#define BLOCK MAX_DATA
#define NS_PER_S 1000000000ull

/* Defines a call on a path: with `inside` the path in the mount, `ours` is a value or -errno; otherwise `next`. */
#define DEFINE_AT(type, name, dirfd, path, parameters, ours, next)                                                     \
  SLOT(name)                                                                                                           \
  EXPORT type name parameters {                                                                                        \
    char inside[MAX_PATH];                                                                                             \
    if (LIKELY(!path_inside(dirfd, path, inside))) return next;                                                        \
    return (type)result_of((long)(ours));                                                                              \
  }
#define DEFINE(type, name, parameters, ours, next) DEFINE_AT(type, name, AT_FDCWD, path, parameters, ours, next)
#define DEFINE_FD(type, name, parameters, ours, next)                                                                  \
  SLOT(name)                                                                                                           \
  EXPORT type name parameters {                                                                                        \
    struct file *f = file_get(fd);                                                                                     \
    if (LIKELY(!f)) return next;                                                                                       \
    long r_ = (long)(ours);                                                                                            \
    file_put(f);                                                                                                       \
    return (type)result_of(r_);                                                                                        \
  }

/* --- stat ---------------------------------------------------------------------------------------------------------------------- */

/* struct stat and stat64 are the same on 64-bit machines. The protocol has one time. */
static void fill(struct stat *to, const struct attributes *a) {
  memset(to, 0, sizeof *to);
  to->st_dev = DEVICE;
  to->st_ino = a->ino;
  to->st_mode = a->mode;
  to->st_nlink = S_ISDIR(a->mode) ? 2 : 1;
  to->st_uid = (uid_t)syscall(SYS_geteuid);
  to->st_gid = (gid_t)syscall(SYS_getegid);
  to->st_size = (off_t)a->size;
  to->st_blksize = BLOCK;
  to->st_blocks = (blkcnt_t)((a->size + 511) / 512);
  to->st_mtim = (struct timespec){(time_t)(a->mtime_ns / NS_PER_S), (long)(a->mtime_ns % NS_PER_S)};
  to->st_atim = to->st_ctim = to->st_mtim;
}

static int stat_path(const char *inside, void *to) {
  struct attributes a;
  int r = path_attributes(inside, &a);
  if (r == 0) fill(to, &a);
  return r;
}

static int stat_file(struct file *f, void *to) {
  struct attributes a;
  int r = file_attributes(f, &a);
  if (r == 0) fill(to, &a);
  return r;
}

#define KERNEL_STAT(dirfd, path, to, flags) (int)syscall(SYS_newfstatat, dirfd, path, to, flags)

#define DEFINE_FSTATAT(name, type, version, ...)                                                                       \
  SLOT(name)                                                                                                           \
  EXPORT int name(version int dirfd, const char *restrict path, type *restrict to, int flags) {                        \
    struct file *f = (flags & AT_EMPTY_PATH) && path && !*path ? file_get(dirfd) : NULL;                               \
    if (UNLIKELY(f)) {                                                                                                 \
      int r = stat_file(f, to);                                                                                        \
      file_put(f);                                                                                                     \
      return (int)result_of(r);                                                                                        \
    }                                                                                                                  \
    char inside[MAX_PATH];                                                                                             \
    if (LIKELY(!path_inside(dirfd, path, inside)))                                                                     \
      return NEXT_OR(KERNEL_STAT(dirfd, path, to, flags), name, __VA_ARGS__);                                          \
    return (int)result_of(stat_path(inside, to));                                                                      \
  }

#define DEFINE_STATS(suffix, type)                                                                                     \
  DEFINE(int, stat##suffix, (const char *restrict path, type *restrict to), stat_path(inside, to),                     \
         NEXT_OR(KERNEL_STAT(AT_FDCWD, path, to, 0), stat##suffix, path, to))                                          \
  DEFINE(int, lstat##suffix, (const char *restrict path, type *restrict to), stat_path(inside, to),                    \
         NEXT_OR(KERNEL_STAT(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW), lstat##suffix, path, to))                       \
  DEFINE_FD(int, fstat##suffix, (int fd, type *to), stat_file(f, to),                                                  \
            NEXT_OR(KERNEL_STAT(fd, "", to, AT_EMPTY_PATH), fstat##suffix, fd, to))                                    \
  DEFINE_FSTATAT(fstatat##suffix, type, , dirfd, path, to, flags)
DEFINE_STATS(, struct stat)
DEFINE_STATS(64, struct stat64)

#ifdef __x86_64__
/* Names of the same calls in programs built before glibc 2.33. */
#define DEFINE_XSTATS(suffix, type)                                                                                    \
  EXPORT int __xstat##suffix(int version, const char *path, type *to);                                                 \
  EXPORT int __lxstat##suffix(int version, const char *path, type *to);                                                \
  EXPORT int __fxstat##suffix(int version, int fd, type *to);                                                          \
  EXPORT int __fxstatat##suffix(int version, int dirfd, const char *path, type *to, int flags);                        \
  DEFINE(int, __xstat##suffix, (int version, const char *path, type *to), stat_path(inside, to),                       \
         NEXT(__xstat##suffix, version, path, to))                                                                     \
  DEFINE(int, __lxstat##suffix, (int version, const char *path, type *to), stat_path(inside, to),                      \
         NEXT(__lxstat##suffix, version, path, to))                                                                    \
  DEFINE_FD(int, __fxstat##suffix, (int version, int fd, type *to), stat_file(f, to),                                  \
            NEXT(__fxstat##suffix, version, fd, to))                                                                   \
  DEFINE_FSTATAT(__fxstatat##suffix, type, int version COMMA, version, dirfd, path, to, flags)
#define COMMA ,
DEFINE_XSTATS(, struct stat)
DEFINE_XSTATS(64, struct stat64)
#endif

static void fill_x(struct statx *to, const struct attributes *a) {
  struct stat st;
  fill(&st, a);
  memset(to, 0, sizeof *to);
  to->stx_mask = STATX_BASIC_STATS;
  to->stx_blksize = BLOCK;
  to->stx_nlink = (uint32_t)st.st_nlink;
  to->stx_uid = st.st_uid;
  to->stx_gid = st.st_gid;
  to->stx_mode = (uint16_t)st.st_mode;
  to->stx_ino = a->ino;
  to->stx_size = a->size;
  to->stx_blocks = (uint64_t)st.st_blocks;
  to->stx_mtime.tv_sec = st.st_mtim.tv_sec;
  to->stx_mtime.tv_nsec = (uint32_t)st.st_mtim.tv_nsec;
  to->stx_atime = to->stx_ctime = to->stx_mtime;
  to->stx_dev_major = major(DEVICE);
  to->stx_dev_minor = minor(DEVICE);
}

SLOT(statx)
EXPORT int statx(int dirfd, const char *restrict path, int flags, unsigned mask, struct statx *restrict to) {
  struct file *f = (flags & AT_EMPTY_PATH) && path && !*path ? file_get(dirfd) : NULL;
  char inside[MAX_PATH];
  if (LIKELY(!f && !path_inside(dirfd, path, inside)))
    return NEXT_OR((int)syscall(SYS_statx, dirfd, path, flags, mask, to), statx, dirfd, path, flags, mask, to);
  struct attributes a;
  int r = f ? file_attributes(f, &a) : path_attributes(inside, &a);
  if (f) file_put(f);
  if (r == 0) fill_x(to, &a);
  return (int)result_of(r);
}

/* --- Access, by the bits of the owner: all files belong to the daemon's user ------------------------------------------------ */

static int access_of(const char *inside, int wanted) {
  if (wanted & ~(R_OK | W_OK | X_OK)) return -EINVAL;
  struct attributes a;
  int r = path_attributes(inside, &a);
  if (r < 0) return r;
  bool root = syscall(SYS_geteuid) == 0;
  unsigned allowed = (a.mode >> 6) & 7;
  if (root) allowed |= R_OK | W_OK | (a.mode & 0111 ? X_OK : 0);
  return ((unsigned)wanted & ~allowed) == 0 ? 0 : -EACCES;
}

DEFINE(int, access, (const char *path, int wanted), access_of(inside, wanted), NEXT(access, path, wanted))
DEFINE(int, euidaccess, (const char *path, int wanted), access_of(inside, wanted), NEXT(euidaccess, path, wanted))
DEFINE(int, eaccess, (const char *path, int wanted), access_of(inside, wanted), NEXT(eaccess, path, wanted))
DEFINE_AT(int, faccessat, dirfd, path, (int dirfd, const char *path, int wanted, int flags), access_of(inside, wanted),
          NEXT(faccessat, dirfd, path, wanted, flags))

/* --- Names ----------------------------------------------------------------------------------------------------------------------- */

static int remove_path(const char *inside, int flags) {
  return path_request(flags & AT_REMOVEDIR ? OP_RMDIR : OP_UNLINK, inside);
}

static int remove_any(const char *inside) {
  struct attributes a;
  int r = path_attributes(inside, &a);
  return r < 0 ? r : path_request(S_ISDIR(a.mode) ? OP_RMDIR : OP_UNLINK, inside);
}

static int make_directory(const char *inside, mode_t mode) {
  uint32_t masked = (uint32_t)mode & 07777 & ~atomic_load(&door.umask);
  struct iovec path = {(void *)inside, strlen(inside)};
  struct message m = {.head = &masked, .head_length = sizeof masked, .data = &path, .data_count = 1};
  int r = client_request(OP_MKDIR, &m);
  return r < 0 ? r : 0;
}

DEFINE(int, unlink, (const char *path), remove_path(inside, 0), NEXT(unlink, path))
DEFINE(int, rmdir, (const char *path), remove_path(inside, AT_REMOVEDIR), NEXT(rmdir, path))
DEFINE_AT(int, unlinkat, dirfd, path, (int dirfd, const char *path, int flags), remove_path(inside, flags),
          NEXT(unlinkat, dirfd, path, flags))
DEFINE(int, remove, (const char *path), remove_any(inside), NEXT(remove, path))
DEFINE(int, mkdir, (const char *path, mode_t mode), make_directory(inside, mode), NEXT(mkdir, path, mode))
DEFINE_AT(int, mkdirat, dirfd, path, (int dirfd, const char *path, mode_t mode), make_directory(inside, mode),
          NEXT(mkdirat, dirfd, path, mode))

static int rename_paths(const char *from, const char *to, unsigned flags) {
  struct attributes a;
  if (flags & ~RENAME_NOREPLACE) return -EINVAL;
  /* Not atomic: another client can create the name in between. mv -n asks for no more. */
  if (flags & RENAME_NOREPLACE) {
    int r = path_attributes(to, &a);
    if (r == 0) return -EEXIST;
    if (r != -ENOENT) return r;
  }
  struct iovec target = {(void *)to, strlen(to)};
  struct message m = {.head = from, .head_length = strlen(from) + 1, .data = &target, .data_count = 1};
  int r = client_request(OP_RENAME, &m);
  return r < 0 ? r : 0;
}

/* Between the mount and another file system: EXDEV, on which mv copies. */
#define RENAMED(a, from, b, to, flags, next)                                                                           \
  char source[MAX_PATH], target[MAX_PATH];                                                                             \
  bool s = path_inside(a, from, source), t = path_inside(b, to, target);                                               \
  if (LIKELY(!s && !t)) return next;                                                                                   \
  return (int)result_of(s &&t ? rename_paths(source, target, flags) : -EXDEV);

SLOT(rename)
EXPORT int rename(const char *from, const char *to) {
  RENAMED(AT_FDCWD, from, AT_FDCWD, to, 0, NEXT(rename, from, to))
}

SLOT(renameat)
EXPORT int renameat(int a, const char *from, int b, const char *to) {
  RENAMED(a, from, b, to, 0, NEXT(renameat, a, from, b, to))
}

SLOT(renameat2)
EXPORT int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  RENAMED(a, from, b, to, flags, NEXT(renameat2, a, from, b, to, flags))
}

static int truncate_path(const char *inside, int64_t size) {
  if (size < 0) return -EINVAL;
  int fd = file_open(inside, O_WRONLY | O_CLOEXEC, 0);
  if (fd < 0) return fd;
  struct file *f = file_get(fd);
  int r = f ? file_truncate(f, size) : -EIO;
  if (f) file_put(f);
  int closed = file_forget(fd);
  syscall(SYS_close, fd);
  return r < 0 ? r : closed;
}
DEFINE(int, truncate, (const char *path, off_t size), truncate_path(inside, size), NEXT(truncate, path, size))
DEFINE(int, truncate64, (const char *path, off64_t size), truncate_path(inside, size), NEXT(truncate64, path, size))

/* --- Links: there are none ------------------------------------------------------------------------------------------------------- */

static int not_a_link(const char *inside) {
  struct attributes a;
  int r = path_attributes(inside, &a);
  return r < 0 ? r : -EINVAL;
}
DEFINE(ssize_t, readlink, (const char *path, char *to, size_t n), not_a_link(inside), NEXT(readlink, path, to, n))
DEFINE_AT(ssize_t, readlinkat, dirfd, path, (int dirfd, const char *path, char *to, size_t n), not_a_link(inside),
          NEXT(readlinkat, dirfd, path, to, n))
DEFINE_AT(int, symlink, AT_FDCWD, path, (const char *target, const char *path), -EPERM, NEXT(symlink, target, path))
DEFINE_AT(int, symlinkat, dirfd, path, (const char *target, int dirfd, const char *path), -EPERM,
          NEXT(symlinkat, target, dirfd, path))

#define LINKED(a, from, b, to, next)                                                                                   \
  char source[MAX_PATH], target[MAX_PATH];                                                                             \
  bool s = path_inside(a, from, source), t = path_inside(b, to, target);                                               \
  if (LIKELY(!s && !t)) return next;                                                                                   \
  return (int)result_of(s &&t ? -EPERM : -EXDEV);
SLOT(link)
EXPORT int link(const char *from, const char *to) { LINKED(AT_FDCWD, from, AT_FDCWD, to, NEXT(link, from, to)) }
SLOT(linkat)
EXPORT int linkat(int a, const char *from, int b, const char *to, int flags) {
  LINKED(a, from, b, to, NEXT(linkat, a, from, b, to, flags))
}

/* Path without `.`, `..` and links, if it exists: the C library asks the kernel for each part. */
static char *resolve(const char *inside, char *to) {
  struct attributes a;
  int r = path_attributes(inside, &a);
  if (r < 0) {
    errno = -r;
    return NULL;
  }
  char whole[2 * MAX_PATH];
  snprintf(whole, sizeof whole, "%s%s", door.mount, strcmp(inside, "/") == 0 ? "" : inside);
  if (strlen(whole) >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  return to ? strcpy(to, whole) : strdup(whole);
}

SLOT(realpath)
EXPORT char *realpath(const char *restrict path, char *restrict to) {
  char inside[MAX_PATH];
  if (LIKELY(!path_inside(AT_FDCWD, path, inside))) return NEXT_OR(NULL, realpath, path, to);
  return resolve(inside, to);
}

char *__realpath_chk(const char *path, char *to, size_t space);
SLOT(__realpath_chk)
EXPORT char *__realpath_chk(const char *path, char *to, size_t space) {
  char inside[MAX_PATH];
  if (LIKELY(!path_inside(AT_FDCWD, path, inside))) return NEXT_OR(NULL, __realpath_chk, path, to, space);
  if (space < PATH_MAX) abort();
  return resolve(inside, to);
}

SLOT(canonicalize_file_name)
EXPORT char *canonicalize_file_name(const char *path) {
  char inside[MAX_PATH];
  if (LIKELY(!path_inside(AT_FDCWD, path, inside))) return NEXT_OR(NULL, canonicalize_file_name, path);
  return resolve(inside, NULL);
}

/* --- Attributes that the protocol does not have: refused for existing files ------------------------------------------------ */

static int unsupported(const char *inside) {
  struct attributes a;
  int r = path_attributes(inside, &a);
  return r < 0 ? r : -EOPNOTSUPP;
}

/* Programs that copy a file set what it already has: nothing is to be done, so nothing fails. */
static int set_mode(const struct attributes *a, mode_t mode) { return (a->mode & 07777) == (mode & 07777) ? 0 : -EOPNOTSUPP; }

static int set_owner(uid_t user, gid_t group) {
  bool same = (user == (uid_t)-1 || user == (uid_t)syscall(SYS_geteuid)) && (group == (gid_t)-1 || group == (gid_t)syscall(SYS_getegid));
  return same ? 0 : -EOPNOTSUPP;
}

static int chmod_path(const char *inside, mode_t mode) {
  struct attributes a;
  int r = path_attributes(inside, &a);
  return r < 0 ? r : set_mode(&a, mode);
}

static int chmod_file(struct file *f, mode_t mode) {
  struct attributes a;
  int r = file_attributes(f, &a);
  return r < 0 ? r : set_mode(&a, mode);
}

static int chown_path(const char *inside, uid_t user, gid_t group) {
  struct attributes a;
  int r = path_attributes(inside, &a);
  return r < 0 ? r : set_owner(user, group);
}

DEFINE(int, chmod, (const char *path, mode_t mode), chmod_path(inside, mode), NEXT(chmod, path, mode))
DEFINE_AT(int, fchmodat, dirfd, path, (int dirfd, const char *path, mode_t mode, int flags), chmod_path(inside, mode),
          NEXT(fchmodat, dirfd, path, mode, flags))
DEFINE_FD(int, fchmod, (int fd, mode_t mode), chmod_file(f, mode), NEXT(fchmod, fd, mode))
DEFINE(int, chown, (const char *path, uid_t u, gid_t g), chown_path(inside, u, g), NEXT(chown, path, u, g))
DEFINE(int, lchown, (const char *path, uid_t u, gid_t g), chown_path(inside, u, g), NEXT(lchown, path, u, g))
DEFINE_AT(int, fchownat, dirfd, path, (int dirfd, const char *path, uid_t u, gid_t g, int flags), chown_path(inside, u, g),
          NEXT(fchownat, dirfd, path, u, g, flags))
DEFINE_FD(int, fchown, (int fd, uid_t u, gid_t g), set_owner(u, g), NEXT(fchown, fd, u, g))
DEFINE(int, utime, (const char *path, const struct utimbuf *t), unsupported(inside), NEXT(utime, path, t))
DEFINE(int, utimes, (const char *path, const struct timeval t[2]), unsupported(inside), NEXT(utimes, path, t))
DEFINE(int, lutimes, (const char *path, const struct timeval t[2]), unsupported(inside), NEXT(lutimes, path, t))
DEFINE_FD(int, futimes, (int fd, const struct timeval t[2]), -EOPNOTSUPP, NEXT(futimes, fd, t))
DEFINE_FD(int, futimens, (int fd, const struct timespec t[2]), -EOPNOTSUPP, NEXT(futimens, fd, t))

SLOT(utimensat)
EXPORT int utimensat(int dirfd, const char *path, const struct timespec t[2], int flags) {
  char inside[MAX_PATH];
  if (!path && fd_is_file(dirfd)) return (int)result_of(-EOPNOTSUPP);
  if (LIKELY(!path_inside(dirfd, path, inside))) return NEXT(utimensat, dirfd, path, t, flags);
  return (int)result_of(unsupported(inside));
}

DEFINE(int, mknod, (const char *path, mode_t mode, dev_t dev), -EPERM, NEXT(mknod, path, mode, dev))
DEFINE_AT(int, mknodat, dirfd, path, (int dirfd, const char *path, mode_t mode, dev_t dev), -EPERM,
          NEXT(mknodat, dirfd, path, mode, dev))
DEFINE(int, mkfifo, (const char *path, mode_t mode), -EPERM, NEXT(mkfifo, path, mode))

DEFINE(ssize_t, getxattr, (const char *path, const char *name, void *to, size_t n), unsupported(inside),
       NEXT(getxattr, path, name, to, n))
DEFINE(ssize_t, lgetxattr, (const char *path, const char *name, void *to, size_t n), unsupported(inside),
       NEXT(lgetxattr, path, name, to, n))
DEFINE_FD(ssize_t, fgetxattr, (int fd, const char *name, void *to, size_t n), -EOPNOTSUPP, NEXT(fgetxattr, fd, name, to, n))
DEFINE(int, setxattr, (const char *path, const char *name, const void *v, size_t n, int flags), unsupported(inside),
       NEXT(setxattr, path, name, v, n, flags))
DEFINE(int, lsetxattr, (const char *path, const char *name, const void *v, size_t n, int flags), unsupported(inside),
       NEXT(lsetxattr, path, name, v, n, flags))
DEFINE_FD(int, fsetxattr, (int fd, const char *name, const void *v, size_t n, int flags), -EOPNOTSUPP,
          NEXT(fsetxattr, fd, name, v, n, flags))
DEFINE(ssize_t, listxattr, (const char *path, char *to, size_t n), unsupported(inside), NEXT(listxattr, path, to, n))
DEFINE(ssize_t, llistxattr, (const char *path, char *to, size_t n), unsupported(inside), NEXT(llistxattr, path, to, n))
DEFINE_FD(ssize_t, flistxattr, (int fd, char *to, size_t n), -EOPNOTSUPP, NEXT(flistxattr, fd, to, n))

DEFINE(int, statfs, (const char *path, struct statfs *to), unsupported(inside), NEXT(statfs, path, to))
DEFINE(int, statfs64, (const char *path, struct statfs64 *to), unsupported(inside), NEXT(statfs64, path, to))
DEFINE_FD(int, fstatfs, (int fd, struct statfs *to), -EOPNOTSUPP, NEXT(fstatfs, fd, to))
DEFINE_FD(int, fstatfs64, (int fd, struct statfs64 *to), -EOPNOTSUPP, NEXT(fstatfs64, fd, to))
DEFINE(int, statvfs, (const char *path, struct statvfs *to), unsupported(inside), NEXT(statvfs, path, to))
DEFINE(int, statvfs64, (const char *path, struct statvfs64 *to), unsupported(inside), NEXT(statvfs64, path, to))
DEFINE_FD(int, fstatvfs, (int fd, struct statvfs *to), -EOPNOTSUPP, NEXT(fstatvfs, fd, to))
DEFINE_FD(int, fstatvfs64, (int fd, struct statvfs64 *to), -EOPNOTSUPP, NEXT(fstatvfs64, fd, to))

SLOT(inotify_add_watch)
EXPORT int inotify_add_watch(int watches, const char *path, uint32_t events) {
  char inside[MAX_PATH];
  if (LIKELY(!path_inside(AT_FDCWD, path, inside))) return NEXT(inotify_add_watch, watches, path, events);
  return (int)result_of(-EOPNOTSUPP);
}

/* --- Process state -------------------------------------------------------------------------------------------------------------- */

/* The kernel has no directory for a path below the mount; the mount itself can exist. */
SLOT(chdir)
EXPORT int chdir(const char *path) {
  char inside[MAX_PATH];
  if (LIKELY(!path_inside(AT_FDCWD, path, inside))) return NEXT(chdir, path);
  if (strcmp(inside, "/") == 0) {
    int r = NEXT(chdir, path);
    if (r == 0 || errno != ENOENT) return r;
  }
  struct attributes a;
  int r = path_attributes(inside, &a);
  if (r == 0 && !S_ISDIR(a.mode)) r = -ENOTDIR;
  if (r == 0) {
    tell(REASON_CHDIR, NULL);
    r = -EOPNOTSUPP;
  }
  return (int)result_of(r);
}

static int refuse_directory(void) {
  tell(REASON_CHDIR, NULL);
  return -EOPNOTSUPP;
}
DEFINE_FD(int, fchdir, (int fd), refuse_directory(), NEXT(fchdir, fd))

SLOT(umask)
EXPORT mode_t umask(mode_t mask) {
  mode_t old = NEXT_OR((mode_t)syscall(SYS_umask, mask), umask, mask);
  atomic_store(&door.umask, mask & 0777);
  return old;
}
