/* Interposed functions and the underlying ones (real.c), for the stage and for the door of ccPFS (resources/door). */
#ifndef SLUICE_REAL_H
#define SLUICE_REAL_H

#include <stdatomic.h>

#define EXPORT __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The next symbol of this name, or of the other one, in load order; NULL while it is being looked up. */
void *real_find(_Atomic(void *) *slot, const char *name, const char *other);
#define REAL_OR(name, other)                                                                                           \
  ({                                                                                                                   \
    void *f_ = atomic_load_explicit(&real_##name, memory_order_relaxed);                                               \
    if (UNLIKELY(!f_)) f_ = real_find(&real_##name, #name, other);                                                     \
    (__typeof__(&name))f_;                                                                                             \
  })
#define REAL(name) REAL_OR(name, NULL)

#endif
