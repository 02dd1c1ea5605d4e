/*
 * QoS monitor of a data node: period tokens, conversion, capacity estimate, alerts (core/haechi/qos-monitor.ts, client-account.ts,
 * conversion.ts, capacity-estimate.ts). Admission is decided before a client joins. It reads reports from the node's own
 * memory and changes POOL by CAS alone; verbs of clients never involve it.
 */
#include "haechi.h"

#include <math.h>
#include <string.h>

/* Checks before the end of a period at which reports are requested even if no client touched the pool. */
#define LAST_CHECKS 3

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static struct account *find(struct monitor *m, int client) {
  for (int i = 0; i < m->account_count; i++)
    if (m->accounts[i].client == client) return &m->accounts[i];
  return NULL;
}

static bool is_same(const struct report *a, const struct report *b) {
  return a->beat == b->beat && a->completed == b->completed && a->spent == b->spent && a->residual == b->residual &&
         a->is_backlogged == b->is_backlogged && a->epoch == b->epoch;
}

/* Reads a slot; returns true if its report must be ignored. */
static bool take(struct account *a, struct report report, int64_t epoch, int64_t now) {
  bool is_new = !a->has_slot || !is_same(&report, &a->slot_report);
  /* A report that is new once is old in all later periods, however few bits of its epoch it carries. */
  a->slot_report = report;
  a->has_slot = true;
  if (!is_new || report.beat == 0 || report.epoch != LOW_EPOCH(epoch)) return false;
  if (report.residual > a->reservation || report.completed < a->completed ||
      report.spent + report.residual > a->reservation)
    return true;
  a->has_report = true;
  a->heard_at = now;
  a->is_silent = false;
  a->was_silent = false;
  a->residual = report.residual;
  a->completed = report.completed;
  a->yielded = a->reservation - report.residual - report.spent;
  return false;
}

static int64_t expected(const struct account *a, int64_t elapsed, int64_t period) {
  if (a->has_left) return 0;
  return a->is_silent ? least(a->residual, residual_bound(a->reservation, elapsed, period)) : a->residual;
}

static int64_t returned(const struct account *a, int64_t elapsed, int64_t period) {
  if (!a->has_report && !a->was_silent) return 0;
  return a->yielded + a->residual - expected(a, elapsed, period);
}

int64_t monitor_used(const struct monitor *m) {
  int64_t used = 0;
  for (int i = 0; i < m->account_count; i++) used += m->accounts[i].completed;
  return used;
}

int64_t monitor_yielded(const struct monitor *m, int64_t now) {
  int64_t yielded = 0;
  for (int i = 0; i < m->account_count; i++) yielded += returned(&m->accounts[i], now - m->start, m->s->period_ns);
  return yielded;
}

static int64_t granted_between(int64_t before, int64_t after) { return most(0, before) - most(0, after); }

static void seen(struct monitor *m, int64_t found) {
  m->claimed += granted_between(m->pool, found);
  m->pool = found;
}

/* Writes the pool despite concurrent FAAs; with `lowered`, subtracts the tokens granted to them. Returns the attempts that failed. */
static int64_t write_pool(struct monitor *m, int64_t target, int64_t epoch, bool lowered) {
  for (int64_t races = 0;; races++) {
    int64_t found = m->swap_pool(m->port, m->pool, target, epoch);
    if (found == m->pool) {
      m->pool = target;
      return races;
    }
    if (lowered) target = most(0, target - granted_between(m->pool, found));
    seen(m, found);
  }
}

/* CAS(POOL, 0, 0): reads with the atomicity of the NIC. */
static void read_pool(struct monitor *m) { seen(m, m->swap_pool(m->port, 0, 0, m->epoch)); }

/* Keeps the pool of a check; one at a border belongs to the part that ends. */
static void checked(struct monitor *m, int64_t now) {
  int64_t part = (int64_t)ceil((double)(now - m->start) / (double)m->s->period_ns * POOL_PARTS) - 1;
  int i = (int)least(POOL_PARTS - 1, most(0, part));
  if (!m->has_lowest[i] || m->lowest[i] > m->pool) m->lowest[i] = m->pool;
  m->has_lowest[i] = true;
}

