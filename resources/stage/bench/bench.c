/*
 * Closed loop of intercepted calls through the whole path of a stage: path lookup, channel selection, token.
 * Set-up of the paper for one stage: 1 to 256 threads, as many channels as threads, rates that never throttle. Each thread
 * calls getxattr on a managed path (`calls`), or opens and closes one (`open-close`: two requests).
 *
 * The stage forwards to an empty function (`stub`), or to the kernel (`kernel`). For comparison, the same loop through a stage
 * without limits (`passThrough`), and without a stage (`bare`).
 * usage: stage-bench THREADS SECONDS [calls|open-close] [stub|kernel]
 * Prints JSON: {"threads", "requests", "taken", "perSecond", "passThrough", "bare"}; requests that took tokens are `taken`.
 */
#define _GNU_SOURCE
#include "stage.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

extern _Atomic(void *) real_open, real_close, real_getxattr;

static char path[256];
static atomic_bool going;
static bool opens, kernel, bare;
static _Alignas(128) struct {
  uint64_t requests;
  char apart[120];
} did[256];

static int stub_open(const char *p, int flags, ...) {
  (void)p, (void)flags;
  return 100;
}
static int stub_close(int fd) {
  (void)fd;
  return 0;
}
static ssize_t stub_getxattr(const char *p, const char *name, void *to, size_t n) {
  (void)p, (void)name, (void)to, (void)n;
  return 0;
}
static int kernel_open(const char *p, int flags, ...) { return (int)syscall(SYS_openat, AT_FDCWD, p, flags, 0); }
static int kernel_close(int fd) { return (int)syscall(SYS_close, fd); }
static ssize_t kernel_getxattr(const char *p, const char *name, void *to, size_t n) {
  return syscall(SYS_getxattr, p, name, to, n);
}

typedef int open_function(const char *, int, ...);
typedef int close_function(int);
typedef ssize_t getxattr_function(const char *, const char *, void *, size_t);

static void *work(void *argument) {
  size_t me = (size_t)argument;
  /* Through volatile pointers, so that the bare loop makes real calls, too. */
  open_function *volatile o = bare ? (kernel ? kernel_open : stub_open) : open;
  close_function *volatile c = bare ? (kernel ? kernel_close : stub_close) : close;
  getxattr_function *volatile g = bare ? (kernel ? kernel_getxattr : stub_getxattr) : getxattr;
  uint64_t n = 0;
  while (atomic_load_explicit(&going, memory_order_relaxed)) {
    for (int i = 0; i < 64; i++) {
      if (opens) c(o(path, O_RDONLY));
      else g(path, "user.none", NULL, 0);
    }
    n += opens ? 128 : 64;
  }
  did[me].requests = n;
  return NULL;
}

static double measure(int threads, double seconds, uint64_t *requests) {
  pthread_t all[256];
  atomic_store(&going, true);
  uint64_t began = clock_ns();
  for (long i = 0; i < threads; i++) pthread_create(&all[i], NULL, work, (void *)i);
  struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&t, NULL);
  atomic_store(&going, false);
  *requests = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(all[i], NULL);
    *requests += did[i].requests;
  }
  return (double)*requests / ((double)(clock_ns() - began) / 1e9);
}

static void lay_out(int channels) {
  layout_begin();
  for (int i = 0; i < channels; i++) {
    struct rule channel = {.kind = 1, .context_type = 2, .context = 7, .channel = 1000u + (uint32_t)i,
                           .workflow = 1000u * ((uint32_t)i + 1)};
    struct rule object = {.kind = 2, .context_type = 2, .context = 7, .channel = channel.channel, .object = 1,
                          .bucketed = 1, .refill_us = 10000, .rate = 1e9};
    const char *why = layout_rule(&channel);
    if (!why) why = layout_rule(&object);
    if (why) {
      fprintf(stderr, "%s\n", why);
      exit(1);
    }
  }
  layout_commit();
}

int main(int count, char **words) {
  int threads = count > 1 ? atoi(words[1]) : 1;
  double seconds = count > 2 ? atof(words[2]) : 1;
  opens = count > 3 && !strcmp(words[3], "open-close");
  kernel = count > 4 && !strcmp(words[4], "kernel");
  if (threads < 1 || threads > 256 || !(seconds > 0 && seconds < 1000)) return 2;
  strcpy(path, "/tmp/sluice-stage-bench-XXXXXX");
  int made = mkostemp(path, O_CLOEXEC);
  if (made < 0) return 1;
  config.enabled = true;
  config.workflows = (uint32_t)threads;
  config.mounts = 1;
  strcpy(config.mount[0].path, "/tmp");
  config.mount[0].length = 4;
  atomic_store(&control_settled, 1);
  lay_out(threads);
  if (!kernel) {
    real_open = (void *)stub_open;
    real_close = (void *)stub_close;
    real_getxattr = (void *)stub_getxattr;
  }
  uint64_t requests, passed_requests, bare_requests;
  double through = measure(threads, seconds, &requests);
  atomic_store(&layout_ready, false);
  double passing = measure(threads, seconds, &passed_requests);
  bare = true;
  double plain = measure(threads, seconds, &bare_requests);
  unlink(path);
  uint64_t arrived = 0;
  for (int i = 0; i < MAX_OBJECTS; i++) arrived += atomic_load(&objects[i].arrived);
  printf("{\"threads\":%d,\"requests\":%llu,\"taken\":%llu,\"perSecond\":%.0f,\"passThrough\":%.0f,\"bare\":%.0f}\n",
         threads, (unsigned long long)requests, (unsigned long long)arrived, through, passing, plain);
  return 0;
}
