/*
 * Mapping of a node: POOL at byte 0 and report slots from byte 64 on, as in core/haechi/token-memory.ts, then mailboxes, counters and
 * records.
 *
 * The file behind MEMORY_FD has no name: the program that starts the processes hands each of them the descriptor. A file
 * that another user could open, or that has a name or another size, is refused. A process that has the mapping is not confined by it.
 */
#define _GNU_SOURCE
#include "haechi.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLOTS_AT 64
#define LINE 128
#define MAGIC 0x3148434541485353ull

struct header {
  _Atomic uint64_t magic;
  uint64_t slots, records;
};

static size_t aligned(size_t at, size_t to) { return (at + to - 1) / to * to; }
static size_t header_at(int slots) { return aligned(SLOTS_AT + 8 * (size_t)slots, LINE); }
static size_t mailboxes_at(int slots) { return header_at(slots) + LINE; }
static size_t counters_at(int slots) {
  return aligned(mailboxes_at(slots) + (size_t)slots * sizeof(struct mailbox), _Alignof(struct counters));
}
static size_t store_at(int slots) {
  return aligned(counters_at(slots) + (size_t)slots * sizeof(struct counters), RECORD_BYTES);
}

static size_t memory_bytes(int slots, int64_t records) { return store_at(slots) + (size_t)records * RECORD_BYTES; }

struct memory memory_open(int slots, int64_t records, bool creates) {
  if (slots < 1 || slots > SLOTS_MAX || records < 1 || records > 1 << 18) fail("slots or records are out of range");
  size_t bytes = memory_bytes(slots, records);
  struct stat st;
  if (fstat(MEMORY_FD, &st) != 0) fail("descriptor %d: %s", MEMORY_FD, strerror(errno));
  if (!S_ISREG(st.st_mode)) fail("the memory is not a file");
  if (st.st_uid != geteuid()) fail("the memory belongs to another user");
  if ((st.st_mode & 0077) != 0) fail("other users can open the memory (mode %03o)", (unsigned)(st.st_mode & 0777));
  if (st.st_nlink != 0) fail("the memory has a name in a folder");
  if (creates && st.st_size == 0) {
    /* Allocated now: a full file system is an error here, not a signal later. */
    int error = posix_fallocate(MEMORY_FD, 0, (off_t)bytes);
    if (error != 0) fail("the memory of %zu bytes cannot be allocated: %s", bytes, strerror(error));
  } else if ((size_t)st.st_size != bytes) {
    fail("the memory has %lld bytes instead of %zu", (long long)st.st_size, bytes);
  }
  uint8_t *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY_FD, 0);
  if (base == MAP_FAILED) fail("the memory cannot be mapped: %s", strerror(errno));
  return (struct memory){.base = base,
                         .bytes = bytes,
                         .slots = slots,
                         .records = records,
                         .pool = (_Atomic uint64_t *)base,
                         .reports = (_Atomic uint64_t *)(base + SLOTS_AT),
                         .mailboxes = (struct mailbox *)(base + mailboxes_at(slots)),
                         .counters = (struct counters *)(base + counters_at(slots)),
                         .store = base + store_at(slots)};
}

static struct header *header_of(struct memory *m) { return (struct header *)(m->base + header_at(m->slots)); }

void memory_format(struct memory *m) {
  struct header *h = header_of(m);
  if (atomic_load(&h->magic) != 0) fail("the memory already has a node");
  /* Written once now, so that no client waits for a page later. */
  memset(m->store, 0, (size_t)m->records * RECORD_BYTES);
  h->slots = (uint64_t)m->slots;
  h->records = (uint64_t)m->records;
  atomic_store(m->pool, pool_pack(0, 0));
  atomic_store(&h->magic, MAGIC);
}

void memory_check(struct memory *m) {
  struct header *h = header_of(m);
  if (atomic_load(&h->magic) != MAGIC) fail("the memory has no node");
  if (h->slots != (uint64_t)m->slots || h->records != (uint64_t)m->records) fail("the memory has another shape");
}

void mailbox_reset(struct mailbox *b) { memset(b, 0, sizeof *b); }

static void ring(struct mailbox *b) {
  atomic_fetch_add(&b->bell, 1);
  syscall(SYS_futex, &b->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool mailbox_send(struct mailbox *b, enum message kind, int64_t epoch, int64_t reservation, int64_t limit) {
  uint32_t written = atomic_load(&b->written);
  if (written - atomic_load(&b->read) >= MAILBOX_MESSAGES) {
    atomic_fetch_add(&b->lost, 1);
    return false;
  }
  uint32_t at = written % MAILBOX_MESSAGES;
  b->ring[at].kind = kind;
  b->ring[at].epoch = epoch;
  b->ring[at].reservation = reservation;
  b->ring[at].limit = limit;
  /* Publishes the entry: it is complete once the count is visible. */
  atomic_store(&b->written, written + 1);
  ring(b);
  return true;
}

void mailbox_order(struct mailbox *b, enum order order) {
  atomic_store(&b->order, order);
  ring(b);
}

void mailbox_wait(struct mailbox *b, uint32_t heard, int64_t ns) {
  if (ns <= 0) return;
  struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
  syscall(SYS_futex, &b->bell, FUTEX_WAIT, heard, &t, NULL, 0);
}
