/* Managed paths. Compared as text, by whole components; relative ones from the working directory or their dirfd. */
#define _GNU_SOURCE
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Place of the working directory, and a counter to detect changes during a lookup. */
static _Atomic place cwd_place;
static atomic_uint cwd_version;

void cwd_changed(void) {
  atomic_fetch_add(&cwd_version, 1);
  atomic_store(&cwd_place, PLACE_UNKNOWN);
}

/* Smallest page size: with larger pages, more checks than needed. */
#define PAGE 4096u
/* Bytes of a signal mask that the kernel reads. */
#define MASK 8u

/*
 * True if the page of an address is readable. The kernel copies a signal mask from there, and then rejects the call: the
 * cheapest call that returns EFAULT where a program would be killed, and one that no sandbox forbids. (process_vm_readv costs
 * more, and containers forbid it.) Another thread can still unmap the page afterwards.
 */
static bool is_readable(const char *at) {
  int kept = errno;
  /* Aligned, so that the mask does not cross the end of the page. */
  const void *mask = (const void *)((uintptr_t)at & ~(uintptr_t)(MASK - 1));
  bool readable = syscall(SYS_rt_sigprocmask, ~0, mask, NULL, MASK) == 0 || errno != EFAULT;
  errno = kept;
  return readable;
}

/*
 * Memory that is mapped for the life of the program and needs no check: the program itself, the used part of the main thread's
 * stack, and the heap below the break. File names are mostly there.
 */
#define SEGMENTS 8
static struct {
  uintptr_t from, to;
} segments[SEGMENTS];
static int segment_count;
static uintptr_t heap_from;
extern void *__libc_stack_end __attribute__((weak));
/* The kernel leaves at least 128 MiB between the main stack and the mapping below it. */
#define STACK_MOST (16u << 20)

static int note_program(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  for (int i = 0; i < info->dlpi_phnum && segment_count < SEGMENTS; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    if (h->p_type != PT_LOAD || !(h->p_flags & PF_R)) continue;
    segments[segment_count].from = info->dlpi_addr + h->p_vaddr;
    segments[segment_count++].to = info->dlpi_addr + h->p_vaddr + h->p_memsz;
  }
  return 1; /* the first one is the program: libraries can be unloaded */
}

void memory_known(void) {
  dl_iterate_phdr(note_program, NULL);
  heap_from = (uintptr_t)sbrk(0);
}

static bool is_known(const char *at) {
  uintptr_t a = (uintptr_t)at;
  for (int i = 0; i < segment_count; i++) {
    if (a >= segments[i].from && a < segments[i].to) return true;
  }
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  uintptr_t top = &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0;
  if (a >= here && a < top && top - here < STACK_MOST) return true;
  return a >= heap_from && heap_from != 0 && a < (uintptr_t)sbrk(0);
}

bool memory_readable(const void *from, size_t n) {
  const char *at = from, *end = at + n;
  if (n == 0) return true;
  if (end < at) return false;
  /* One byte of each page: a page is readable as a whole. */
  for (; at < end; at = (const char *)(((uintptr_t)at | (PAGE - 1)) + 1)) {
    if (!is_known(at) && !is_readable(at)) return false;
  }
  return true;
}

struct shape {
  size_t length;
  bool dots; /* has a `.` or `..` component, or `//` */
};

/* False if the path is unreadable before its end, or longer than the kernel's maximum. */
static bool shape_of(const char *path, struct shape *s) {
  s->dots = false;
  size_t i = 0;
  bool at_start = true; /* of a component */
  size_t dots = 0;      /* of a component that is nothing else so far */
  for (;; i++) {
    /* Checks each page before reading its first byte, and none ahead. */
    if (UNLIKELY(i == 0 || ((uintptr_t)(path + i) & (PAGE - 1)) == 0)) {
      if (!is_known(path + i) && !is_readable(path + i)) return false;
    }
    char c = path[i];
    if (c == '/' || c == 0) {
      if (dots == 1 || dots == 2 || (c == '/' && at_start && i > 0)) s->dots = true;
      if (c == 0) break;
      at_start = true;
      dots = 0;
    } else {
      dots = c == '.' && (at_start || dots > 0) ? dots + 1 : 0;
      at_start = false;
    }
    if (i >= MAX_PATH - 1) return false;
  }
  s->length = i;
  return true;
}

/* Appends the components of `path` to the normalised `out` of `length` bytes ("" is the root); -1 if too long. */
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

/* Matches a normalised absolute path ("" or "/" for the root, optional trailing slash) against the mounts. */
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
  /* A descriptor not opened here (inherited): its place is looked up every time. */
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
  /* An unreadable path is left to the kernel, which returns EFAULT. */
  if (!path || !shape_of(path, &s) || s.length == 0) return PLACE_OUTSIDE;
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
