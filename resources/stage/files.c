/*
 * Place of each descriptor: one byte, in leaves that are mapped when one of their descriptors is first managed. Reading takes
 * two loads. A FILE* is looked up by its descriptor, so copies made by fdopen or dup need no separate table.
 */
#include "stage.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAF 4096u
#define LEAVES 1024u

static _Atomic(_Atomic place *) leaves[LEAVES];

place fd_place(int fd) {
  if (fd < 0 || (unsigned)fd >= LEAF * LEAVES) return PLACE_UNKNOWN;
  _Atomic place *leaf = atomic_load_explicit(&leaves[(unsigned)fd / LEAF], memory_order_acquire);
  return leaf ? atomic_load_explicit(&leaf[(unsigned)fd % LEAF], memory_order_relaxed) : PLACE_UNKNOWN;
}

static _Atomic place *leaf_for(int fd) {
  _Atomic(_Atomic place *) *slot = &leaves[(unsigned)fd / LEAF];
  _Atomic place *leaf = atomic_load_explicit(slot, memory_order_acquire);
  if (leaf) return leaf;
  /* The raw system call, because the function is intercepted. */
  long at = syscall(SYS_mmap, NULL, LEAF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == -1) return NULL;
  _Atomic place *fresh = (_Atomic place *)at;
  if (atomic_compare_exchange_strong(slot, &leaf, fresh)) return fresh;
  syscall(SYS_munmap, at, LEAF);
  return leaf;
}

void fd_put(int fd, place p) {
  /* 0 to 2 are never managed: shells redirect them frequently. */
  if (fd < 0 || (unsigned)fd >= LEAF * LEAVES) return;
  if (fd <= 2 && is_managed(p)) p = PLACE_UNKNOWN;
  if (fd_place(fd) == p || process_is_borrowed()) return;
  _Atomic place *leaf = leaf_for(fd);
  if (leaf) atomic_store_explicit(&leaf[(unsigned)fd % LEAF], p, memory_order_relaxed);
}

void fd_forget_range(unsigned first, unsigned last) {
  if (process_is_borrowed()) return;
  for (unsigned l = first / LEAF; l < LEAVES && l <= last / LEAF; l++) {
    _Atomic place *leaf = atomic_load_explicit(&leaves[l], memory_order_acquire);
    if (!leaf) continue;
    for (unsigned i = 0; i < LEAF; i++) {
      unsigned fd = l * LEAF + i;
      if (fd >= first && fd <= last) atomic_store_explicit(&leaf[i], PLACE_UNKNOWN, memory_order_relaxed);
    }
  }
}
