/*
 * Statistics of each call: counted in shards, so that threads do not share a cache line, and written as JSON at the end of the
 * program if SLUICE_STAGE_REPORT names a folder: calls on unmanaged files, calls on managed files without a limit (bypassed),
 * calls that waited, and whether the program could use io_uring, which no limit reaches.
 */
#define _GNU_SOURCE
#include "stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHARDS 16

struct tally {
  _Atomic uint64_t calls, unmanaged, bypassed, waited, bytes, wait_ns, errors;
};
static _Alignas(128) struct tally tallies[SHARDS][CALL_COUNT];
static atomic_uint threads_seen;

static unsigned shard(void) {
  static __thread unsigned mine __attribute__((tls_model("initial-exec")));
  if (UNLIKELY(mine == 0)) mine = atomic_fetch_add_explicit(&threads_seen, 1, memory_order_relaxed) % SHARDS + 1;
  return mine - 1;
}

#define ADD(field, n) atomic_fetch_add_explicit(&t->field, n, memory_order_relaxed)

void report_call(enum call c, enum outcome o, uint64_t bytes, uint64_t wait_ns) {
  struct tally *t = &tallies[shard()][c];
  ADD(calls, 1);
  if (o == OUTCOME_UNMANAGED) ADD(unmanaged, 1);
  if (o == OUTCOME_BYPASSED) ADD(bypassed, 1);
  if (bytes) ADD(bytes, bytes);
  if (o == OUTCOME_WAITED) {
    ADD(waited, 1);
    ADD(wait_ns, wait_ns);
  }
}

void report_error(enum call c) {
  struct tally *t = &tallies[shard()][c];
  ADD(errors, 1);
}

void report_reset(void) { memset(tallies, 0, sizeof tallies); }

static uint64_t sum(enum call c, size_t offset) {
  uint64_t n = 0;
  for (int s = 0; s < SHARDS; s++) n += *(_Atomic uint64_t *)((char *)&tallies[s][c] + offset);
  return n;
}

void report_write(void) {
  if (!config.report[0]) return;
  char name[MAX_PATH + 64];
  snprintf(name, sizeof name, "%s/stage-%ld.json", config.report, (long)syscall(SYS_getpid));
  int fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  static char text[CALL_COUNT * 240 + 128];
  size_t n = (size_t)snprintf(text, sizeof text, "{\"calls\":{");
  bool first = true;
  for (int c = 0; c < CALL_COUNT; c++) {
    uint64_t calls = sum(c, offsetof(struct tally, calls));
    if (!calls) continue;
    n += (size_t)snprintf(
        text + n, sizeof text - n,
        "%s\"%s\":{\"calls\":%llu,\"unmanaged\":%llu,\"bypassed\":%llu,\"waited\":%llu,\"bytes\":%llu,\"waitNs\":%llu,\"errors\":%llu}",
        first ? "" : ",", call_kinds[c].name, (unsigned long long)calls,
        (unsigned long long)sum(c, offsetof(struct tally, unmanaged)),
        (unsigned long long)sum(c, offsetof(struct tally, bypassed)),
        (unsigned long long)sum(c, offsetof(struct tally, waited)),
        (unsigned long long)sum(c, offsetof(struct tally, bytes)),
        (unsigned long long)sum(c, offsetof(struct tally, wait_ns)),
        (unsigned long long)sum(c, offsetof(struct tally, errors)));
    first = false;
  }
  n += (size_t)snprintf(text + n, sizeof text - n, "},\"ioUring\":{\"refused\":%s,\"rings\":%u}}\n",
                        uring_is_refused() ? "true" : "false", uring_rings());
  (void)!syscall(SYS_write, fd, text, n);
  syscall(SYS_close, fd);
}
