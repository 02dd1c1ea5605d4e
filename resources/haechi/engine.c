/* QoS engine of a client: requests become data I/Os only in `pump`, each against a token (core/haechi/qos-engine.ts). */
#include "haechi.h"

#include <string.h>

static void yield(struct engine *e, int64_t n) {
  e->xi -= n;
  e->yielded += n;
  e->totals.yielded += n;
}

static void void_global(struct engine *e) {
  e->totals.voided_global += e->g;
  e->g = 0;
}

static void report(struct engine *e) {
  e->reported = e->completed;
  struct report r = {.epoch = e->epoch,
                     .residual = e->xi,
                     .spent = e->reservation - e->xi - e->yielded,
                     .completed = e->completed,
                     .is_backlogged = e->queued > 0 && e->wait == WAIT_NONE && !e->is_throttled,
                     .beat = ++e->beat};
  e->write_report(e->port, &r);
}

static void spend(struct engine *e, int64_t n) {
  e->issued += n;
  e->inflight += n;
  bool is_global = e->xi == 0;
  if (is_global) {
    e->g -= n;
    e->totals.used_global += n;
  } else {
    e->xi -= n;
    e->totals.used_reservation += n;
  }
  e->post_io(e->port, n, is_global);
}

static int64_t window_of(const struct engine *e) { return e->xi > 0 ? e->s->window : e->s->phase2_window; }

static void pump(struct engine *e) {
  while (e->queued > 0 && e->wait == WAIT_NONE) {
    int64_t room = window_of(e) - e->inflight;
    if (room <= 0) return;
    int64_t allowed = e->limit - e->issued;
    if (allowed <= 0) {
      e->is_throttled = true;
      return;
    }
    int64_t tokens = e->xi > 0 ? e->xi : e->g;
    if (tokens == 0) {
      /* Before its first period a client does not know the epoch of a grant. */
      if (e->epoch == 0) return;
      e->wait = WAIT_FAA;
      e->totals.faas++;
      int64_t batch = e->s->batch;
      e->faa(e->port, e->s->is_batch_by_backlog && e->queued < batch ? e->queued : batch);
      return;
    }
    int64_t n = e->queued;
    if (room < n) n = room;
    if (allowed < n) n = allowed;
    if (tokens < n) n = tokens;
    e->queued -= n;
    spend(e, n);
  }
}

void engine_init(struct engine *e, const struct settings *s) {
  memset(e, 0, sizeof *e);
  e->s = s;
  e->limit = NO_LIMIT;
  e->reported = -1;
  e->tick_at = NEVER;
  e->retry_at = NEVER;
}

int64_t engine_wake_at(const struct engine *e) { return e->tick_at < e->retry_at ? e->tick_at : e->retry_at; }

void engine_request(struct engine *e, int64_t n) {
  if (e->has_left) {
    e->totals.dropped += n;
    return;
  }
  e->queued += n;
  pump(e);
}

void engine_drop_queue(struct engine *e) {
  e->totals.dropped += e->queued;
  e->queued = 0;
}

void engine_completion(struct engine *e, int64_t n) {
  e->inflight -= n;
  e->completed += n;
  e->totals.completed += n;
  if (e->queued > 0) pump(e);
}

void engine_faa_reply(struct engine *e, int64_t now, int64_t before, int64_t take, int64_t epoch) {
  if (e->wait == WAIT_FAA) e->wait = WAIT_NONE;
  int64_t usable = usable_part(before, take);
  e->totals.claimed += usable;
  if (epoch < e->epoch || e->has_left) {
    if (usable > 0) {
      e->totals.faa_late++;
      e->totals.voided_global += usable;
    }
    pump(e);
    return;
  }
  if (usable == 0) {
    e->totals.faa_empty++;
    e->wait = WAIT_POOL;
    e->retry_at = now + e->s->retry_ns;
    /* The report stays valid until the pool is refilled. */
    if (e->is_reporting && e->reported != e->completed) report(e);
    return;
  }
  if (usable < take) e->totals.faa_partial++;
  else e->totals.faa_full++;
  if (e->g_epoch != epoch) void_global(e);
  e->g += usable;
  e->g_epoch = epoch;
  pump(e);
}

void engine_period_start(struct engine *e, int64_t now, int64_t epoch, int64_t reservation, int64_t limit) {
  if (epoch <= e->epoch || e->has_left) return;
  e->totals.voided_reservation += e->xi;
  if (e->g_epoch != epoch) void_global(e);
  e->epoch = epoch;
  e->reservation = reservation;
  e->limit = limit < 0 ? NO_LIMIT : limit;
  e->xi = reservation;
  e->bound = reservation;
  e->totals.pushed += reservation;
  e->completed = 0;
  e->issued = 0;
  e->yielded = 0;
  e->is_throttled = false;
  e->is_reporting = false;
  e->reported = -1;
  e->period_start = now;
  e->tick_at = now + e->s->tick_ns;
  e->retry_at = NEVER;
  if (e->wait == WAIT_POOL) e->wait = WAIT_NONE;
  pump(e);
}

void engine_start_report(struct engine *e, int64_t epoch) {
  if (epoch != e->epoch || e->is_reporting || e->has_left) return;
  e->is_reporting = true;
  report(e);
}

static void tick(struct engine *e, int64_t now) {
  int64_t elapsed = now - e->period_start;
  e->bound = residual_bound(e->reservation, elapsed, e->s->period_ns);
  if (e->s->decay != DECAY_NONE) {
    int64_t most = e->bound + (e->s->decay == DECAY_DEMAND ? e->queued : 0);
    if (e->xi > most) yield(e, e->xi - most);
  }
  if (e->is_reporting) report(e);
  e->tick_at = e->period_start + (elapsed / e->s->tick_ns + 1) * e->s->tick_ns;
}

void engine_wake(struct engine *e, int64_t now) {
  if (now >= e->tick_at) tick(e, now);
  if (now >= e->retry_at) {
    e->retry_at = NEVER;
    if (e->wait == WAIT_POOL) e->wait = WAIT_NONE;
    pump(e);
  }
}

void engine_leave(struct engine *e) {
  if (e->has_left) return;
  yield(e, e->xi);
  void_global(e);
  engine_drop_queue(e);
  e->tick_at = NEVER;
  e->retry_at = NEVER;
  report(e);
  e->has_left = true;
}

bool engine_post_direct(struct engine *e) {
  if ((e->xi == 0 && e->g == 0) || e->issued >= e->limit || e->inflight >= window_of(e)) {
    e->totals.refused++;
    return false;
  }
  spend(e, 1);
  return true;
}
