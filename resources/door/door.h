/*
 * Door of ccPFS inside a program: paths below the mount go to the client daemon of the node, everything else to the C library.
 *
 * The program calls (calls-*.c, streams.c, directories.c); the path (paths.c) or the descriptor (files.c) determines if the file
 * is one of ccPFS; data.c transfers its bytes; client.c talks to the daemon. Without SLUICE_CCPFS_MOUNT each call costs one
 * branch. docs/ccpfs-door.md has the protocol and the limits.
 */
#ifndef SLUICE_DOOR_H
#define SLUICE_DOOR_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../stage/real.h"

enum {
  MAX_PATH = 4096,
  /* Descriptor numbers and simultaneously open files of ccPFS of a process; beyond them open fails with EMFILE. */
  MAX_FDS = 65536,
  MAX_FILES = 4096,
  /* Most bytes of data in one request or reply. */
  MAX_DATA = 1 << 20,
};

#define SLOT(name) static _Atomic(void *) real_##name;

/* Calls the C library's function; where there is none (yet), evaluates `otherwise`. */
#define NEXT_OR(otherwise, name, ...)                                                                                  \
  ({                                                                                                                   \
    __typeof__(&name) next_ = REAL(name);                                                                              \
    next_ ? next_(__VA_ARGS__) : (otherwise);                                                                          \
  })
#define NEXT(name, ...) NEXT_OR((errno = ENOSYS, -1), name, __VA_ARGS__)

/* Kernel convention to that of the C library. */
static inline long result_of(long r) {
  if (r >= 0) return r;
  errno = (int)-r;
  return -1;
}

/* --- door.c: configuration and messages ------------------------------------------------------------------------------- */

struct door {
  bool enabled;
  bool local_locks;
  char mount[MAX_PATH];
  size_t mount_length;
  char socket[108];
  unsigned timeout_ms;
  atomic_uint umask;
};
extern struct door door;

/* Reasons that a program is told once, on its standard error. */
enum reason { REASON_DAEMON, REASON_MMAP, REASON_LOCKS, REASON_CHDIR, REASON_STALE, REASON_STREAM, REASON_COUNT };
void tell(enum reason reason, const char *detail);

/* --- paths.c ---------------------------------------------------------------------------------------------------------------- */

/*
 * True if the path, made absolute and without `.`, `..` and `//`, is the mount or below it. `inside` (MAX_PATH) becomes the path
 * in the mount, beginning with a slash. Textual: links are not followed.
 */
bool path_inside(int dirfd, const char *path, char *inside);
/* Number of the descriptor that /dev/stdin, /dev/fd/N or /proc/self/fd/N names, or -1. */
int path_descriptor(const char *path);

/* --- client.c: connection to the daemon -------------------------------------------------------------------------------------- */

enum operation {
  OP_HELLO, OP_OPEN, OP_CLOSE, OP_PREAD, OP_PWRITE, OP_APPEND, OP_FSYNC, OP_FTRUNCATE, OP_FSTAT, OP_STAT, OP_UNLINK, OP_RENAME,
  OP_MKDIR, OP_RMDIR, OP_READDIR,
};

struct message {
  const void *head; /* fixed part of a request */
  size_t head_length;
  const struct iovec *data; /* its data */
  int data_count;
  const struct iovec *reply; /* buffers for the content of the reply */
  int reply_count;
  unsigned needs; /* connection that its handle belongs to; 0: any */
  unsigned generation; /* connection that was used */
  size_t received; /* bytes of content received */
};

/* Result of the daemon, or -errno: ENOTCONN without a daemon, EIO if the connection ends or its replies are invalid. */
int client_request(enum operation op, struct message *m);
/* Ends the connection after an invalid reply; returns -EIO. */
int client_refuse(void);
/* Number of the present connection of this process. */
unsigned client_generation(void);
/* True for the connection's number, which does not exist for the program. */
bool client_is_descriptor(int fd);
/* Moves the connection to another number, because the program wants this one. */
void client_makes_way(int fd);
void client_init(void);

/* --- files.c: open files and their descriptors ------------------------------------------------------------------------------- */

/*
 * State of an open file that its descriptors share, also after fork and exec: a memfd, of which each descriptor is an O_PATH copy.
 * The content is not trusted: another process can write to it.
 */
struct shared {
  char magic[16];
  _Atomic uint32_t flags; /* access mode and status flags of open */
  uint32_t is_directory;
  uint64_t ino;
  _Atomic uint64_t offset;
  char path[MAX_PATH]; /* in the mount */
};

struct file {
  atomic_bool used;
  atomic_int references; /* of descriptors, and of calls in progress */
  struct shared *shared;
  _Atomic uint64_t handle; /* generation << 32 | the daemon's handle; 0: none yet */
  bool was_open; /* has had a handle in this process */
  atomic_int lock_fd; /* -1: none */
};

extern _Atomic(struct file *) file_table[MAX_FDS];
struct file *file_get_known(int fd);
/* The file of a descriptor, referenced, or NULL if it is not one of ccPFS. */
static inline struct file *file_get(int fd) {
  if (LIKELY(!door.enabled) || (unsigned)fd >= MAX_FDS) return NULL;
  if (LIKELY(!atomic_load_explicit(&file_table[fd], memory_order_acquire))) return NULL;
  return file_get_known(fd);
}
/* Drops a reference; the last one closes the file, and returns 0 or -errno. */
int file_put(struct file *f);
static inline bool fd_is_file(int fd) {
  return door.enabled && (unsigned)fd < MAX_FDS && atomic_load_explicit(&file_table[fd], memory_order_relaxed);
}
/* Opens a path in the mount. The descriptor, or -errno. */
int file_open(const char *inside, int flags, mode_t mode);
/* 0 and the handle of this process, opened again after fork or exec; or -errno. */
int file_handle(struct file *f, uint32_t *handle);
/* `to` has become a copy of `from` (either may be of another file system). */
void file_copied(int from, int to);
/* Removes a descriptor from the table, before the kernel closes it: another thread may get the number at once. 0 or -errno. */
int file_forget(int fd);
/* Finds the files that the process inherited by exec. */
void files_adopt(void);
static inline uint32_t file_flags(struct file *f) { return atomic_load_explicit(&f->shared->flags, memory_order_relaxed); }
/* Descriptor outside the numbers that programs use. */
int fd_high(int fd);

/* --- data.c -------------------------------------------------------------------------------------------------------------------- */

/* Each returns a number of bytes or -errno. */
ssize_t file_read(struct file *f, const struct iovec *to, int count);
ssize_t file_write(struct file *f, const struct iovec *from, int count);
ssize_t file_read_at(struct file *f, const struct iovec *to, int count, int64_t offset);
ssize_t file_write_at(struct file *f, const struct iovec *from, int count, int64_t offset);
int64_t file_seek(struct file *f, int64_t offset, int whence);
int file_sync(struct file *f);
int file_truncate(struct file *f, int64_t size);

struct attributes {
  uint64_t size, mtime_ns, ino;
  uint32_t mode;
};
int file_attributes(struct file *f, struct attributes *a);
int path_attributes(const char *inside, struct attributes *a);
/* A request with a path only. */
int path_request(enum operation op, const char *inside);

/* --- streams.c, directories.c ------------------------------------------------------------------------------------------------- */

/* Descriptor 0, 1 or 2 has changed: stdin, stdout and stderr follow. */
void streams_follow(int fd);
/* Before it changes: writes out what the stream still holds. */
void streams_flush(int fd);
/* In the child of a fork: locks that other threads of the parent held are free. */
void streams_forked(void);
void directories_forked(void);

#endif
