/* Bytes and attributes of files: transfers in pieces of at most 1 MiB, offsets, and what is derived from them. */
#define _GNU_SOURCE
#include "door.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* Most bytes that the kernel transfers in one call, and most buffers. */
#define MOST_BYTES 0x7ffff000
#define MOST_BUFFERS 1024
/* Most buffers in one request. */
#define MOST_PIECES 60

/* Requested bytes, or -errno as the kernel. */
static ssize_t total_of(const struct iovec *parts, int count) {
  if (count < 0 || count > MOST_BUFFERS) return -EINVAL;
  size_t sum = 0;
  for (int i = 0; i < count; i++) {
    if (parts[i].iov_len > SSIZE_MAX || __builtin_add_overflow(sum, parts[i].iov_len, &sum) || sum > SSIZE_MAX) return -EINVAL;
  }
  return sum > MOST_BYTES ? MOST_BYTES : (ssize_t)sum;
}

/* The buffers from `skip` on, at most MAX_DATA and `left` bytes: their number in `out`, and their bytes. */
static int slice(const struct iovec *parts, int count, size_t skip, size_t left, struct iovec *out, size_t *bytes) {
  int n = 0;
  size_t room = left < MAX_DATA ? left : MAX_DATA;
  *bytes = 0;
  for (int i = 0; i < count && n < MOST_PIECES && room > 0; i++) {
    if (skip >= parts[i].iov_len) {
      skip -= parts[i].iov_len;
      continue;
    }
    size_t take = parts[i].iov_len - skip < room ? parts[i].iov_len - skip : room;
    out[n].iov_base = (char *)parts[i].iov_base + skip;
    out[n++].iov_len = take;
    *bytes += take;
    room -= take;
    skip = 0;
  }
  return n;
}

static unsigned generation_of(struct file *f) { return (unsigned)(atomic_load(&f->handle) >> 32); }

ssize_t file_read_at(struct file *f, const struct iovec *to, int count, int64_t offset) {
  if (offset < 0) return -EINVAL;
  if ((file_flags(f) & O_ACCMODE) == O_WRONLY) return -EBADF;
  if (f->shared->is_directory) return -EISDIR;
  ssize_t total = total_of(to, count);
  if (total < 0) return total;
  if (offset > INT64_MAX - total) return -EINVAL;
  uint32_t handle;
  int r = file_handle(f, &handle);
  if (r < 0) return r;
  ssize_t done = 0;
  while (done < total) {
    struct iovec some[MOST_PIECES];
    size_t bytes;
    int n = slice(to, count, (size_t)done, (size_t)(total - done), some, &bytes);
    struct {
      uint32_t handle;
      uint64_t offset;
      uint32_t length;
    } __attribute__((packed)) head = {handle, (uint64_t)(offset + done), (uint32_t)bytes};
    struct message m = {&head, sizeof head, NULL, 0, some, n, generation_of(f), 0, 0};
    r = client_request(OP_PREAD, &m);
    if (r >= 0 && (size_t)r != m.received) r = client_refuse();
    if (r < 0) return done > 0 ? done : r;
    done += r;
    /* Short only at the end of the file. */
    if ((size_t)r < bytes) break;
  }
  return done;
}

/* Writes at `offset`, or at the end if it is -1; then `end` is the position after the last byte. */
static ssize_t write_pieces(struct file *f, const struct iovec *from, int count, int64_t offset, uint64_t *end) {
  if ((file_flags(f) & O_ACCMODE) == O_RDONLY) return -EBADF;
  ssize_t total = total_of(from, count);
  if (total < 0) return total;
  if (offset >= 0 && offset > INT64_MAX - total) return -EINVAL;
  uint32_t handle;
  int r = file_handle(f, &handle);
  if (r < 0) return r;
  ssize_t done = 0;
  while (done < total) {
    struct iovec some[MOST_PIECES];
    size_t bytes;
    int n = slice(from, count, (size_t)done, (size_t)(total - done), some, &bytes);
    struct {
      uint32_t handle;
      uint64_t offset;
    } __attribute__((packed)) head = {handle, (uint64_t)(offset + done)};
    uint64_t written_at = 0;
    struct iovec reply = {&written_at, sizeof written_at};
    bool append = offset < 0;
    struct message m = {&head, append ? 4 : sizeof head, some, n, &reply, append, generation_of(f), 0, 0};
    r = client_request(append ? OP_APPEND : OP_PWRITE, &m);
    if (r >= 0 && ((size_t)r > bytes || m.received != (append ? sizeof written_at : 0))) r = client_refuse();
    if (r == 0) r = -EIO;
    if (r < 0) return done > 0 ? done : r;
    done += r;
    if (append && end) *end = written_at + (uint64_t)r;
  }
  if (done > 0 && (file_flags(f) & O_DSYNC)) {
    r = file_sync(f);
    if (r < 0) return r;
  }
  return done;
}

