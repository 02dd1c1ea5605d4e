/*
 * Engine or monitor driven by events on standard input, one per line; prints every action and the state after each event. Tests
 * compare it with core/haechi on the same events. The first lines set settings: `set NAME VALUE`.
 */
#include "haechi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LL(x) ((long long)(x))

static struct settings settings;
static struct engine engine;
static struct monitor monitor;
static _Atomic uint64_t pool;
static uint64_t slots[SLOTS_MAX];

static void post_io(void *port, int64_t n, bool is_global) {
  (void)port;
  printf("io %lld %s\n", LL(n), is_global ? "global" : "reservation");
}

static void faa(void *port, int64_t take) {
  (void)port;
  printf("faa %lld\n", LL(take));
}

static void write_report(void *port, const struct report *r) {
  (void)port;
  printf("report %016llx\n", (unsigned long long)report_pack(r));
}

static int64_t printed(int64_t at) { return at == NEVER ? -1 : at; }

static void print_engine(void) {
  const struct engine *e = &engine;
  const struct engine_totals *t = &e->totals;
  printf("= %lld %lld %lld %lld %lld %lld %lld %d %d %lld %lld %lld", LL(e->epoch), LL(e->xi), LL(e->g), LL(e->completed),
         LL(e->issued), LL(e->inflight), LL(e->queued), e->wait, e->is_throttled, LL(e->yielded), LL(e->bound),
         LL(printed(engine_wake_at(e))));
  const int64_t totals[] = {t->pushed,       t->claimed,           t->used_reservation, t->used_global,
                            t->yielded,      t->voided_reservation, t->voided_global,    t->completed,
                            t->faas,         t->faa_full,          t->faa_partial,      t->faa_empty,
                            t->faa_late,     t->refused,           t->dropped};
  for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) printf(" %lld", LL(totals[i]));
  printf("\n");
}

static void engine_event(const char *verb, const long long *a) {
  if (strcmp(verb, "request") == 0) engine_request(&engine, a[0]);
  else if (strcmp(verb, "completion") == 0) engine_completion(&engine, a[0]);
  else if (strcmp(verb, "faa-reply") == 0) engine_faa_reply(&engine, a[0], a[1], a[2], a[3]);
  else if (strcmp(verb, "period") == 0) engine_period_start(&engine, a[0], a[1], a[2], a[3]);
  else if (strcmp(verb, "reports") == 0) engine_start_report(&engine, a[0]);
  else if (strcmp(verb, "wake") == 0) engine_wake(&engine, a[0]);
  else if (strcmp(verb, "leave") == 0) engine_leave(&engine);
  else if (strcmp(verb, "drop") == 0) engine_drop_queue(&engine);
  else if (strcmp(verb, "direct") == 0) engine_post_direct(&engine);
  else fail("no such event: %s", verb);
  print_engine();
}

static int64_t swap_pool(void *port, int64_t expected, int64_t desired, int64_t epoch) {
  (void)port;
  int64_t found = pool_tokens(pool);
  if (found == expected) pool = pool_pack(desired, epoch);
  printf("swap %lld %lld %lld\n", LL(expected), LL(desired), LL(found));
  return found;
}

static uint64_t read_slot(void *port, int slot) {
  (void)port;
  return slots[slot];
}

static void send_start(void *port, int client, int slot, int64_t epoch, int64_t reservation, int64_t limit) {
  (void)port;
  (void)slot;
  printf("send %d period %lld %lld %lld\n", client, LL(epoch), LL(reservation), LL(limit));
}

static void send_report(void *port, int client, int slot, int64_t epoch) {
  (void)port;
  (void)slot;
  printf("send %d reports %lld\n", client, LL(epoch));
}

static void on_alert(void *port, int64_t now, enum alert alert, int client, int64_t a, int64_t b) {
  (void)port;
  (void)a;
  (void)b;
  printf("alert %lld %d %d\n", LL(now), alert, client);
}

static void on_begun(void *port, int64_t now, int64_t epoch, int64_t tokens) {
  (void)port;
  printf("begin %lld %lld %lld\n", LL(now), LL(epoch), LL(tokens));
}

