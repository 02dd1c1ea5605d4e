/* Which paths are managed. Textual, by whole components; relative ones from the working directory or their dirfd. */
#include "stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is known of the working directory, and a number that tells whether it changed while it was looked up. */
static _Atomic place cwd_place;
static atomic_uint cwd_version;

void cwd_changed(void) {
  atomic_fetch_add(&cwd_version, 1);
  atomic_store(&cwd_place, PLACE_UNKNOWN);
}

struct shape {
  size_t length;
  bool dots; /* has a `.` or `..` component, or `//` */
};

/* False where the path is longer than any the kernel takes. */
static bool shape_of(const char *path, struct shape *s) {
  s->dots = false;
  size_t i = 0;
  bool at_start = true; /* of a component */
  for (; path[i]; i++) {
    if (i >= MAX_PATH - 1) return false;
    char c = path[i];
    if (c == '/') {
      if (at_start && i > 0) s->dots = true;
      at_start = true;
    } else {
      if (at_start && c == '.') {
        char d = path[i + 1];
        if (d == 0 || d == '/' || (d == '.' && (path[i + 2] == 0 || path[i + 2] == '/'))) s->dots = true;
      }
      at_start = false;
    }
  }
  s->length = i;
  return true;
}

/* Appends the components of `path` to the normalised `out` of `length` bytes ("" is the root); -1 where it is too long. */
static int append(char *out, int length, const char *path) {
  while (*path) {
    while (*path == '/') path++;
    const char *end = path;
    while (*end && *end != '/') end++;
    size_t n = (size_t)(end - path);
    if (n == 0) break;
    if (n == 2 && path[0] == '.' && path[1] == '.') {
      while (length > 0 && out[--length] != '/') {
      }
    } else if (!(n == 1 && path[0] == '.')) {
      if ((size_t)length + n + 2 > MAX_PATH) return -1;
      out[length++] = '/';
      memcpy(out + length, path, n);
      length += (int)n;
    }
    path = end;
  }
  out[length] = 0;
  return length;
}

int path_normalise(const char *path, char *out) {
  struct shape s;
  if (path[0] != '/' || !shape_of(path, &s)) return -1;
  int length = append(out, 0, path);
  if (length == 0) {
    out[0] = '/';
    out[1] = 0;
    return 1;
  }
  return length;
}

/* A normalised absolute path ("" or "/" for the root, perhaps with a slash at its end) against the mounts. */
static place match(const char *path, size_t length) {
  while (length > 0 && path[length - 1] == '/') length--;
  int best = -1;
  bool above = false;
  for (int i = 0; i < config.mounts; i++) {
    const struct mount *m = &config.mount[i];
    if (length >= m->length) {
      if (memcmp(path, m->path, m->length) == 0 && (length == m->length || path[m->length] == '/')) {
        if (best < 0 || m->length > config.mount[best].length) best = i;
      }
    } else if (memcmp(path, m->path, length) == 0 && m->path[length] == '/') {
      above = true;
    }
  }
  if (best >= 0) return (place)(best + 1);
  return above ? PLACE_ABOVE : PLACE_OUTSIDE;
}

static place place_of_cwd(void) {
  place p = atomic_load(&cwd_place);
  if (p != PLACE_UNKNOWN) return p;
  unsigned version = atomic_load(&cwd_version);
  char cwd[MAX_PATH];
  if (!getcwd(cwd, sizeof cwd) || cwd[0] != '/') return PLACE_OUTSIDE;
  p = match(cwd, strlen(cwd));
  if (atomic_load(&cwd_version) == version) atomic_store(&cwd_place, p);
  return p;
}

static place place_of_dir(int dirfd) {
  if (dirfd == AT_FDCWD) return place_of_cwd();
  place p = fd_place(dirfd);
  /* A descriptor that was not opened here (inherited): its place is looked up every time. */
  return p == PLACE_UNKNOWN ? PLACE_ABOVE : p;
}

static place joined(int dirfd, const char *path) {
  char base[MAX_PATH];
  if (dirfd == AT_FDCWD) {
    if (!getcwd(base, sizeof base)) return PLACE_OUTSIDE;
  } else {
    char link[48];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
    ssize_t n = readlink(link, base, sizeof base - 1);
    if (n <= 0) return PLACE_OUTSIDE;
    base[n] = 0;
  }
  if (base[0] != '/') return PLACE_OUTSIDE;
  char whole[MAX_PATH];
  int length = append(whole, 0, base);
  if (length < 0 || (length = append(whole, length, path)) < 0) return PLACE_OUTSIDE;
  return match(whole, (size_t)length);
}

place place_of(int dirfd, const char *path) {
  struct shape s;
  if (!path || !*path || !shape_of(path, &s)) return PLACE_OUTSIDE;
  if (path[0] == '/') {
    if (LIKELY(!s.dots)) return match(path, s.length);
    char whole[MAX_PATH];
    int length = append(whole, 0, path);
    return length < 0 ? PLACE_OUTSIDE : match(whole, (size_t)length);
  }
  place dir = place_of_dir(dirfd);
  if (s.dots || dir == PLACE_ABOVE || (config.nested && is_managed(dir))) return joined(dirfd, path);
  return dir;
}
