/*
 * FILE* streams. The C library reads and writes a stream internally, so a stream of a file of ccPFS is one with functions of its
 * own (fopencookie). stdin, stdout and stderr are variables of glibc: while descriptor 0, 1 or 2 is a file of ccPFS, they point to
 * such a stream.
 */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "door.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

struct stream {
  FILE *file;
  int fd;
  struct stream *next;
};

static struct stream *streams;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void streams_forked(void) {
  pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  lock = fresh;
}

static int descriptor_of(void *cookie) { return ((struct stream *)cookie)->fd; }
static ssize_t read_stream(void *cookie, char *to, size_t n) { return read(descriptor_of(cookie), to, n); }
/* 0 is an error here: a negative number would be taken for bytes. */
static ssize_t write_stream(void *cookie, const char *from, size_t n) {
  ssize_t r = write(descriptor_of(cookie), from, n);
  return r < 0 ? 0 : r;
}

static int seek_stream(void *cookie, off64_t *offset, int whence) {
  off64_t r = lseek64(descriptor_of(cookie), *offset, whence);
  if (r < 0) return -1;
  *offset = r;
  return 0;
}

static int close_stream(void *cookie) {
  struct stream *s = cookie;
  pthread_mutex_lock(&lock);
  struct stream **at = &streams;
  while (*at && *at != s) at = &(*at)->next;
  if (*at) *at = s->next;
  pthread_mutex_unlock(&lock);
  int fd = s->fd;
  free(s);
  return close(fd);
}

static int stream_descriptor(FILE *file) {
  int fd = -1;
  pthread_mutex_lock(&lock);
  for (struct stream *s = streams; s; s = s->next) {
    if (s->file == file) fd = s->fd;
  }
  pthread_mutex_unlock(&lock);
  return fd;
}

static FILE *make(int fd, const char *mode) {
  struct stream *s = malloc(sizeof *s);
  if (!s) return NULL;
  s->fd = fd;
  cookie_io_functions_t functions = {read_stream, write_stream, seek_stream, close_stream};
  s->file = fopencookie(s, mode, functions);
  if (!s->file) {
    free(s);
    return NULL;
  }
  pthread_mutex_lock(&lock);
  s->next = streams;
  streams = s;
  pthread_mutex_unlock(&lock);
  return s->file;
}

/* --- stdin, stdout, stderr --------------------------------------------------------------------------------------------------- */

static FILE *before[3];  /* the C library's; NULL: not replaced */
static FILE *instead[3]; /* made once each */

static FILE **variable_of(int fd) { return fd == 0 ? &stdin : fd == 1 ? &stdout : &stderr; }

void streams_follow(int fd) {
  FILE **variable = variable_of(fd);
  bool ours = fd_is_file(fd);
  int kept = errno;
  if (ours && !before[fd]) {
    if (!instead[fd]) instead[fd] = make(fd, fd == 0 ? "r" : "w");
    if (instead[fd]) {
      if (fd == 2) setvbuf(instead[fd], NULL, _IONBF, 0);
      before[fd] = *variable;
      *variable = instead[fd];
    }
  } else if (!ours && before[fd] && *variable == instead[fd]) {
    *variable = before[fd];
    before[fd] = NULL;
  }
  errno = kept;
}

void streams_flush(int fd) {
  FILE *file = *variable_of(fd);
  int kept = errno;
  if (fd != 0 && file && __fpending(file) > 0) fflush(file);
  errno = kept;
}

/* --- Calls --------------------------------------------------------------------------------------------------------------------- */

/* Flags of a mode as `r+` or `wxe`; -1 if it is invalid. */
static int flags_of(const char *mode) {
  int flags;
  switch (mode[0]) {
  case 'r': flags = O_RDONLY; break;
  case 'w': flags = O_WRONLY | O_CREAT | O_TRUNC; break;
  case 'a': flags = O_WRONLY | O_CREAT | O_APPEND; break;
  default: return -1;
  }
  for (const char *c = mode + 1; *c && *c != ','; c++) {
    if (*c == '+') flags = (flags & ~O_ACCMODE) | O_RDWR;
    else if (*c == 'x') flags |= O_EXCL;
    else if (*c == 'e') flags |= O_CLOEXEC;
  }
  return flags;
}

static FILE *open_stream(const char *inside, const char *mode) {
  int flags = flags_of(mode);
  int fd = flags < 0 ? -EINVAL : file_open(inside, flags, 0666);
  if (fd < 0) {
    errno = -fd;
    return NULL;
  }
  FILE *file = make(fd, mode);
  if (!file) close(fd);
  return file;
}

#define DEFINE_FOPEN(name)                                                                                             \
  SLOT(name)                                                                                                           \
  EXPORT FILE *name(const char *path, const char *mode) {                                                              \
    char inside[MAX_PATH];                                                                                             \
    int from = path_descriptor(path);                                                                                  \
    if (UNLIKELY(from >= 0 && fd_is_file(from))) {                                                                     \
      int copy = dup(from);                                                                                            \
      return copy < 0 ? NULL : make(copy, mode);                                                                       \
    }                                                                                                                  \
    if (UNLIKELY(path_inside(AT_FDCWD, path, inside))) return open_stream(inside, mode);                               \
    FILE *file = NEXT_OR(NULL, name, path, mode);                                                                      \
    if (UNLIKELY(door.enabled) && file && fileno(file) <= 2) streams_follow(fileno(file));                             \
    return file;                                                                                                       \
  }
DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

/* A standard stream can be replaced, since the program uses the variable; another FILE cannot become one of ccPFS. */
#define DEFINE_FREOPEN(name)                                                                                           \
  SLOT(name)                                                                                                           \
  EXPORT FILE *name(const char *path, const char *mode, FILE *old) {                                                   \
    char inside[MAX_PATH];                                                                                             \
    int number = door.enabled && old ? fileno(old) : -1;                                                               \
    bool to_ours = path_inside(AT_FDCWD, path, inside);                                                                \
    if (LIKELY(!to_ours && !fd_is_file(number))) return NEXT_OR(NULL, name, path, mode, old);                          \
    if (number < 0 || number > 2 || old != *variable_of(number) || !path) {                                            \
      tell(REASON_STREAM, NULL);                                                                                       \
      errno = ENOTSUP;                                                                                                 \
      return NULL;                                                                                                     \
    }                                                                                                                  \
    int fd = open(path, flags_of(mode), 0666);                                                                         \
    if (fd < 0) return NULL;                                                                                           \
    if (fd != number) {                                                                                                \
      dup2(fd, number);                                                                                                \
      close(fd);                                                                                                       \
    }                                                                                                                  \
    return *variable_of(number);                                                                                       \
  }
DEFINE_FREOPEN(freopen)
DEFINE_FREOPEN(freopen64)

SLOT(fdopen)
EXPORT FILE *fdopen(int fd, const char *mode) {
  if (LIKELY(!fd_is_file(fd))) return NEXT_OR(NULL, fdopen, fd, mode);
  return make(fd, mode);
}

#define DEFINE_FILENO(name)                                                                                            \
  SLOT(name)                                                                                                           \
  EXPORT int name(FILE *file) {                                                                                        \
    int kept = errno;                                                                                                  \
    int fd = NEXT(name, file);                                                                                         \
    if (LIKELY(fd >= 0 || !door.enabled)) return fd;                                                                   \
    fd = stream_descriptor(file);                                                                                      \
    if (fd >= 0) errno = kept;                                                                                         \
    return fd;                                                                                                         \
  }
DEFINE_FILENO(fileno)
DEFINE_FILENO(fileno_unlocked)
