/*
 * Token bucket: refilled to its capacity (rate x refill period) at every period of a fixed grid; unused tokens are lost.
 *
 * `booked` is the time up to which tokens are assigned: within a period, time and tokens are equivalent. A request advances it
 * by its cost and may proceed at the start of the period of its last token. Therefore requests proceed in order of arrival, a
 * cost over the capacity takes several refills (slices), fractions of a token are not lost between two waiting requests, and no
 * burst exceeds one capacity. One compare-and-swap per request; no lock is held while waiting.
 *
 * Source: spec/padll 1.6. Deviations: a request that finds too few tokens takes those available and waits only for the rest;
 * a waiting request keeps its tokens when the rate changes.
 */
#include "stage.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNITS_PER_NS 64u
#define UNITS_PER_S (64.0 * 1e9)
/* Longest booking of one request. */
#define MAX_ADVANCE (UNITS_PER_S * 86400.0)
/* Maximum sleep before a waiter checks its bucket again, in case of a lost wake-up. */
#define SLICE_NS 1000000000ull

static uint64_t monotonic_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void) { return monotonic_ns(); }

/* Origin: boot time; 64 bits of 64ths of ns last nine years. */
static uint64_t now_units(void) { return monotonic_ns() * UNITS_PER_NS; }

static uint64_t advance_of(double cost, double per_token) {
  double units = cost * per_token;
  if (!(units < MAX_ADVANCE)) units = MAX_ADVANCE;
  return (uint64_t)(units + 0.5);
}

static void wait_slice(struct bucket *b, uint32_t generation, uint64_t due_ns, uint64_t at_ns) {
  uint64_t until = due_ns - at_ns > SLICE_NS ? at_ns + SLICE_NS : due_ns;
  struct timespec t = {.tv_sec = (time_t)(until / 1000000000ull), .tv_nsec = (long)(until % 1000000000ull)};
  /* Wakes at the due time, on a signal or at a new rate; the caller checks which. */
  syscall(SYS_futex, &b->generation, FUTEX_WAIT_BITSET_PRIVATE, generation, &t, NULL, FUTEX_BITSET_MATCH_ANY);
}

uint64_t bucket_take(struct bucket *b, double cost) {
  uint64_t began = 0;
  for (;;) {
    uint32_t generation = atomic_load_explicit(&b->generation, memory_order_acquire);
    double per_token = atomic_load_explicit(&b->per_token, memory_order_relaxed);
    uint64_t period = atomic_load_explicit(&b->period, memory_order_relaxed);
    if (per_token <= 0 || period == 0) break;
    uint64_t now = now_units();
    uint64_t start = now - now % period;
    uint64_t from, to, booked = atomic_load_explicit(&b->booked, memory_order_relaxed);
    do {
      from = booked > start ? booked : start;
      to = from + advance_of(cost, per_token);
    } while (!atomic_compare_exchange_weak_explicit(&b->booked, &booked, to, memory_order_acq_rel,
                                                    memory_order_relaxed));
    if (to <= start + period) break;
    if (began == 0) began = now / UNITS_PER_NS;
    uint64_t due = ((to - 1) / period * period + UNITS_PER_NS - 1) / UNITS_PER_NS;
    for (uint64_t at = now / UNITS_PER_NS; at < due; at = monotonic_ns()) {
      if (atomic_load_explicit(&b->generation, memory_order_acquire) != generation) break;
      wait_slice(b, generation, due, at);
    }
    if (atomic_load_explicit(&b->generation, memory_order_acquire) == generation) break;
    /* The rate changed: tokens refilled until then are kept, the rest is booked again. */
    uint64_t settled = atomic_load_explicit(&b->settled, memory_order_relaxed);
    if (settled >= to) break;
    if (settled > from) cost *= (double)(to - settled) / (double)(to - from);
  }
  if (began == 0) return 0;
  uint64_t end = monotonic_ns();
  return end > began ? end - began : 1;
}

void bucket_set(struct bucket *b, double rate, uint64_t period_ns) {
  double per_token = rate <= 0 ? 0 : UNITS_PER_S / (rate < 1 ? 1 : rate);
  uint64_t period = period_ns * UNITS_PER_NS;
  double old_token = atomic_load_explicit(&b->per_token, memory_order_relaxed);
  uint64_t old_period = atomic_load_explicit(&b->period, memory_order_relaxed);
  if (old_token == per_token && old_period == period) return;
  uint64_t now = now_units();
  if (old_token > 0 && old_period > 0) {
    uint64_t end = now - now % old_period + old_period;
    uint64_t fresh, booked = atomic_load_explicit(&b->booked, memory_order_relaxed);
    do {
      /* Tokens left in this period are kept, up to the new capacity. */
      uint64_t from = booked > end - old_period ? booked : end - old_period;
      double left = from >= end ? 0 : (double)(end - from) / old_token;
      double space = left * per_token;
      fresh = space >= (double)old_period ? end - old_period : end - (uint64_t)space;
    } while (!atomic_compare_exchange_weak(&b->booked, &booked, fresh));
    atomic_store_explicit(&b->settled, end, memory_order_relaxed);
  } else {
    atomic_store_explicit(&b->settled, 0, memory_order_relaxed);
  }
  atomic_store_explicit(&b->per_token, per_token, memory_order_relaxed);
  atomic_store_explicit(&b->period, period, memory_order_relaxed);
  atomic_fetch_add_explicit(&b->generation, 1, memory_order_release);
  syscall(SYS_futex, &b->generation, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

double bucket_rate(struct bucket *b) {
  double per_token = atomic_load_explicit(&b->per_token, memory_order_relaxed);
  return per_token > 0 ? UNITS_PER_S / per_token : 0;
}

uint64_t bucket_queued(struct bucket *b) {
  double per_token = atomic_load_explicit(&b->per_token, memory_order_relaxed);
  uint64_t period = atomic_load_explicit(&b->period, memory_order_relaxed);
  if (per_token <= 0 || period == 0) return 0;
  uint64_t now = now_units();
  uint64_t end = now - now % period + period;
  uint64_t booked = atomic_load_explicit(&b->booked, memory_order_relaxed);
  return booked <= end ? 0 : (uint64_t)((double)(booked - end) / per_token + 0.999);
}

void bucket_forget_bookings(struct bucket *b) { atomic_store_explicit(&b->booked, 0, memory_order_relaxed); }
