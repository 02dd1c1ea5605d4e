/*
 * Helper of a Haechi node. Monitor and clients are processes that share one mapping: POOL, report slots and records, with the word
 * layouts of core/haechi. Engine and monitor are those of core/haechi (qos-engine.ts, qos-monitor.ts), step by step; `trace`
 * prints what they do for a list of events, which tests compare with the TypeScript ones.
 *
 * Times are ns on CLOCK_MONOTONIC since the node's origin; counts are tokens, and a token is one I/O.
 */
#ifndef SLUICE_HAECHI_H
#define SLUICE_HAECHI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_S 1000000000ll
#define NS_PER_MS 1000000ll
#define NEVER INT64_MAX
#define NO_LIMIT (1ll << 30)
#define RECORD_BYTES 4096
#define SLOTS_MAX 256

/* words.c: layouts of core/haechi/pool-word.ts and report-word.ts. */

struct report {
  int64_t epoch;
  /* xi after the tick; reservation tokens used since T1; I/Os completed since T1. */
  int64_t residual, spent, completed;
  /* Requests wait although the client has tokens. */
  bool is_backlogged;
  /* Number of the report; its 3-bit hash once read. */
  uint64_t beat;
};

uint64_t pool_pack(int64_t tokens, int64_t epoch);
int64_t pool_tokens(uint64_t word);
int64_t pool_epoch(uint64_t word);
/* Epoch nearest to `current` with these low 8 bits. */
int64_t epoch_near(int64_t low, int64_t current);
uint64_t report_pack(const struct report *r);
struct report report_unpack(uint64_t word);
#define LOW_EPOCH(epoch) ((epoch)&7)

/* floor(total * part / whole). */
int64_t proportion(int64_t total, int64_t part, int64_t whole);
/* Residual reservation that a client may claim after `elapsed`. */
int64_t residual_bound(int64_t reservation, int64_t elapsed, int64_t period);
/* Tokens that a FAA(-take) obtains of a pool of `before`. */
int64_t usable_part(int64_t before, int64_t take);

struct settings {
  int64_t period_ns, tick_ns, check_ns, retry_ns;
  int64_t batch, window, phase2_window;
  bool is_batch_by_backlog;
  enum { DECAY_NONE, DECAY_LITERAL, DECAY_DEMAND } decay;
  enum { CONVERT_NONE, CONVERT_LITERAL, CONVERT_LEDGER, CONVERT_BUDGET } conversion;
  int64_t missed_reports, alert_after;
  /* Estimator; `omega` is that of the first period, `local_iops` C_L. */
  bool is_estimating, is_literal_estimate, clears_on_increase;
  int64_t slack, omega_min, history, increment, omega, local_iops;
};

/* Sets one `name=value` of the settings. Returns false if there is no such setting. */
bool settings_set(struct settings *s, const char *name, int64_t value);

/* engine.c */

enum engine_wait { WAIT_NONE, WAIT_FAA, WAIT_POOL };

struct engine_totals {
  int64_t pushed, claimed, used_reservation, used_global, yielded, voided_reservation, voided_global, completed;
  int64_t faas, faa_full, faa_partial, faa_empty, faa_late, refused, dropped;
};

struct engine {
  const struct settings *s;
  void *port;
  void (*post_io)(void *port, int64_t n, bool is_global);
  void (*faa)(void *port, int64_t take);
  void (*write_report)(void *port, const struct report *r);
  int64_t epoch, reservation, limit, xi, g, g_epoch, completed, issued, inflight, queued;
  enum engine_wait wait;
  bool is_throttled, has_left, is_reporting;
  int64_t yielded, bound, reported, period_start, tick_at, retry_at;
  uint64_t beat;
  struct engine_totals totals;
};

void engine_init(struct engine *e, const struct settings *s);
int64_t engine_wake_at(const struct engine *e);
void engine_request(struct engine *e, int64_t n);
void engine_drop_queue(struct engine *e);
void engine_completion(struct engine *e, int64_t n);
void engine_faa_reply(struct engine *e, int64_t now, int64_t before, int64_t take, int64_t epoch);
void engine_period_start(struct engine *e, int64_t now, int64_t epoch, int64_t reservation, int64_t limit);
void engine_start_report(struct engine *e, int64_t epoch);
void engine_wake(struct engine *e, int64_t now);
void engine_leave(struct engine *e);
/* Posts one I/O past the queue; false, and nothing is posted, without a token, over the limit or the window. */
bool engine_post_direct(struct engine *e);

/* monitor.c */

struct account {
  int client, slot;
  int64_t reservation, limit, next_reservation, next_limit;
  bool has_left, has_report, is_at_risk, is_silent, is_bad, has_slot, was_silent;
  int64_t residual, completed, yielded, heard_at, unused_periods;
  struct report slot_report;
};

enum alert { ALERT_LOCAL_RISK, ALERT_OVERCOMMITTED, ALERT_BAD_REPORT, ALERT_OVER_RESERVATION, ALERT_SILENT };
enum action { ACTION_OFF, ACTION_INCREASE, ACTION_AVERAGE, ACTION_KEEP };
#define POOL_PARTS 10
#define HISTORY_MAX 10000