/* Old tokens expire, engines learn of the new period, then the new pool opens. */
static void begin_period(struct monitor *m, int64_t now) {
  write_pool(m, 0, m->epoch, false);
  m->start = now;
  m->check_at = now + least(m->s->check_ns, m->s->period_ns);
  m->epoch++;
  m->claimed = m->conversions = m->races = 0;
  m->is_reporting = false;
  m->target = m->residual = m->reserved = 0;
  memset(m->has_lowest, 0, sizeof m->has_lowest);
  int kept = 0;
  for (int i = 0; i < m->account_count; i++) {
    if (m->accounts[i].has_left) continue;
    if (kept != i) m->accounts[kept] = m->accounts[i];
    struct account *a = &m->accounts[kept++];
    a->reservation = a->next_reservation;
    a->limit = a->next_limit;
    a->has_report = false;
    a->residual = a->reservation;
    a->completed = a->yielded = 0;
    a->heard_at = now;
    a->is_at_risk = a->is_bad = false;
    a->was_silent = a->is_silent;
    m->reserved += a->reservation;
  }
  m->account_count = kept;
  bool is_over = m->reserved > m->omega;
  if (is_over && !m->is_overcommitted) m->alert(m->port, now, ALERT_OVERCOMMITTED, -1, m->reserved - m->omega, m->omega);
  m->is_overcommitted = is_over;
  for (int i = 0; i < kept; i++) {
    const struct account *a = &m->accounts[i];
    m->send_start(m->port, a->client, a->slot, m->epoch, a->reservation, a->limit);
  }
  m->initial = most(0, m->omega - m->reserved);
  write_pool(m, m->initial, m->epoch, false);
  m->claimed = 0;
  m->begun(m->port, now, m->epoch, m->initial);
}

static void start_reports(struct monitor *m, int64_t now) {
  m->is_reporting = true;
  for (int i = 0; i < m->account_count; i++) {
    struct account *a = &m->accounts[i];
    a->heard_at = now;
    if (!a->has_left) m->send_report(m->port, a->client, a->slot, m->epoch);
  }
  m->report_started(m->port, now, m->epoch);
}

static void read_reports(struct monitor *m, int64_t now) {
  int64_t silence = m->s->missed_reports * m->s->tick_ns;
  int64_t remaining = m->start + m->s->period_ns - now;
  for (int i = 0; i < m->account_count; i++) {
    struct account *a = &m->accounts[i];
    struct report report = report_unpack(m->read_slot(m->port, a->slot));
    if (take(a, report, m->epoch, now) && !a->is_bad) {
      a->is_bad = true;
      m->alert(m->port, now, ALERT_BAD_REPORT, a->client, report.residual, a->reservation);
    }
    if (a->has_left) continue;
    if (!a->is_silent && now - a->heard_at > silence) {
      a->is_silent = true;
      m->alert(m->port, now, ALERT_SILENT, a->client, now - a->heard_at, 0);
    }
    /* Only a backlogged client is at risk; a report is at least one tick old and gives the tokens left then. */
    int64_t capacity = proportion(m->s->local_iops, most(0, remaining + 2 * m->s->tick_ns), NS_PER_S);
    if (a->residual <= capacity || a->is_at_risk || !a->has_report) continue;
    a->is_at_risk = true;
    m->alert(m->port, now, ALERT_LOCAL_RISK, a->client, a->residual, remaining);
  }
}

static bool is_complete(const struct monitor *m) {
  for (int i = 0; i < m->account_count; i++) {
    const struct account *a = &m->accounts[i];
    if (!a->has_report && !a->is_silent && !a->has_left) return false;
  }
  return true;
}

static int64_t conversion_target(struct monitor *m, int64_t now) {
  int64_t elapsed = now - m->start, period = m->s->period_ns;
  int64_t time_cap = elapsed >= period ? 0 : proportion(m->omega, period - elapsed, period);
  int64_t by_time = time_cap - m->residual;
  if (m->s->conversion == CONVERT_LITERAL) return most(0, by_time);
  int64_t unclaimed = m->s->conversion == CONVERT_LEDGER
                          ? m->omega - m->reserved + monitor_yielded(m, now) - m->claimed
                          : m->omega - monitor_used(m) - m->residual;
  return most(0, least(by_time, unclaimed));
}

static void convert(struct monitor *m, int64_t now) {
  m->residual = 0;
  for (int i = 0; i < m->account_count; i++)
    m->residual += expected(&m->accounts[i], now - m->start, m->s->period_ns);
  int64_t target = conversion_target(m, now);
  int64_t from = m->pool;
  int64_t races = write_pool(m, target, m->epoch, true);
  m->target = m->pool;
  m->conversions++;
  m->races += races;
  if (races > 0 || from != m->pool) m->converted(m->port, now, from, m->pool, m->residual, races);
}

