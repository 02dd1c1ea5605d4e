/* Layouts of POOL and of reports, and the arithmetic of tokens (core/haechi: pool-word.ts, report-word.ts, decay.ts, claim.ts). */
#include "haechi.h"

#include <string.h>

#define COUNT_BITS 56
#define BIAS (1ull << 55)
#define COUNT_MASK ((1ull << COUNT_BITS) - 1)
#define MAX_RESERVATION ((1 << 23) - 1)
#define RESIDUAL_IN_LO (1ll << 22)
#define OFFSET_BIAS 512
#define BACKLOGGED 64

uint64_t pool_pack(int64_t tokens, int64_t epoch) {
  return ((uint64_t)(epoch & 255) << COUNT_BITS) | ((uint64_t)tokens + BIAS);
}

int64_t pool_tokens(uint64_t word) { return (int64_t)(word & COUNT_MASK) - (int64_t)BIAS; }

int64_t pool_epoch(uint64_t word) { return (int64_t)(word >> COUNT_BITS); }

int64_t epoch_near(int64_t low, int64_t current) {
  int64_t ahead = (low - current) & 255;
  return current + (ahead < 128 ? ahead : ahead - 256);
}

/* Multiples of the golden ratio: a monitor that reads every k-th report sees the beat change. */
static uint64_t beat_of(uint64_t n) { return 1 + ((((uint32_t)n * 0x9e3779b1u) * 7ull) >> 32); }

uint64_t report_pack(const struct report *r) {
  uint64_t head = (r->is_backlogged ? BACKLOGGED : 0) | (uint64_t)LOW_EPOCH(r->epoch) << 3 | beat_of(r->beat);
  if (r->residual == 0)
    return (head | 128) << 56 | (uint64_t)r->spent << 33 | (uint64_t)(r->completed >= 1ll << 32) << 32 |
           (uint32_t)r->completed;
  uint64_t hi = head << 24 | (uint64_t)r->spent << 1 | (r->residual >= RESIDUAL_IN_LO);
  uint32_t offset = (uint32_t)(r->completed - r->spent + OFFSET_BIAS);
  return hi << 32 | (uint32_t)((uint32_t)(r->residual % RESIDUAL_IN_LO) << 10 | offset);
}

struct report report_unpack(uint64_t word) {
  uint64_t head = word >> 56;
  uint32_t hi = (uint32_t)(word >> 32), lo = (uint32_t)word;
  struct report r = {.epoch = (int64_t)(head >> 3 & 7),
                     .is_backlogged = (head & BACKLOGGED) != 0,
                     .beat = head & 7,
                     .spent = hi >> 1 & MAX_RESERVATION};
  if (head >= 128) {
    r.completed = ((int64_t)(hi & 1) << 32) + lo;
  } else if (r.beat == 0) {
    r.spent = 0;
    r.is_backlogged = false;
  } else {
    r.residual = (hi & 1) * RESIDUAL_IN_LO + (lo >> 10);
    r.completed = r.spent + (lo & 1023) - OFFSET_BIAS;
  }
  return r;
}

int64_t proportion(int64_t total, int64_t part, int64_t whole) { return (int64_t)((__int128)total * part / whole); }

int64_t residual_bound(int64_t reservation, int64_t elapsed, int64_t period) {
  int64_t within = elapsed < 0 ? 0 : elapsed > period ? period : elapsed;
  return reservation - proportion(reservation, within, period);
}

int64_t usable_part(int64_t before, int64_t take) { return before <= 0 ? 0 : before < take ? before : take; }

bool settings_set(struct settings *s, const char *name, int64_t value) {
  const struct {
    const char *name;
    int64_t *at;
  } counts[] = {
      {"period", &s->period_ns}, {"tick", &s->tick_ns},         {"check", &s->check_ns},
      {"retry", &s->retry_ns},   {"batch", &s->batch},          {"window", &s->window},
      {"phase2", &s->phase2_window}, {"missed", &s->missed_reports}, {"alert", &s->alert_after},
      {"slack", &s->slack},      {"omega-min", &s->omega_min},  {"history", &s->history},
      {"increment", &s->increment}, {"omega", &s->omega},       {"local", &s->local_iops},
  };
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    if (strcmp(counts[i].name, name) == 0) {
      *counts[i].at = value;
      return true;
    }
  }
  if (strcmp(name, "backlog") == 0) s->is_batch_by_backlog = value;
  else if (strcmp(name, "decay") == 0) s->decay = value;
  else if (strcmp(name, "conversion") == 0) s->conversion = value;
  else if (strcmp(name, "estimate") == 0) s->is_estimating = value;
  else if (strcmp(name, "literal-estimate") == 0) s->is_literal_estimate = value;
  else if (strcmp(name, "clear") == 0) s->clears_on_increase = value;
  else return false;
  return true;
}