struct period {
  int64_t epoch, start, end, omega, next_omega, reserved, initial_pool, final_pool, residual, target, used, claimed, yielded;
  int64_t conversions, races;
  enum action action;
};

struct monitor {
  const struct settings *s;
  void *port;
  int64_t (*swap_pool)(void *port, int64_t expected, int64_t desired, int64_t epoch);
  uint64_t (*read_slot)(void *port, int slot);
  void (*send_start)(void *port, int client, int slot, int64_t epoch, int64_t reservation, int64_t limit);
  void (*send_report)(void *port, int client, int slot, int64_t epoch);
  /* `a` and `b` explain an alert: the numbers of its sentence. */
  void (*alert)(void *port, int64_t now, enum alert alert, int client, int64_t a, int64_t b);
  void (*begun)(void *port, int64_t now, int64_t epoch, int64_t pool);
  void (*report_started)(void *port, int64_t now, int64_t epoch);
  void (*converted)(void *port, int64_t now, int64_t from, int64_t to, int64_t residual, int64_t races);
  void (*ended)(void *port, const struct period *p);
  struct account accounts[SLOTS_MAX];
  int account_count;
  int64_t omega, window[HISTORY_MAX];
  int window_count;
  int64_t epoch, start, check_at, initial, pool, target, residual, reserved, claimed, conversions, races;
  int64_t lowest[POOL_PARTS];
  bool has_lowest[POOL_PARTS];
  bool is_reporting, is_overcommitted;
};

void monitor_init(struct monitor *m, const struct settings *s);
/* The caller has admitted the client (core/haechi/admission.ts). False if the client or the slot is taken. */
bool monitor_join(struct monitor *m, int64_t now, int client, int slot, int64_t reservation, int64_t limit);
bool monitor_reserve(struct monitor *m, int client, int64_t reservation, int64_t limit);
bool monitor_leave(struct monitor *m, int client);
void monitor_start(struct monitor *m, int64_t now);
void monitor_wake(struct monitor *m, int64_t now);
int64_t monitor_used(const struct monitor *m);
int64_t monitor_yielded(const struct monitor *m, int64_t now);

/* memory.c: the mapping. */

#define MAILBOX_MESSAGES 16
enum order { ORDER_RUN, ORDER_LEAVE, ORDER_STOP };
enum message { MESSAGE_PERIOD_START = 1, MESSAGE_START_REPORT };

/* SENDs of the monitor to one client, and its orders: one writer, one reader. */
struct mailbox {
  _Atomic uint32_t bell, written, read, lost, order;
  uint32_t unused[27];
  struct {
    int64_t kind, epoch, reservation, limit;
  } ring[MAILBOX_MESSAGES];
};

/* Account of a period, written by its client when the period is over: `seq` is odd while it is written. */
struct closed_period {
  _Atomic uint64_t seq;
  int64_t epoch, reservation, limit, completed, issued, yielded, granted, xi, g, inflight, copied, torn;
  struct engine_totals totals;
};

/* Counters of a client: readable even after it was killed. */
struct counters {
  /* At every poll of completions. */
  _Alignas(128) _Atomic int64_t copied;
  _Atomic int64_t used, completed, torn;
  /* At every FAA: tokens granted since the start, and in the epoch of the last grant. */
  _Alignas(128) _Atomic int64_t granted;
  _Atomic int64_t grant_epoch, granted_in_epoch;
  /* At every poll of completions, and before each sleep. */
  _Alignas(128) _Atomic int64_t epoch;
  _Atomic int64_t xi, g, bound, phase, queued, inflight, n, yielded, is_throttled;
  _Alignas(128) struct closed_period closed;
};

struct memory {
  uint8_t *base;
  size_t bytes;
  int slots;
  int64_t records;
  _Atomic uint64_t *pool;
  _Atomic uint64_t *reports;
  struct mailbox *mailboxes;
  struct counters *counters;
  uint8_t *store;
};

/* Descriptor of the mapping in every process of a node. */
#define MEMORY_FD 3
/* Maps the file behind MEMORY_FD after checking that no other user can open it; exits with a message otherwise.
   With `creates`, an empty file gets its size. */
struct memory memory_open(int slots, int64_t records, bool creates);
/* Prepares the memory of a new node; clients wait for nothing else. */
void memory_format(struct memory *m);
/* Exits with a message unless a node has prepared it with this shape. */
void memory_check(struct memory *m);
void mailbox_reset(struct mailbox *b);
bool mailbox_send(struct mailbox *b, enum message kind, int64_t epoch, int64_t reservation, int64_t limit);
void mailbox_order(struct mailbox *b, enum order order);
void mailbox_wait(struct mailbox *b, uint32_t heard, int64_t ns);

/* main.c */

int64_t clock_now(int64_t origin);
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Options `name=value`; unknown ones are refused by `options_end`. */
struct options {
  int count;
  char **items;
  bool used[64];
};
int64_t option(struct options *o, const char *name, int64_t fallback);
void options_settings(struct options *o, struct settings *s);
void options_end(const struct options *o);

int node_main(struct options *o);
int client_main(struct options *o);
int profile_main(struct options *o);
int trace_main(struct options *o);

#endif