static void check(struct monitor *m, int64_t now) {
  int64_t end = m->start + m->s->period_ns;
  m->check_at = least(end, m->start + ((now - m->start) / m->s->check_ns + 1) * m->s->check_ns);
  read_pool(m);
  checked(m, now);
  if (!m->is_reporting) {
    if (m->pool < m->initial || now >= end - LAST_CHECKS * m->s->check_ns) start_reports(m, now);
    return;
  }
  read_reports(m, now);
  if (m->s->conversion != CONVERT_NONE && is_complete(m)) convert(m, now);
}

/* Algorithm 1. */
static enum action estimate(struct monitor *m, int64_t used) {
  const struct settings *s = m->s;
  if (s->is_literal_estimate ? used == m->omega : used >= m->omega - s->slack) {
    m->omega += s->increment;
    if (s->clears_on_increase) m->window_count = 0;
    return ACTION_INCREASE;
  }
  if (used < s->omega_min || used > m->omega) return ACTION_KEEP;
  if (m->window_count >= s->history) {
    int dropped = m->window_count - (int)s->history + 1;
    m->window_count -= dropped;
    memmove(m->window, m->window + dropped, (size_t)m->window_count * sizeof *m->window);
  }
  m->window[m->window_count++] = used;
  int64_t sum = 0;
  for (int i = 0; i < m->window_count; i++) sum += m->window[i];
  m->omega = sum / m->window_count;
  return ACTION_AVERAGE;
}

static void end_period(struct monitor *m, int64_t now) {
  read_pool(m);
  checked(m, now);
  int64_t final_pool = m->pool;
  read_reports(m, now);
  write_pool(m, 0, m->epoch, false);
  int64_t used = monitor_used(m), omega = m->omega;
  enum action action = m->s->is_estimating ? estimate(m, used) : ACTION_OFF;
  for (int i = 0; i < m->account_count; i++) {
    struct account *a = &m->accounts[i];
    if (a->has_left) continue;
    a->unused_periods = a->completed >= a->reservation ? 0 : a->unused_periods + 1;
    if (a->unused_periods == m->s->alert_after)
      m->alert(m->port, now, ALERT_OVER_RESERVATION, a->client, m->s->alert_after, 0);
  }
  struct period p = {.epoch = m->epoch,
                     .start = m->start,
                     .end = now,
                     .omega = omega,
                     .next_omega = m->omega,
                     .reserved = m->reserved,
                     .initial_pool = m->initial,
                     .final_pool = final_pool,
                     .residual = m->residual,
                     .target = m->target,
                     .used = used,
                     .claimed = m->claimed,
                     .yielded = monitor_yielded(m, now),
                     .conversions = m->conversions,
                     .races = m->races,
                     .action = action};
  m->ended(m->port, &p);
  begin_period(m, now);
}

void monitor_init(struct monitor *m, const struct settings *s) {
  memset(m, 0, sizeof *m);
  m->s = s;
  m->omega = s->omega;
  m->check_at = NEVER;
}

bool monitor_join(struct monitor *m, int64_t now, int client, int slot, int64_t reservation, int64_t limit) {
  if (m->account_count == SLOTS_MAX || find(m, client)) return false;
  for (int i = 0; i < m->account_count; i++)
    if (m->accounts[i].slot == slot) return false;
  struct account *a = &m->accounts[m->account_count++];
  *a = (struct account){.client = client,
                        .slot = slot,
                        .limit = limit,
                        .next_reservation = reservation,
                        .next_limit = limit,
                        .heard_at = now};
  if (m->epoch == 0) return true;
  m->send_start(m->port, client, slot, m->epoch, 0, limit);
  if (m->is_reporting) m->send_report(m->port, client, slot, m->epoch);
  return true;
}

bool monitor_reserve(struct monitor *m, int client, int64_t reservation, int64_t limit) {
  struct account *a = find(m, client);
  if (!a || a->has_left) return false;
  a->next_reservation = reservation;
  a->next_limit = limit;
  return true;
}

bool monitor_leave(struct monitor *m, int client) {
  struct account *a = find(m, client);
  if (!a || a->has_left) return false;
  a->has_left = true;
  return true;
}

void monitor_start(struct monitor *m, int64_t now) { begin_period(m, now); }

void monitor_wake(struct monitor *m, int64_t now) {
  if (now < m->check_at) return;
  if (now >= m->start + m->s->period_ns) end_period(m, now);
  else check(m, now);
}
