/*
 * Open files and their descriptors. A descriptor is an O_PATH copy of a memfd with the state that POSIX shares between copies,
 * forks and programs (offset, flags, path): the kernel copies and closes it as any other, and refuses what is not intercepted
 * with EBADF instead of using wrong bytes. Handles of the daemon belong to a process, which opens the file again when it has
 * inherited the descriptor.
 */
#define _GNU_SOURCE
#include "door.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define MAGIC "sluice-ccpfs-1"
#define MEMFD "sluice-ccpfs"
#define LINK "/memfd:" MEMFD " (deleted)"

_Atomic(struct file *) file_table[MAX_FDS];
/* Never freed: a pointer from the table can be read while another thread closes the file. */
static struct file files[MAX_FILES];

struct file *file_get_known(int fd) {
  for (;;) {
    struct file *f = atomic_load(&file_table[fd]);
    if (!f) return NULL;
    int n = atomic_load(&f->references);
    while (n > 0 && !atomic_compare_exchange_weak(&f->references, &n, n + 1)) {
    }
    if (n == 0) continue; /* being closed: the table has changed */
    if (atomic_load(&file_table[fd]) == f) return f;
    file_put(f);
  }
}

static int close_handle(uint64_t handle) {
  uint32_t head = (uint32_t)handle;
  struct message m = {.head = &head, .head_length = sizeof head, .needs = (unsigned)(handle >> 32)};
  return client_request(OP_CLOSE, &m);
}

int file_put(struct file *f) {
  if (atomic_fetch_sub(&f->references, 1) != 1) return 0;
  uint64_t handle = atomic_exchange(&f->handle, 0);
  /* A handle of a lost connection is closed; one of the parent's connection is the parent's. */
  int r = 0;
  if (handle != 0 && (unsigned)(handle >> 32) == client_generation()) r = close_handle(handle);
  munmap(f->shared, sizeof *f->shared);
  int lock_fd = atomic_exchange(&f->lock_fd, -1);
  if (lock_fd >= 0) syscall(SYS_close, lock_fd);
  atomic_store(&f->used, false);
  return r;
}

/* A free entry with one reference, or NULL. */
static struct file *allocate(struct shared *shared) {
  for (int i = 0; i < MAX_FILES; i++) {
    struct file *f = &files[i];
    bool used = false;
    if (atomic_load_explicit(&f->used, memory_order_relaxed) || !atomic_compare_exchange_strong(&f->used, &used, true)) continue;
    f->shared = shared;
    f->was_open = false;
    atomic_store(&f->handle, 0);
    atomic_store(&f->lock_fd, -1);
    atomic_store(&f->references, 1);
    return f;
  }
  return NULL;
}

/* Puts a file with its reference into the table. */
static void place(int fd, struct file *f) {
  struct file *old = atomic_exchange(&file_table[fd], f);
  if (old) file_put(old);
  if (fd <= 2) streams_follow(fd);
}

