/*
 * A client of a node in its own process: an engine driven by events. Its port is FAA on POOL, WRITE of one word into its report slot,
 * and copies of records of 4 KB; completions are polled `completions` at a time. A bare client is the same loop without tokens.
 *
 * It checks its doorbell and the clock once per iteration; when idle it sleeps until something is due. Nothing here wakes the node.
 */
#define _GNU_SOURCE
#include "haechi.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* More than any client serves in a period. */
#define ENDLESS (1ll << 29)
#define WORDS (RECORD_BYTES / 4)
#define GRANT_EPOCHS 4

enum workload { IDLE, BACKLOGGED, BURST, CONSTANT };

/* Arrival times of requests (core/haechi/workloads/request-source.ts). */
struct source {
  enum workload workload;
  int64_t per_period, period, base, index, next_at;
  bool carries, drops;
};

static void source_start(struct source *s, int64_t now) {
  s->base = now;
  s->index = 0;
  s->next_at = s->workload == IDLE || (s->workload != BACKLOGGED && s->per_period == 0) ? NEVER : now;
}

static int64_t source_take(struct source *s) {
  if (s->workload != CONSTANT) {
    s->drops = s->workload == BACKLOGGED || !s->carries;
    s->base += s->period;
    s->next_at = s->base;
    return s->workload == BACKLOGGED ? ENDLESS : s->per_period;
  }
  s->drops = s->index == 0 && !s->carries;
  if (++s->index == s->per_period) {
    s->index = 0;
    s->base += s->period;
  }
  s->next_at = s->base + proportion(s->index, s->period, s->per_period);
  return 1;
}

struct client {
  struct settings settings;
  struct engine engine;
  struct source source, started;
  struct memory memory;
  struct mailbox *mailbox;
  struct counters *counters;
  _Atomic uint64_t *slot;
  int64_t origin, completions, posted, faa_take, granted, copied, torn, updates, read_share;
  /* Global tokens by the epoch they were granted in: the current one, and any that overtook a T1. */
  struct {
    int64_t epoch, tokens;
  } grants[GRANT_EPOCHS];
  uint32_t writer, *into, *from;
  uint64_t random;
  bool is_bare;
};

static uint64_t next_random(struct client *c) {
  c->random ^= c->random << 13;
  c->random ^= c->random >> 7;
  c->random ^= c->random << 17;
  return c->random;
}

/* One I/O: a READ or a WRITE of a record, by this process alone. */
static void copy_record(struct client *c) {
  uint64_t r = next_random(c);
  uint8_t *record = c->memory.store + (size_t)((r >> 20) % (uint64_t)c->memory.records) * RECORD_BYTES;
  c->copied++;
  if ((int64_t)(r % 1000) < c->read_share) {
    memcpy(c->into, record, RECORD_BYTES);
    /* All bytes are read, not only those compared. */
    __asm__ volatile("" : : "r"(c->into) : "memory");
    const uint32_t *w = c->into;
    if (w[0] != w[WORDS - 2] || w[1] != w[WORDS - 1]) c->torn++;
    return;
  }
  /* Writer and sequence stand at both ends, so that a READ can tell if it saw a single WRITE. */
  uint32_t *w = c->from;
  w[0] = w[WORDS - 2] = c->writer;
  w[1] = w[WORDS - 1] = (uint32_t)++c->updates;
  memcpy(record, c->from, RECORD_BYTES);
}

static void post_io(void *port, int64_t n, bool is_global) {
  (void)is_global;
  ((struct client *)port)->posted += n;
}

static void faa(void *port, int64_t take) { ((struct client *)port)->faa_take = take; }

static void write_report(void *port, const struct report *r) {
  atomic_store(((struct client *)port)->slot, report_pack(r));
}

#define PUT(at, value) atomic_store_explicit(&(at), (value), memory_order_relaxed)

