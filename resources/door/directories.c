/* Directory streams: the names of a directory, read at once when it is opened or rewound. */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include "door.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

struct directory {
  int fd;
  char *names; /* each ends with 0 */
  size_t length;
  size_t at;   /* next name */
  long number; /* of the next entry; 0 and 1 are `.` and `..` */
  bool is_root;
  struct dirent entry;
  struct directory *next;
};

static struct directory *directories;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int count;

void directories_forked(void) {
  pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  lock = fresh;
}

/* The C library's DIR and this one are told apart by the address. */
static struct directory *ours(DIR *d) {
  if (LIKELY(atomic_load_explicit(&count, memory_order_relaxed) == 0)) return NULL;
  pthread_mutex_lock(&lock);
  struct directory *at = directories;
  while (at && at != (struct directory *)d) at = at->next;
  pthread_mutex_unlock(&lock);
  return at;
}

/* Names that a directory cannot have make the whole reply invalid. */
static bool are_valid(const char *names, size_t length) {
  for (const char *at = names; at < names + length; at += strlen(at) + 1) {
    size_t n = strlen(at);
    if (n == 0 || n > NAME_MAX || strchr(at, '/')) return false;
  }
  return true;
}

static int load(struct directory *d) {
  char path[MAX_PATH];
  struct file *f = file_get(d->fd);
  if (!f) return -EBADF;
  memcpy(path, f->shared->path, sizeof path);
  path[sizeof path - 1] = 0;
  bool is_directory = f->shared->is_directory;
  file_put(f);
  if (!is_directory) return -ENOTDIR;
  char *names = malloc(MAX_DATA + 1);
  if (!names) return -ENOMEM;
  struct iovec reply = {names, MAX_DATA};
  struct message m = {path, strlen(path), NULL, 0, &reply, 1, 0, 0, 0};
  int r = client_request(OP_READDIR, &m);
  if (r >= 0) {
    /* The last name need not end with 0. */
    names[m.received] = 0;
    size_t length = m.received > 0 && names[m.received - 1] != 0 ? m.received + 1 : m.received;
    if (!are_valid(names, length)) r = client_refuse();
    d->length = length;
  }
  if (r < 0) {
    free(names);
    return r;
  }
  free(d->names);
  char *smaller = realloc(names, d->length + 1);
  d->names = smaller ? smaller : names;
  d->at = 0;
  d->number = 0;
  d->is_root = strcmp(path, "/") == 0;
  return 0;
}

/* Takes the descriptor if it succeeds. */
static DIR *open_directory(int fd) {
  struct directory *d = calloc(1, sizeof *d);
  int r = d ? 0 : -ENOMEM;
  if (d) {
    d->fd = fd;
    r = load(d);
  }
  if (r < 0) {
    free(d);
    errno = -r;
    return NULL;
  }
  pthread_mutex_lock(&lock);
  d->next = directories;
  directories = d;
  atomic_fetch_add(&count, 1);
  pthread_mutex_unlock(&lock);
  return (DIR *)d;
}

SLOT(opendir)
EXPORT DIR *opendir(const char *path) {
  char inside[MAX_PATH];
  if (LIKELY(!path_inside(AT_FDCWD, path, inside))) return NEXT_OR(NULL, opendir, path);
  int fd = file_open(inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) {
    errno = -fd;
    return NULL;
  }
  DIR *d = open_directory(fd);
  int kept = errno;
  if (!d) close(fd);
  errno = kept;
  return d;
}

SLOT(fdopendir)
EXPORT DIR *fdopendir(int fd) {
  return fd_is_file(fd) ? open_directory(fd) : NEXT_OR(NULL, fdopendir, fd);
}

SLOT(closedir)
EXPORT int closedir(DIR *dir) {
  struct directory *d = ours(dir);
  if (LIKELY(!d)) return NEXT(closedir, dir);
  pthread_mutex_lock(&lock);
  struct directory **at = &directories;
  while (*at != d) at = &(*at)->next;
  *at = d->next;
  atomic_fetch_sub(&count, 1);
  pthread_mutex_unlock(&lock);
  int fd = d->fd;
  free(d->names);
  free(d);
  return close(fd);
}

