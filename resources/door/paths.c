/* Paths below the mount. Compared as text, by whole components; relative ones from the working directory or their dirfd. */
#define _GNU_SOURCE
#include "door.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* Appends the components of `path` to the normalised `out` of `length` bytes ("" is the root); -1 if too long. */
static int append(char *out, int length, const char *path) {
  while (*path) {
    while (*path == '/') path++;
    const char *end = strchrnul(path, '/');
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

/* Absolute path of a directory; its length, or -1. */
static int base_of(int dirfd, char *out) {
  if (dirfd == AT_FDCWD) return syscall(SYS_getcwd, out, MAX_PATH) > 0 && out[0] == '/' ? append(out, 0, strdupa(out)) : -1;
  struct file *f = file_get(dirfd);
  if (f) {
    int length = append(out, 0, door.mount);
    char path[MAX_PATH];
    memcpy(path, f->shared->path, sizeof path);
    path[sizeof path - 1] = 0;
    length = append(out, length, path);
    file_put(f);
    return length;
  }
  char link[48], base[MAX_PATH];
  snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
  ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1);
  if (n <= 0 || base[0] != '/') return -1;
  base[n] = 0;
  return append(out, 0, base);
}

bool path_inside(int dirfd, const char *path, char *inside) {
  if (LIKELY(!door.enabled) || !path || !*path) return false;
  char whole[MAX_PATH];
  int kept = errno;
  int length = path[0] == '/' ? 0 : base_of(dirfd, whole);
  errno = kept;
  if (length < 0 || (length = append(whole, length, path)) < 0) return false;
  size_t n = door.mount_length;
  if ((size_t)length < n || memcmp(whole, door.mount, n) != 0 || (whole[n] != 0 && whole[n] != '/')) return false;
  if (whole[n] == 0) strcpy(inside, "/");
  else strcpy(inside, whole + n);
  return true;
}

int path_descriptor(const char *path) {
  if (!door.enabled || !path || path[0] != '/') return -1;
  if (strcmp(path, "/dev/stdin") == 0) return 0;
  if (strcmp(path, "/dev/stdout") == 0) return 1;
  if (strcmp(path, "/dev/stderr") == 0) return 2;
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    size_t n = strlen(folders[i]);
    if (strncmp(path, folders[i], n) != 0) continue;
    int fd = 0;
    const char *c = path + n;
    if (!*c) return -1;
    for (; *c >= '0' && *c <= '9' && fd < MAX_FDS; c++) fd = fd * 10 + (*c - '0');
    return *c ? -1 : fd;
  }
  return -1;
}
