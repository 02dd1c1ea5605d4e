/*
 * The data node's process: a monitor over the mapping. It sleeps until its next check or a line on standard input; one-sided
 * verbs of clients do not wake it, which its own count of voluntary context switches shows. Lines of JSON on standard output: periods,
 * clients' accounts of them, events, samples. It ends when standard input ends.
 */
#define _GNU_SOURCE
#include "haechi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define OUT_BYTES (1 << 20)
#define LINE_BYTES 65536
#define INPUT_BYTES 4096

struct node {
  struct settings settings;
  struct monitor monitor;
  struct memory memory;
  int64_t origin, sample_ns, sample_row;
  /* Sequence of the last closed period printed, by slot. */
  uint64_t printed[SLOTS_MAX];
  int clients[SLOTS_MAX];
  int64_t sleeps, timer_wakes, send_wakes, switches_at_start, overfull, lost;
  char out[OUT_BYTES], line[LINE_BYTES], input[INPUT_BYTES];
  size_t pending, length, held;
  int64_t dropped_lines;
  bool is_started, is_ending;
};

/* A line of output; what standard output does not take at once waits, and the monitor never does. */
static void add(struct node *n, const char *format, ...) {
  if (n->length >= LINE_BYTES) return;
  va_list args;
  va_start(args, format);
  int written = vsnprintf(n->line + n->length, LINE_BYTES - n->length, format, args);
  va_end(args);
  n->length += (size_t)written;
}

static void flush(struct node *n) {
  while (n->pending > 0) {
    ssize_t written = write(STDOUT_FILENO, n->out, n->pending);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    n->pending -= (size_t)written;
    memmove(n->out, n->out + written, n->pending);
  }
}

static void end_line(struct node *n) {
  if (n->length + 1 > LINE_BYTES || n->pending + n->length + 1 > OUT_BYTES) {
    n->dropped_lines++;
  } else {
    memcpy(n->out + n->pending, n->line, n->length);
    n->pending += n->length;
    n->out[n->pending++] = '\n';
  }
  n->length = 0;
}

#define LL(x) ((long long)(x))

static int64_t swap_pool(void *port, int64_t expected, int64_t desired, int64_t epoch) {
  _Atomic uint64_t *pool = ((struct node *)port)->memory.pool;
  for (;;) {
    uint64_t word = atomic_load(pool);
    if (pool_tokens(word) != expected) return pool_tokens(word);
    if (atomic_compare_exchange_strong(pool, &word, pool_pack(desired, epoch))) return expected;
  }
}

static uint64_t read_slot(void *port, int slot) { return atomic_load(&((struct node *)port)->memory.reports[slot]); }

static void send_start(void *port, int client, int slot, int64_t epoch, int64_t reservation, int64_t limit) {
  struct node *n = port;
  (void)client;
  n->lost += !mailbox_send(&n->memory.mailboxes[slot], MESSAGE_PERIOD_START, epoch, reservation, limit);
}

static void send_report(void *port, int client, int slot, int64_t epoch) {
  struct node *n = port;
  (void)client;
  n->lost += !mailbox_send(&n->memory.mailboxes[slot], MESSAGE_START_REPORT, epoch, 0, -1);
}

static void on_alert(void *port, int64_t now, enum alert alert, int client, int64_t a, int64_t b) {
  static const char *const names[] = {"local-capacity-risk", "overcommitted", "bad-report", "over-reservation",
                                      "silent-client"};
  add(port, "{\"k\":\"alert\",\"at\":%lld,\"alert\":\"%s\",\"client\":%d,\"a\":%lld,\"b\":%lld}", LL(now), names[alert],
      client, LL(a), LL(b));
  end_line(port);
}

static void on_begun(void *port, int64_t now, int64_t epoch, int64_t pool) {
  add(port, "{\"k\":\"begin\",\"at\":%lld,\"epoch\":%lld,\"pool\":%lld}", LL(now), LL(epoch), LL(pool));
  end_line(port);
}