static struct shared *map_shared(int fd) {
  long at = syscall(SYS_mmap, NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
  return at == -1 ? NULL : (struct shared *)at;
}

/* It cannot become shorter, which would kill the processes that read it. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static void proc_link(char *out, size_t space, int fd) { snprintf(out, space, "/proc/self/fd/%d", fd); }

/* A descriptor with the lowest free number, and its mapped state; or -errno. */
static int make_descriptor(bool cloexec, struct shared **shared) {
  int fd = (int)syscall(SYS_memfd_create, MEMFD, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -errno;
  int r = 0, path_fd = -1;
  char link[48];
  proc_link(link, sizeof link, fd);
  *shared = NULL;
  if (fd >= MAX_FDS) r = -EMFILE;
  else if (syscall(SYS_ftruncate, fd, (long)sizeof(struct shared)) < 0 || !(*shared = map_shared(fd))) r = -errno;
  else if (syscall(SYS_fcntl, fd, F_ADD_SEALS, SEALS) < 0) r = -errno;
  else if ((path_fd = (int)syscall(SYS_openat, AT_FDCWD, link, O_PATH | O_CLOEXEC, 0)) < 0) r = -errno;
  /* The same number, so that it is the lowest one, as programs expect of open. */
  else if (syscall(SYS_dup3, path_fd, fd, cloexec ? O_CLOEXEC : 0) < 0) r = -errno;
  if (path_fd >= 0) syscall(SYS_close, path_fd);
  if (r == 0) return fd;
  if (*shared) munmap(*shared, sizeof **shared);
  syscall(SYS_close, fd);
  return r;
}

/* Opens on the daemon; 0 or -errno. The content of the reply is the size, which is not needed. */
static int open_handle(const char *inside, uint32_t flags, uint32_t mode, uint64_t *handle) {
  struct {
    uint32_t flags, mode;
  } head = {flags, mode};
  uint64_t size;
  struct iovec path = {(void *)inside, strlen(inside)}, reply = {&size, sizeof size};
  struct message m = {&head, sizeof head, &path, 1, &reply, 1, 0, 0, 0};
  int r = client_request(OP_OPEN, &m);
  if (r < 0) return r;
  if (m.received != sizeof size) return client_refuse();
  *handle = (uint64_t)m.generation << 32 | (uint32_t)r;
  return 0;
}

static int handle_attributes(uint64_t handle, struct attributes *a);

/* Flags that the daemon gets; the others are of the descriptor. */
#define OPEN_FLAGS (O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC)
#define STATUS_FLAGS (O_ACCMODE | O_APPEND | O_NONBLOCK | O_SYNC | O_DSYNC)

int file_open(const char *inside, int flags, mode_t mode) {
  if ((flags & O_TMPFILE) == O_TMPFILE) return -EOPNOTSUPP;
  /* The daemon caches: there is no direct I/O. The answer of file systems without it. */
  if (flags & O_DIRECT) return -EINVAL;
  struct attributes a;
  uint64_t handle = 0;
  bool is_directory = false;
  int r;
  if (flags & (O_DIRECTORY | O_PATH)) {
    r = path_attributes(inside, &a);
    if (r < 0) return r;
    is_directory = S_ISDIR(a.mode);
    if (!is_directory && (flags & O_DIRECTORY)) return -ENOTDIR;
    if (!is_directory) flags &= ~(O_ACCMODE | O_CREAT | O_TRUNC);
  }
  if (!is_directory) {
    uint32_t masked = (uint32_t)mode & 07777 & ~atomic_load(&door.umask);
    r = open_handle(inside, (uint32_t)(flags & OPEN_FLAGS), masked, &handle);
    if (r == 0) r = handle_attributes(handle, &a);
    else if (r == -EISDIR && (flags & (O_ACCMODE | O_CREAT)) == O_RDONLY) r = path_attributes(inside, &a);
    if (r == 0 && S_ISDIR(a.mode)) {
      is_directory = true;
      if (handle != 0) close_handle(handle);
      handle = 0;
    }
    if (r < 0) {
      if (handle != 0) close_handle(handle);
      return r;
    }
  }
  if (is_directory && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT))) return -EISDIR;
  struct shared *shared = NULL;
  int fd = make_descriptor(flags & O_CLOEXEC, &shared);
  struct file *f = fd >= 0 ? allocate(shared) : NULL;
  if (!f) {
    if (handle != 0) close_handle(handle);
    if (fd < 0) return fd;
    munmap(shared, sizeof *shared);
    syscall(SYS_close, fd);
    return -EMFILE;
  }
  memcpy(shared->magic, MAGIC, sizeof MAGIC);
  atomic_store(&shared->flags, (uint32_t)(flags & STATUS_FLAGS));
  shared->is_directory = is_directory;
  shared->ino = a.ino;
  strcpy(shared->path, inside);
  f->was_open = true;
  atomic_store(&f->handle, handle);
  place(fd, f);
  return fd;
}

static int handle_attributes(uint64_t handle, struct attributes *a) {
  uint32_t head = (uint32_t)handle;
  unsigned char content[28];
  struct iovec reply = {content, sizeof content};
  struct message m = {&head, sizeof head, NULL, 0, &reply, 1, (unsigned)(handle >> 32), 0, 0};
  int r = client_request(OP_FSTAT, &m);
  if (r < 0) return r;
  if (m.received != sizeof content) return client_refuse();
  memcpy(&a->size, content, 8);
  memcpy(&a->mtime_ns, content + 8, 8);
  memcpy(&a->mode, content + 16, 4);
  memcpy(&a->ino, content + 20, 8);
  return 0;
}

