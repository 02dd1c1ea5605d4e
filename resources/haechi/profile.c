/*
 * Capacity of a node without tokens: I/Os of all bare clients in each of many short intervals. Prints one line of JSON per
 * `report-every` intervals, then the last; its reader computes mean and standard deviation.
 */
#define _GNU_SOURCE
#include "haechi.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

static int64_t total_of(const struct memory *m) {
  int64_t sum = 0;
  for (int i = 0; i < m->slots; i++) sum += atomic_load_explicit(&m->counters[i].copied, memory_order_relaxed);
  return sum;
}

static void sleep_until(int64_t origin, int64_t at) {
  struct timespec t = {.tv_sec = (origin + at) / NS_PER_S, .tv_nsec = (origin + at) % NS_PER_S};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) continue;
}

int profile_main(struct options *o) {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  struct memory m = memory_open((int)option(o, "slots", 0), option(o, "records", 0), true);
  int64_t periods = option(o, "periods", 0), interval = option(o, "interval", 0), origin = option(o, "origin", 0);
  options_end(o);
  if (periods < 1 || interval < 1) fail("periods and interval must be positive");
  memory_format(&m);
  printf("{\"k\":\"ready\"}\n");
  fflush(stdout);
  /* Every client has to have begun: a start is no part of the capacity. */
  for (bool is_started = false; !is_started;) {
    is_started = true;
    for (int i = 0; i < m.slots; i++) is_started &= atomic_load(&m.counters[i].copied) > 0;
    sleep_until(origin, clock_now(origin) + 10 * NS_PER_MS);
  }
  int64_t start = clock_now(origin), before = total_of(&m), at = start;
  for (int64_t i = 1; i <= periods; i++) {
    sleep_until(origin, start + i * interval);
    int64_t now = clock_now(origin), total = total_of(&m);
    /* By its true length: a late wake-up makes no busy interval. */
    printf("{\"k\":\"interval\",\"ios\":%lld,\"ns\":%lld}\n", (long long)(total - before), (long long)(now - at));
    before = total;
    at = now;
    if (i % 20 == 0) fflush(stdout);
  }
  printf("{\"k\":\"end\"}\n");
  fflush(stdout);
  return 0;
}