ssize_t file_write_at(struct file *f, const struct iovec *from, int count, int64_t offset) {
  if (offset < 0) return -EINVAL;
  /* As on Linux, O_APPEND wins over the offset. */
  return write_pieces(f, from, count, file_flags(f) & O_APPEND ? -1 : offset, NULL);
}

/* Other processes can share the offset: it moves if it has not changed meanwhile, or the bytes at the new one are read. */
ssize_t file_read(struct file *f, const struct iovec *to, int count) {
  for (;;) {
    uint64_t at = atomic_load(&f->shared->offset);
    ssize_t n = file_read_at(f, to, count, (int64_t)at);
    if (n <= 0 || atomic_compare_exchange_strong(&f->shared->offset, &at, at + (uint64_t)n)) return n;
  }
}

/* The range is taken before it is written, so that writes of several processes do not overlap. */
ssize_t file_write(struct file *f, const struct iovec *from, int count) {
  if (file_flags(f) & O_APPEND) {
    uint64_t end = 0;
    ssize_t n = write_pieces(f, from, count, -1, &end);
    if (n > 0) atomic_store(&f->shared->offset, end);
    return n;
  }
  if ((file_flags(f) & O_ACCMODE) == O_RDONLY) return -EBADF;
  ssize_t total = total_of(from, count);
  if (total < 0) return total;
  uint64_t at = atomic_fetch_add(&f->shared->offset, (uint64_t)total);
  ssize_t n = at > INT64_MAX ? -EINVAL : write_pieces(f, from, count, (int64_t)at, NULL);
  if (n < total) atomic_fetch_sub(&f->shared->offset, (uint64_t)(total - (n > 0 ? n : 0)));
  return n;
}

int64_t file_seek(struct file *f, int64_t offset, int whence) {
  int64_t from = 0;
  if (whence == SEEK_CUR) {
    from = (int64_t)atomic_load(&f->shared->offset);
  } else if (whence != SEEK_SET) {
    struct attributes a;
    int r = file_attributes(f, &a);
    if (r < 0) return r;
    if (whence == SEEK_DATA || whence == SEEK_HOLE) {
      /* The answers of a file system that does not record holes. */
      if (offset < 0 || (uint64_t)offset >= a.size) return -ENXIO;
      if (whence == SEEK_HOLE) offset = (int64_t)a.size;
    } else if (whence == SEEK_END) {
      from = (int64_t)a.size;
    } else {
      return -EINVAL;
    }
  }
  int64_t to;
  if (__builtin_add_overflow(from, offset, &to)) return -EOVERFLOW;
  if (to < 0) return -EINVAL;
  atomic_store(&f->shared->offset, (uint64_t)to);
  return to;
}

/* A request with a handle, and perhaps a number. */
static int handle_request(struct file *f, enum operation op, const uint64_t *number) {
  struct {
    uint32_t handle;
    uint64_t number;
  } __attribute__((packed)) head = {0, number ? *number : 0};
  uint32_t handle;
  int r = file_handle(f, &handle);
  if (r < 0) return r;
  head.handle = handle;
  struct message m = {.head = &head, .head_length = number ? sizeof head : 4, .needs = generation_of(f)};
  r = client_request(op, &m);
  return r < 0 ? r : 0;
}

int file_sync(struct file *f) { return f->shared->is_directory ? 0 : handle_request(f, OP_FSYNC, NULL); }

int file_truncate(struct file *f, int64_t size) {
  if (size < 0 || (file_flags(f) & O_ACCMODE) == O_RDONLY) return -EINVAL;
  uint64_t n = (uint64_t)size;
  return handle_request(f, OP_FTRUNCATE, &n);
}

int path_attributes(const char *inside, struct attributes *a) {
  unsigned char content[28];
  struct iovec reply = {content, sizeof content};
  struct message m = {inside, strlen(inside), NULL, 0, &reply, 1, 0, 0, 0};
  int r = client_request(OP_STAT, &m);
  if (r < 0) return r;
  if (m.received != sizeof content) return client_refuse();
  memcpy(&a->size, content, 8);
  memcpy(&a->mtime_ns, content + 8, 8);
  memcpy(&a->mode, content + 16, 4);
  memcpy(&a->ino, content + 20, 8);
  return 0;
}

int path_request(enum operation op, const char *inside) {
  struct message m = {.head = inside, .head_length = strlen(inside)};
  int r = client_request(op, &m);
  return r < 0 ? r : 0;
}