int file_attributes(struct file *f, struct attributes *a) {
  if (f->shared->is_directory) {
    char path[MAX_PATH];
    memcpy(path, f->shared->path, sizeof path);
    path[sizeof path - 1] = 0;
    return path_attributes(path, a);
  }
  uint32_t handle;
  int r = file_handle(f, &handle);
  return r < 0 ? r : handle_attributes(atomic_load(&f->handle), a);
}

/* After fork or exec: the same file by its path, if it is still that one. */
static int open_again(struct file *f, uint64_t *handle) {
  char path[MAX_PATH];
  memcpy(path, f->shared->path, sizeof path);
  path[sizeof path - 1] = 0;
  struct attributes a;
  int r = open_handle(path, file_flags(f) & O_ACCMODE, 0, handle);
  if (r == 0) r = handle_attributes(*handle, &a);
  if (r == 0 && a.ino != f->shared->ino) {
    close_handle(*handle);
    r = -ENOENT;
  }
  if (r != -ENOENT) return r;
  tell(REASON_STALE, path);
  return -ESTALE;
}

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* Entries whose handle belongs to the parent of a fork. */
static void forked(void) {
  pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  opening = fresh;
  for (int i = 0; i < MAX_FILES; i++) {
    if (!atomic_load(&files[i].used)) continue;
    files[i].was_open = false;
    atomic_store(&files[i].handle, 0);
  }
  streams_forked();
  directories_forked();
}

int file_handle(struct file *f, uint32_t *handle) {
  uint64_t h = atomic_load(&f->handle);
  if (f->shared->is_directory) return -EISDIR;
  if (UNLIKELY(h == 0)) {
    int r = 0;
    pthread_mutex_lock(&opening);
    h = atomic_load(&f->handle);
    if (h == 0 && f->was_open) r = -EIO;
    else if (h == 0) {
      r = open_again(f, &h);
      if (r == 0) {
        f->was_open = true;
        atomic_store(&f->handle, h);
      }
    }
    pthread_mutex_unlock(&opening);
    if (r < 0) return r;
  }
  *handle = (uint32_t)h;
  return 0;
}

void file_copied(int from, int to) {
  if (!door.enabled || to < 0 || from == to || to >= MAX_FDS) return;
  struct file *f = from >= 0 && from < MAX_FDS ? file_get(from) : NULL;
  if (!f && !atomic_load(&file_table[to])) return;
  place(to, f);
}

int file_forget(int fd) {
  struct file *f = atomic_exchange(&file_table[fd], NULL);
  return f ? file_put(f) : 0;
}

static bool is_ours(int fd) {
  char link[48], target[sizeof LINK + 8];
  proc_link(link, sizeof link, fd);
  ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target);
  return n == sizeof LINK - 1 && memcmp(target, LINK, sizeof LINK - 1) == 0;
}

static void adopt(int fd) {
  if (fd < 0 || fd >= MAX_FDS || atomic_load(&file_table[fd]) || !is_ours(fd)) return;
  char link[48];
  proc_link(link, sizeof link, fd);
  int memory = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDWR | O_CLOEXEC, 0);
  if (memory < 0) return;
  struct stat st;
  struct shared *shared = NULL;
  bool sealed = (syscall(SYS_fcntl, memory, F_GET_SEALS) & SEALS) == SEALS;
  if (sealed && syscall(SYS_newfstatat, memory, "", &st, AT_EMPTY_PATH) == 0 && st.st_size == sizeof *shared)
    shared = map_shared(memory);
  syscall(SYS_close, memory);
  if (!shared) return;
  struct file *f = memcmp(shared->magic, MAGIC, sizeof MAGIC) == 0 && shared->path[0] == '/' ? allocate(shared) : NULL;
  if (!f) {
    munmap(shared, sizeof *shared);
    return;
  }
  /* Copies of one file map the same page, and so have one offset. */
  place(fd, f);
}

void files_adopt(void) {
  pthread_atfork(NULL, NULL, forked);
  int folder = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder < 0) return;
  char some[4096];
  long n;
  while ((n = syscall(SYS_getdents64, folder, some, sizeof some)) > 0) {
    for (long at = 0; at < n;) {
      struct dirent64 *entry = (struct dirent64 *)(some + at);
      if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') adopt(atoi(entry->d_name));
      at += entry->d_reclen;
    }
  }
  syscall(SYS_close, folder);
}