static void publish(struct client *c) {
  struct counters *k = c->counters;
  const struct engine *e = &c->engine;
  /* Tokens before I/Os: a reader in the opposite order never sees an I/O before its token. */
  atomic_store(&k->used, e->totals.used_reservation + e->totals.used_global);
  atomic_store(&k->copied, c->copied);
  PUT(k->completed, e->totals.completed);
  PUT(k->torn, c->torn);
  PUT(k->epoch, e->epoch);
  PUT(k->xi, e->xi);
  PUT(k->g, e->g);
  PUT(k->bound, e->bound);
  PUT(k->phase, c->is_bare ? 0 : e->xi > 0 ? 1 : 2);
  PUT(k->queued, e->queued);
  PUT(k->inflight, e->inflight);
  PUT(k->n, e->completed);
  PUT(k->yielded, e->yielded);
  PUT(k->is_throttled, e->is_throttled);
}

static int64_t *grants_of(struct client *c, int64_t epoch) {
  int oldest = 0;
  for (int i = 0; i < GRANT_EPOCHS; i++) {
    if (c->grants[i].epoch == epoch) return &c->grants[i].tokens;
    if (c->grants[i].epoch < c->grants[oldest].epoch) oldest = i;
  }
  c->grants[oldest].epoch = epoch;
  c->grants[oldest].tokens = 0;
  return &c->grants[oldest].tokens;
}

/* FAA and its answer: within one machine both happen at once. */
static void take_tokens(struct client *c, int64_t now) {
  int64_t take = c->faa_take;
  c->faa_take = 0;
  uint64_t word = atomic_fetch_sub(c->memory.pool, (uint64_t)take);
  int64_t epoch = epoch_near(pool_epoch(word), c->engine.epoch), before = pool_tokens(word);
  int64_t tokens = usable_part(before, take);
  if (tokens > 0) {
    int64_t *in_epoch = grants_of(c, epoch);
    c->granted += tokens;
    *in_epoch += tokens;
    atomic_store(&c->counters->grant_epoch, epoch);
    atomic_store(&c->counters->granted_in_epoch, *in_epoch);
    atomic_store(&c->counters->granted, c->granted);
  }
  engine_faa_reply(&c->engine, now, before, take, epoch);
}

static void close_period(struct client *c) {
  const struct engine *e = &c->engine;
  struct closed_period *p = &c->counters->closed;
  atomic_fetch_add(&p->seq, 1);
  p->epoch = e->epoch;
  p->reservation = e->reservation;
  p->limit = e->limit == NO_LIMIT ? -1 : e->limit;
  p->completed = e->completed;
  p->issued = e->issued;
  p->yielded = e->yielded;
  p->granted = *grants_of(c, e->epoch);
  p->xi = e->xi;
  p->g = e->g;
  p->inflight = e->inflight;
  p->copied = c->copied;
  p->torn = c->torn;
  p->totals = e->totals;
  atomic_fetch_add(&p->seq, 1);
}

static void receive(struct client *c, int64_t now) {
  struct mailbox *b = c->mailbox;
  for (;;) {
    uint32_t read = atomic_load(&b->read);
    if (read == atomic_load(&b->written)) return;
    int64_t kind = b->ring[read % MAILBOX_MESSAGES].kind, epoch = b->ring[read % MAILBOX_MESSAGES].epoch;
    int64_t reservation = b->ring[read % MAILBOX_MESSAGES].reservation;
    int64_t limit = b->ring[read % MAILBOX_MESSAGES].limit;
    atomic_store(&b->read, read + 1);
    if (c->is_bare) continue;
    if (kind == MESSAGE_START_REPORT) {
      engine_start_report(&c->engine, epoch);
      continue;
    }
    bool is_first = c->engine.epoch == 0;
    if (!is_first) close_period(c);
    engine_period_start(&c->engine, now, epoch, reservation, limit);
    /* Burst periods are those of the node, starting with the first one that this client sees. */
    if (is_first) {
      c->source = c->started;
      source_start(&c->source, now);
    }
  }
}

static void end(struct client *c, bool leaves) {
  if (leaves && !c->is_bare) engine_leave(&c->engine);
  else engine_drop_queue(&c->engine);
  /* I/Os that have their token are completed. */
  for (; c->posted > 0; c->posted--) {
    copy_record(c);
    engine_completion(&c->engine, 1);
  }
  if (c->engine.epoch > 0) close_period(c);
  publish(c);
}