SLOT(dirfd)
EXPORT int dirfd(DIR *dir) {
  struct directory *d = ours(dir);
  return d ? d->fd : NEXT(dirfd, dir);
}

/*
 * The root has no `..`: its parent is of another file system, where the mount need not exist. The protocol has names only: the type is unknown, and the number is one that is not 0, which means a deleted entry.
 */
static void *next_of(struct directory *d) {
  const char *name = d->names + d->at;
  if (d->number == 1 && d->is_root) d->number++;
  if (d->number == 0) {
    name = ".";
  } else if (d->number == 1) {
    name = "..";
  } else {
    if (d->at >= d->length) return NULL;
    d->at += strlen(name) + 1;
  }
  d->number++;
  d->entry.d_ino = 1;
  d->entry.d_off = d->number;
  d->entry.d_reclen = sizeof d->entry;
  d->entry.d_type = DT_UNKNOWN;
  strcpy(d->entry.d_name, name);
  return &d->entry;
}

SLOT(readdir)
EXPORT struct dirent *readdir(DIR *dir) {
  struct directory *d = ours(dir);
  return d ? next_of(d) : NEXT_OR(NULL, readdir, dir);
}

/* struct dirent and dirent64 are the same on 64-bit machines. */
SLOT(readdir64)
EXPORT struct dirent64 *readdir64(DIR *dir) {
  struct directory *d = ours(dir);
  return d ? next_of(d) : NEXT_OR(NULL, readdir64, dir);
}

SLOT(rewinddir)
EXPORT void rewinddir(DIR *dir) {
  struct directory *d = ours(dir);
  if (d) load(d);
  else {
    __typeof__(&rewinddir) next = REAL(rewinddir);
    if (next) next(dir);
  }
}

SLOT(telldir)
EXPORT long telldir(DIR *dir) {
  struct directory *d = ours(dir);
  return d ? d->number : NEXT(telldir, dir);
}

SLOT(seekdir)
EXPORT void seekdir(DIR *dir, long to) {
  struct directory *d = ours(dir);
  if (d) {
    d->number = 0;
    d->at = 0;
    while (d->number < to && next_of(d)) {
    }
  } else {
    __typeof__(&seekdir) next = REAL(seekdir);
    if (next) next(dir, to);
  }
}

static int scan(DIR *dir, struct dirent ***list, int (*wanted)(const struct dirent *),
                int (*compare)(const struct dirent **, const struct dirent **)) {
  struct dirent **all = NULL, *entry;
  int n = 0, space = 0;
  while ((entry = readdir(dir))) {
    if (wanted && !wanted(entry)) continue;
    if (n == space) {
      space = space ? 2 * space : 64;
      all = realloc(all, (size_t)space * sizeof *all);
      if (!all) abort();
    }
    all[n] = malloc(sizeof *entry);
    if (!all[n]) abort();
    memcpy(all[n++], entry, sizeof *entry);
  }
  if (n > 1 && compare) qsort(all, (size_t)n, sizeof *all, (int (*)(const void *, const void *))compare);
  closedir(dir);
  *list = all;
  return n;
}

SLOT(scandir)
EXPORT int scandir(const char *restrict path, struct dirent ***restrict list, int (*wanted)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **)) {
  char inside[MAX_PATH];
  if (LIKELY(!path_inside(AT_FDCWD, path, inside))) return NEXT(scandir, path, list, wanted, compare);
  DIR *dir = opendir(path);
  return dir ? scan(dir, list, wanted, compare) : -1;
}

SLOT(scandir64)
EXPORT int scandir64(const char *restrict path, struct dirent64 ***restrict list, int (*wanted)(const struct dirent64 *),
                     int (*compare)(const struct dirent64 **, const struct dirent64 **)) {
  char inside[MAX_PATH];
  if (LIKELY(!path_inside(AT_FDCWD, path, inside))) return NEXT(scandir64, path, list, wanted, compare);
  DIR *dir = opendir(path);
  return dir ? scan(dir, (struct dirent ***)list, (int (*)(const struct dirent *))wanted,
                    (int (*)(const struct dirent **, const struct dirent **))compare)
             : -1;
}
