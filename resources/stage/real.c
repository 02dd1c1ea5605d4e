/* Underlying functions of the interposed ones: the next symbol of the same name in load order. */
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* dlsym may allocate, and an allocator may open and map: such a call finds no function yet and uses the system call. */
static __thread bool searching __attribute__((tls_model("initial-exec")));

void *real_find(_Atomic(void *) *slot, const char *name, const char *other) {
  if (searching) return NULL;
  int kept = errno;
  searching = true;
  void *f = dlsym(RTLD_NEXT, name);
  if (!f && other) f = dlsym(RTLD_NEXT, other);
  searching = false;
  errno = kept;
  if (f) atomic_store_explicit(slot, f, memory_order_relaxed);
  return f;
}