static void run(struct client *c) {
  struct engine *e = &c->engine;
  uint32_t heard = atomic_load(&c->mailbox->bell) - 1;
  for (;;) {
    uint32_t bell = atomic_load(&c->mailbox->bell);
    int64_t now = clock_now(c->origin);
    if (bell != heard) {
      heard = bell;
      receive(c, now);
      uint32_t order = atomic_load(&c->mailbox->order);
      if (order != ORDER_RUN) return end(c, order == ORDER_LEAVE);
    }
    while (c->source.next_at <= now) {
      int64_t n = source_take(&c->source);
      if (c->source.drops) engine_drop_queue(e);
      engine_request(e, n);
    }
    if (engine_wake_at(e) <= now) engine_wake(e, now);
    if (c->faa_take > 0) take_tokens(c, now);
    if (c->posted > 0) {
      int64_t n = c->posted < c->completions ? c->posted : c->completions;
      c->posted -= n;
      for (int64_t i = 0; i < n; i++) copy_record(c);
      engine_completion(e, n);
      publish(c);
    } else if (c->faa_take == 0) {
      publish(c);
      int64_t due = c->source.next_at < engine_wake_at(e) ? c->source.next_at : engine_wake_at(e);
      mailbox_wait(c->mailbox, heard, due == NEVER ? NS_PER_S : due - now);
    }
  }
}

int client_main(struct options *o) {
  pid_t parent = (pid_t)option(o, "parent", 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  /* The parent ended before that call. */
  if (parent != 0 && getppid() != parent) return 0;
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  struct client *c = aligned_alloc(128, sizeof *c);
  memset(c, 0, sizeof *c);
  c->origin = option(o, "origin", 0);
  int slots = (int)option(o, "slots", 0), slot = (int)option(o, "slot", -1);
  c->memory = memory_open(slots, option(o, "records", 0), false);
  memory_check(&c->memory);
  if (slot < 0 || slot >= slots) fail("there is no slot %d", slot);
  c->is_bare = option(o, "bare", 0);
  c->completions = option(o, "completions", 16);
  c->read_share = option(o, "reads", 500);
  c->writer = (uint32_t)slot + 1;
  c->random = (uint64_t)option(o, "seed", 1) * 0x9e3779b97f4a7c15ull + (uint64_t)slot + 1;
  c->started.workload = (enum workload)option(o, "workload", BACKLOGGED);
  c->started.per_period = option(o, "per-period", 0);
  c->started.carries = option(o, "carry", 1);
  /* Clients stand for other machines: the monitor never waits for them. */
  int nice = (int)option(o, "nice", 10);
  if (nice > 0) setpriority(PRIO_PROCESS, 0, nice);
  options_settings(o, &c->settings);
  options_end(o);
  if (c->completions < 1) fail("completions must be positive");
  if (c->is_bare) c->settings.decay = DECAY_NONE;
  c->started.period = c->settings.period_ns;
  c->mailbox = &c->memory.mailboxes[slot];
  c->counters = &c->memory.counters[slot];
  c->slot = &c->memory.reports[slot];
  c->into = aligned_alloc(RECORD_BYTES, RECORD_BYTES);
  c->from = aligned_alloc(RECORD_BYTES, RECORD_BYTES);
  memset(c->from, slot + 1, RECORD_BYTES);
  for (int i = 0; i < GRANT_EPOCHS; i++) c->grants[i].epoch = -1;
  engine_init(&c->engine, &c->settings);
  c->engine.port = c;
  c->engine.post_io = post_io;
  c->engine.faa = faa;
  c->engine.write_report = write_report;
  c->source.next_at = NEVER;
  c->source.workload = IDLE;
  if (c->is_bare) {
    /* One period without an end, and a token for every I/O. */
    c->engine.epoch = 1;
    c->engine.xi = INT64_MAX / 2;
    c->source = c->started;
    source_start(&c->source, clock_now(c->origin));
  }
  /* Admission follows: T1 finds a client that listens. */
  printf("ready\n");
  fflush(stdout);
  run(c);
  return 0;
}