static void on_report_started(void *port, int64_t now, int64_t epoch) {
  (void)port;
  printf("reports %lld %lld\n", LL(now), LL(epoch));
}

static void on_converted(void *port, int64_t now, int64_t from, int64_t to, int64_t residual, int64_t races) {
  (void)port;
  printf("convert %lld %lld %lld %lld %lld\n", LL(now), LL(from), LL(to), LL(residual), LL(races));
}

static void on_ended(void *port, const struct period *p) {
  (void)port;
  printf("period %lld %lld %lld %lld %lld %d %lld %lld %lld %lld %lld %lld %lld %lld %lld", LL(p->epoch), LL(p->start),
         LL(p->end), LL(p->omega), LL(p->next_omega), p->action, LL(p->reserved), LL(p->initial_pool), LL(p->final_pool),
         LL(p->residual), LL(p->target), LL(p->used), LL(p->claimed), LL(p->yielded), LL(p->conversions));
  for (int i = 0; i < POOL_PARTS; i++) {
    if (monitor.has_lowest[i]) printf(" %lld", LL(monitor.lowest[i]));
    else printf(" -");
  }
  for (int i = 0; i < monitor.account_count; i++) {
    const struct account *a = &monitor.accounts[i];
    printf(" %d:%lld:%lld:%lld", a->client, LL(a->reservation), LL(a->completed), LL(a->yielded));
  }
  printf("\n");
}

static void print_monitor(void) {
  const struct monitor *m = &monitor;
  printf("= %lld %lld %lld %lld %lld %lld %lld %lld %d %d %lld\n", LL(m->epoch), LL(m->omega), LL(m->pool), LL(m->initial),
         LL(m->target), LL(m->residual), LL(m->reserved), LL(m->claimed), m->is_reporting, m->is_overcommitted,
         LL(printed(m->check_at)));
}

static void monitor_event(const char *verb, const long long *a) {
  if (strcmp(verb, "join") == 0) monitor_join(&monitor, a[0], (int)a[1], (int)a[2], a[3], a[4]);
  else if (strcmp(verb, "reserve") == 0) monitor_reserve(&monitor, (int)a[0], a[1], a[2]);
  else if (strcmp(verb, "leave") == 0) monitor_leave(&monitor, (int)a[0]);
  else if (strcmp(verb, "start") == 0) monitor_start(&monitor, a[0]);
  else if (strcmp(verb, "wake") == 0) monitor_wake(&monitor, a[0]);
  else if (strcmp(verb, "take") == 0) atomic_fetch_sub(&pool, (uint64_t)a[0]);
  else if (strcmp(verb, "report") == 0 && a[0] >= 0 && a[0] < SLOTS_MAX)
    slots[a[0]] = (uint64_t)a[1] << 32 | (uint64_t)a[2];
  else fail("no such event: %s", verb);
  print_monitor();
}

int trace_main(struct options *o) {
  bool is_monitor = option(o, "monitor", 0);
  options_end(o);
  char line[256], verb[32], name[32];
  bool is_open = false;
  while (fgets(line, sizeof line, stdin)) {
    long long a[5] = {0};
    if (sscanf(line, "set %31s %lld", name, &a[0]) == 2) {
      if (!settings_set(&settings, name, a[0])) fail("no such setting: %s", name);
      continue;
    }
    if (!is_open) {
      engine_init(&engine, &settings);
      monitor_init(&monitor, &settings);
      pool = pool_pack(0, 0);
      engine.post_io = post_io;
      engine.faa = faa;
      engine.write_report = write_report;
      monitor.swap_pool = swap_pool;
      monitor.read_slot = read_slot;
      monitor.send_start = send_start;
      monitor.send_report = send_report;
      monitor.alert = on_alert;
      monitor.begun = on_begun;
      monitor.report_started = on_report_started;
      monitor.converted = on_converted;
      monitor.ended = on_ended;
      is_open = true;
    }
    if (sscanf(line, "%31s %lld %lld %lld %lld %lld", verb, &a[0], &a[1], &a[2], &a[3], &a[4]) < 1) continue;
    if (is_monitor) monitor_event(verb, a);
    else engine_event(verb, a);
  }
  return 0;
}
