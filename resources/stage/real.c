/* The functions behind ours: the next ones of their name in the order of loading. */
#define _GNU_SOURCE
#include "stage.h"

#include <dlfcn.h>
#include <errno.h>

/* dlsym may allocate, and an allocator may open and map: such a call finds no function yet and makes the system call. */
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
