/* Gate of a call through the stage: looks up its file and its limit, and waits. In all cases the call then proceeds. */
#include "stage.h"

#include <errno.h>
#include <unistd.h>
#include <sys/syscall.h>

/* Largest size the kernel takes in one call. */
#define MAX_IO 0x7ffff000u

bool gate_ready(void) {
  int state = atomic_load_explicit(&stage_state, memory_order_acquire);
  if (UNLIKELY(state != 2)) {
    /* Before or within the constructor, when another library's runs first. */
    if (state == 0) stage_init();
    if (atomic_load(&stage_state) != 2) return false;
  }
  return config.enabled;
}

/* Uniform over the workflows, from a per-thread random stream. */
static uint32_t draw_workflow(void) {
  static __thread uint32_t x __attribute__((tls_model("initial-exec")));
  if (config.workflows == 1) return 0;
  if (UNLIKELY(x == 0)) x = ((uint32_t)syscall(SYS_gettid) * 2654435761u) | 1u;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return (uint32_t)(((uint64_t)x * config.workflows) >> 32);
}

void gate_managed(enum call c, uint64_t cost) {
  int kept = errno;
  if (UNLIKELY(atomic_load_explicit(&process_page->alive, memory_order_relaxed) == 0)) process_forked();
  if (UNLIKELY(!atomic_load_explicit(&control_settled, memory_order_acquire))) control_start();
  struct object *o = NULL;
  if (LIKELY(atomic_load_explicit(&layout_ready, memory_order_acquire))) o = layout_find(draw_workflow(), c);
  bool data = call_kinds[c].class == CLASS_DATA;
  if (cost > MAX_IO) cost = MAX_IO;
  uint64_t bytes = data ? cost : 0;
  if (!o || cost == 0) {
    report_call(c, OUTCOME_BYPASSED, bytes, 0);
    errno = kept;
    return;
  }
  uint64_t counted = atomic_load_explicit(&o->data, memory_order_relaxed) ? cost : 1;
  atomic_fetch_add_explicit(&o->arrived, counted, memory_order_relaxed);
  uint64_t waited_ns = bucket_take(&o->bucket, (double)cost);
  atomic_fetch_add_explicit(&o->served, counted, memory_order_relaxed);
  if (waited_ns > 0) {
    atomic_fetch_add_explicit(&o->waited, counted, memory_order_relaxed);
    atomic_fetch_add_explicit(&o->throttled_ns, waited_ns, memory_order_relaxed);
  }
  report_call(c, waited_ns > 0 ? OUTCOME_WAITED : OUTCOME_PASSED, bytes, waited_ns);
  errno = kept;
}

place gate_path(enum call c, int dirfd, const char *path, uint64_t cost) {
  if (UNLIKELY(!gate_ready())) return PLACE_UNKNOWN;
  int kept = errno;
  place p = place_of(dirfd, path);
  if (is_managed(p)) gate_managed(c, cost);
  else report_call(c, OUTCOME_UNMANAGED, 0, 0);
  errno = kept;
  return p;
}

place gate_fd(enum call c, int fd, uint64_t cost) {
  if (UNLIKELY(!gate_ready())) return PLACE_UNKNOWN;
  place p = fd_place(fd);
  if (is_managed(p)) gate_managed(c, cost);
  else report_call(c, OUTCOME_UNMANAGED, 0, 0);
  return p;
}