static void on_report_started(void *port, int64_t now, int64_t epoch) {
  add(port, "{\"k\":\"reports\",\"at\":%lld,\"epoch\":%lld}", LL(now), LL(epoch));
  end_line(port);
}

/* I1: live tokens fit into the rest of the period. */
static void on_converted(void *port, int64_t now, int64_t from, int64_t to, int64_t residual, int64_t races) {
  struct node *n = port;
  (void)from;
  (void)races;
  const struct monitor *m = &n->monitor;
  int64_t elapsed = now - m->start, period = m->s->period_ns;
  int64_t remaining = elapsed >= period ? 0 : proportion(m->omega, period - elapsed, period);
  if (to > 0 && to + residual > remaining) n->overfull++;
}

static int64_t copied_by_all(struct node *n) {
  int64_t sum = 0;
  for (int i = 0; i < n->memory.slots; i++) sum += atomic_load(&n->memory.counters[i].copied);
  return sum;
}

static void on_ended(void *port, const struct period *p) {
  static const char *const actions[] = {"off", "increase", "average", "keep"};
  struct node *n = port;
  const struct monitor *m = &n->monitor;
  add(n,
      "{\"k\":\"period\",\"epoch\":%lld,\"start\":%lld,\"end\":%lld,\"omega\":%lld,\"nextOmega\":%lld,\"action\":\"%s\","
      "\"reserved\":%lld,\"initialPool\":%lld,\"finalPool\":%lld,\"residual\":%lld,\"target\":%lld,\"used\":%lld,"
      "\"claimed\":%lld,\"yielded\":%lld,\"conversions\":%lld,\"casRaces\":%lld",
      LL(p->epoch), LL(p->start), LL(p->end), LL(p->omega), LL(p->next_omega), actions[p->action], LL(p->reserved),
      LL(p->initial_pool), LL(p->final_pool), LL(p->residual), LL(p->target), LL(p->used), LL(p->claimed),
      LL(p->yielded), LL(p->conversions), LL(p->races));
  add(n, ",\"poolChecks\":[");
  for (int i = 0; i < POOL_PARTS; i++) {
    if (i > 0) add(n, ",");
    if (m->has_lowest[i]) add(n, "%lld", LL(m->lowest[i]));
    else add(n, "null");
  }
  add(n, "],\"clients\":[");
  for (int i = 0; i < m->account_count; i++) {
    const struct account *a = &m->accounts[i];
    add(n, "%s[%d,%lld,%lld,%lld]", i > 0 ? "," : "", a->client, LL(a->reservation), LL(a->completed), LL(a->yielded));
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  int64_t switches = usage.ru_nvcsw - n->switches_at_start;
  int64_t cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
                (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ll;
  add(n,
      "],\"wakes\":{\"timer\":%lld,\"send\":%lld,\"sleeps\":%lld,\"switches\":%lld},\"cpuNs\":%lld,\"dataIos\":%lld,"
      "\"overfull\":%lld,\"lostMessages\":%lld,\"droppedLines\":%lld}",
      LL(n->timer_wakes), LL(n->send_wakes), LL(n->sleeps), LL(switches), LL(cpu), LL(copied_by_all(n)), LL(n->overfull),
      LL(n->lost), LL(n->dropped_lines));
  end_line(n);
}

/* A period as its client counted it, once it is closed. */
static void print_closed(struct node *n, int slot) {
  struct closed_period *shared = &n->memory.counters[slot].closed, p;
  uint64_t seq = atomic_load(&shared->seq);
  if (seq == n->printed[slot] || seq % 2 != 0) return;
  memcpy((char *)&p + sizeof p.seq, (char *)shared + sizeof p.seq, sizeof p - sizeof p.seq);
  atomic_thread_fence(memory_order_acquire);
  if (atomic_load(&shared->seq) != seq) return;
  n->printed[slot] = seq;
  const struct engine_totals *t = &p.totals;
  add(n,
      "{\"k\":\"log\",\"client\":%d,\"epoch\":%lld,\"reservation\":%lld,\"limit\":%lld,\"completed\":%lld,\"issued\":%lld,"
      "\"yielded\":%lld,\"granted\":%lld,\"xi\":%lld,\"g\":%lld,\"inflight\":%lld,\"copied\":%lld,\"torn\":%lld,",
      n->clients[slot], LL(p.epoch), LL(p.reservation), LL(p.limit), LL(p.completed), LL(p.issued), LL(p.yielded),
      LL(p.granted), LL(p.xi), LL(p.g), LL(p.inflight), LL(p.copied), LL(p.torn));
  add(n,
      "\"totals\":{\"pushed\":%lld,\"claimed\":%lld,\"usedReservation\":%lld,\"usedGlobal\":%lld,\"yielded\":%lld,"
      "\"voidedReservation\":%lld,\"voidedGlobal\":%lld,\"completed\":%lld}}",
      LL(t->pushed), LL(t->claimed), LL(t->used_reservation), LL(t->used_global), LL(t->yielded),
      LL(t->voided_reservation), LL(t->voided_global), LL(t->completed));
  end_line(n);
}

static void sample(struct node *n, int64_t now) {
  const struct monitor *m = &n->monitor;
  int64_t row = now / n->sample_ns;
  if (row <= n->sample_row) return;
  n->sample_row = row;
  int64_t sum = 0;
  for (int i = 0; i < m->window_count; i++) sum += m->window[i];
  add(n, "{\"k\":\"sample\",\"n\":[%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%d],\"c\":[", LL(row * n->sample_ns),
      LL(m->epoch), LL(pool_tokens(atomic_load(n->memory.pool))), LL(m->residual), LL(m->target), LL(m->omega),
      LL(monitor_used(m)), LL(m->reserved), LL(m->claimed), LL(m->window_count > 0 ? sum / m->window_count : 0),
      m->is_reporting);
  for (int i = 0; i < m->account_count; i++) {
    const struct counters *c = &n->memory.counters[m->accounts[i].slot];
    bool is_current = c->epoch == m->epoch;
    add(n, "%s[%d,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld]", i > 0 ? "," : "", m->accounts[i].client, LL(c->xi),
        LL(c->g), LL(c->bound), LL(c->phase), LL(c->queued), LL(c->inflight), is_current ? LL(c->n) : 0ll,
        is_current ? LL(c->yielded) : 0ll, LL(c->is_throttled));
  }
  add(n, "]}");
  end_line(n);
}

/* Last counts of a client that was killed. */
static void print_last(struct node *n, int client, int slot) {
  const struct counters *c = &n->memory.counters[slot];
  add(n,
      "{\"k\":\"last\",\"client\":%d,\"epoch\":%lld,\"xi\":%lld,\"g\":%lld,\"granted\":%lld,\"grantEpoch\":%lld,"
      "\"grantedInEpoch\":%lld,\"used\":%lld,\"copied\":%lld}",
      client, LL(c->epoch), LL(c->xi), LL(c->g), LL(c->granted), LL(c->grant_epoch), LL(c->granted_in_epoch), LL(c->used),
      LL(c->copied));
  end_line(n);
}

static void answer(struct node *n, int64_t id, bool is_done) {
  add(n, "{\"k\":\"answer\",\"id\":%lld,\"done\":%s}", LL(id), is_done ? "true" : "false");
  end_line(n);
}

/* `ID VERB NUMBER...` from the program that started the node, which has checked it. */
static void obey(struct node *n, const char *line) {
  long long id, a = -1, b = -1, c = -1, d = -1;
  char verb[16];
  int64_t now = clock_now(n->origin);
  if (sscanf(line, "%lld %15s %lld %lld %lld %lld", &id, verb, &a, &b, &c, &d) < 2) return;
  bool is_done = false, is_slot = b >= 0 && b < n->memory.slots;
  if (strcmp(verb, "start") == 0 && !n->is_started) {
    n->is_started = is_done = true;
    monitor_start(&n->monitor, now);
  } else if (strcmp(verb, "prepare") == 0 && is_slot) {
    /* Before the client's process starts: its slot is as new. */
    mailbox_reset(&n->memory.mailboxes[b]);
    atomic_store(&n->memory.reports[b], 0);
    memset(&n->memory.counters[b], 0, sizeof n->memory.counters[b]);
    n->printed[b] = 0;
    n->clients[b] = (int)a;
    is_done = true;
  } else if (strcmp(verb, "join") == 0 && is_slot) {
    is_done = monitor_join(&n->monitor, now, (int)a, (int)b, c, d);
  } else if (strcmp(verb, "reserve") == 0) {
    is_done = monitor_reserve(&n->monitor, (int)a, b, c);
  } else if (strcmp(verb, "order") == 0 && is_slot) {
    mailbox_order(&n->memory.mailboxes[b], ORDER_LEAVE);
    is_done = true;
  } else if (strcmp(verb, "leave") == 0 && is_slot) {
    print_closed(n, (int)b);
    print_last(n, (int)a, (int)b);
    is_done = monitor_leave(&n->monitor, (int)a);
  } else if (strcmp(verb, "stop") == 0) {
    n->is_ending = is_done = true;
  }
  answer(n, id, is_done);
}

/* Reads what there is; false at the end of standard input. */
static bool listen_once(struct node *n) {
  ssize_t got = read(STDIN_FILENO, n->input + n->held, INPUT_BYTES - 1 - n->held);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  n->held += (size_t)got;
  for (char *end; (end = memchr(n->input, '\n', n->held)) != NULL;) {
    *end = '\0';
    obey(n, n->input);
    n->held -= (size_t)(end + 1 - n->input);
    memmove(n->input, end + 1, n->held);
  }
  /* A line without an end is no order. */
  if (n->held == INPUT_BYTES - 1) n->held = 0;
  return true;
}

static void work(struct node *n) {
  for (;;) {
    int64_t now = clock_now(n->origin);
    if (n->is_started && n->monitor.check_at <= now) {
      for (int i = 0; i < n->memory.slots; i++) print_closed(n, i);
      sample(n, now);
      monitor_wake(&n->monitor, now);
      flush(n);
      continue;
    }
    flush(n);
    if (n->is_ending) return;
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    int64_t ns = n->is_started ? n->monitor.check_at - now : NS_PER_S;
    struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
    n->sleeps++;
    int ready = ppoll(&in, 1, &t, NULL);
    if (ready > 0) {
      n->send_wakes++;
      if (!listen_once(n)) return;
    } else if (ready == 0) {
      n->timer_wakes++;
    }
  }
}

int node_main(struct options *o) {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  struct node *n = calloc(1, sizeof *n);
  n->origin = option(o, "origin", 0);
  n->sample_ns = option(o, "sample", 50 * NS_PER_MS);
  n->memory = memory_open((int)option(o, "slots", 0), option(o, "records", 0), true);
  options_settings(o, &n->settings);
  options_end(o);
  if (n->sample_ns < 1) fail("the sample interval must be positive");
  memory_format(&n->memory);
  monitor_init(&n->monitor, &n->settings);
  struct monitor *m = &n->monitor;
  m->port = n;
  m->swap_pool = swap_pool;
  m->read_slot = read_slot;
  m->send_start = send_start;
  m->send_report = send_report;
  m->alert = on_alert;
  m->begun = on_begun;
  m->report_started = on_report_started;
  m->converted = on_converted;
  m->ended = on_ended;
  for (int i = 0; i < SLOTS_MAX; i++) n->clients[i] = -1;
  fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  n->switches_at_start = usage.ru_nvcsw;
  add(n, "{\"k\":\"ready\"}");
  end_line(n);
  work(n);
  for (int i = 0; i < n->memory.slots; i++) {
    mailbox_order(&n->memory.mailboxes[i], ORDER_STOP);
    print_closed(n, i);
  }
  flush(n);
  return 0;
}
