/*
 * Channels and enforcement objects of this stage. Rules are collected in a draft that only the control thread uses; a commit
 * fills the lookup table: one entry for each workflow and call. Objects are never freed, so a waiting call never finds its
 * object gone; an object that is defined again keeps its rate and its bookings.
 *
 * Channel of a call: the most specific of those whose conditions all apply, as in core/padll/stage/differentiation.ts. Source:
 * spec/padll 1.3-1.5.
 */
#include "stage.h"

#include <string.h>

enum { TYPE_DATA = 95, TYPE_METADATA = 96, TYPE_TOTAL = 97 };
enum { CONTEXT_DATA = 6, CONTEXT_META = 7, CONTEXT_DIR = 8, CONTEXT_EXT_ATTR = 9 };

#define MIN_PERIOD_NS 100000ull
#define MAX_PERIOD_NS 3600000000000ull
#define MAX_RATE 1125899906842624.0 /* 2^50 */

struct object objects[MAX_OBJECTS];
atomic_bool layout_ready;

/* Index into objects + 1, 0: unlimited. Wide enough for MAX_WORKFLOWS; untouched pages cost nothing. */
static _Atomic uint16_t table[MAX_WORKFLOWS][CALL_COUNT];

static struct rule channel_drafts[MAX_CHANNELS];
static struct rule object_drafts[MAX_OBJECTS];
static int channel_count, object_count;
static double fallback_rate; /* 0: none */

struct object *layout_find(uint32_t workflow, enum call c) {
  uint16_t i = atomic_load_explicit(&table[workflow][c], memory_order_acquire);
  return i ? &objects[i - 1] : NULL;
}

void layout_begin(void) { channel_count = object_count = 0; }

static bool same_conditions(const struct rule *a, const struct rule *b) {
  return a->type == b->type && a->context == b->context && a->workflow == b->workflow;
}

static const char *add_channel(const struct rule *r) {
  if (channel_count == MAX_CHANNELS) return "E_FULL: too many channels";
  for (int i = 0; i < channel_count; i++) {
    if (channel_drafts[i].channel == r->channel) return "E_DUPLICATE: channel number";
    if (same_conditions(&channel_drafts[i], r)) return "E_DUPLICATE: channel conditions";
  }
  channel_drafts[channel_count++] = *r;
  return NULL;
}

static const char *add_object(const struct rule *r) {
  if (object_count == MAX_OBJECTS) return "E_FULL: too many objects";
  if (r->bucketed) {
    if (!(r->rate >= 0 && r->rate <= MAX_RATE)) return "E_RATE";
    double ns = r->refill_us * 1000;
    if (!(ns >= (double)MIN_PERIOD_NS && ns <= (double)MAX_PERIOD_NS)) return "E_REFILL";
  }
  for (int i = 0; i < object_count; i++) {
    if (object_drafts[i].channel != r->channel) continue;
    if (object_drafts[i].object == r->object) return "E_DUPLICATE: object number";
    if (object_drafts[i].type == r->type && object_drafts[i].context == r->context) {
      return "E_DUPLICATE: object conditions";
    }
  }
  for (int i = 0; i < channel_count; i++) {
    if (channel_drafts[i].channel == r->channel) {
      object_drafts[object_count++] = *r;
      return NULL;
    }
  }
  return "E_CHANNEL: no such channel";
}

const char *layout_rule(const struct rule *r) { return r->kind == 1 ? add_channel(r) : add_object(r); }

static int type_weight(const struct call_kind *k, uint8_t wanted) {
  if (wanted == 0) return 0;
  if (wanted == k->type) return 64;
  bool plain = (k->type == 5 && wanted == 3) || (k->type == 6 && wanted == 4) || (k->type == 46 && wanted == 45) ||
               (k->type == 33 && wanted == 31) || (k->type == 34 && wanted == 32);
  if (plain) return 32;
  if (wanted == (k->class == CLASS_DATA ? TYPE_DATA : TYPE_METADATA)) return 4;
  return wanted == TYPE_TOTAL ? 2 : -1;
}

static int context_weight(const struct call_kind *k, uint8_t wanted) {
  if (wanted == 0) return 0;
  if (k->class == CLASS_DATA) return wanted == CONTEXT_DATA ? 16 : -1;
  uint8_t narrow = k->class == CLASS_DIRECTORY ? CONTEXT_DIR : k->class == CLASS_XATTR ? CONTEXT_EXT_ATTR : CONTEXT_META;
  if (wanted == narrow) return 16;
  return wanted == CONTEXT_META ? 8 : -1;
}

/* Specificity of a rule for a call, -1 if it does not match. All sums differ. */
static int fit(const struct rule *r, const struct call_kind *k, uint32_t workflow) {
  if (r->workflow && r->workflow != workflow) return -1;
  int type = type_weight(k, r->type), context = context_weight(k, r->context);
  return type < 0 || context < 0 ? -1 : type + context + (r->workflow ? 1 : 0);
}

static uint16_t choose(const struct call_kind *k, uint32_t workflow) {
  const struct rule *channel = NULL;
  int best = -1;
  for (int i = 0; i < channel_count; i++) {
    int score = fit(&channel_drafts[i], k, workflow);
    if (score > best) {
      best = score;
      channel = &channel_drafts[i];
    }
  }
  if (!channel) return 0;
  const struct rule *object = NULL;
  best = -1;
  for (int i = 0; i < object_count; i++) {
    if (object_drafts[i].channel != channel->channel) continue;
    int score = fit(&object_drafts[i], k, 0);
    if (score > best) {
      best = score;
      object = &object_drafts[i];
    }
  }
  if (!object) return 0;
  for (int i = 0; i < MAX_OBJECTS; i++) {
    if (objects[i].used && objects[i].channel == object->channel && objects[i].object == object->object) {
      return (uint16_t)(i + 1);
    }
  }
  return 0;
}

static struct object *slot_for(const struct rule *r) {
  struct object *free_one = NULL;
  for (int i = 0; i < MAX_OBJECTS; i++) {
    if (objects[i].used && objects[i].channel == r->channel && objects[i].object == r->object) return &objects[i];
    if (!objects[i].used && !free_one) free_one = &objects[i];
  }
  return free_one;
}

/* Scope name of a channel: its operation, else its class, else everything. */
static uint16_t scope_of(const struct rule *r, const struct rule *channel) {
  if (r->type) return (uint16_t)(1 << 8 | r->type);
  if (r->context) return (uint16_t)(2 << 8 | r->context);
  if (channel) return scope_of(channel, NULL);
  return 1 << 8 | TYPE_TOTAL;
}

static bool counts_bytes(uint16_t scope) {
  uint8_t n = scope & 255;
  return scope >> 8 == 2 ? n == CONTEXT_DATA : (n >= 1 && n <= 6) || n == TYPE_DATA;
}

/* A fallback never raises a rate: without the controller, the rates of other stages are unknown. */
static double rate_of(const struct object *o) {
  return fallback_rate > 0 && fallback_rate < o->commanded ? fallback_rate : o->commanded;
}

static void set_rate(struct object *o) { bucket_set(&o->bucket, rate_of(o), o->period_ns); }

static void forget(struct object *o) {
  o->used = false;
  bucket_set(&o->bucket, 0, 0);
}

static bool is_drafted(const struct object *o) {
  for (int i = 0; i < object_count; i++) {
    if (object_drafts[i].channel == o->channel && object_drafts[i].object == o->object) return true;
  }
  return false;
}

void layout_commit(void) {
  for (int i = 0; i < MAX_OBJECTS; i++) {
    if (objects[i].used && !is_drafted(&objects[i])) forget(&objects[i]);
  }
  for (int i = 0; i < object_count; i++) {
    const struct rule *r = &object_drafts[i];
    const struct rule *channel = NULL;
    for (int k = 0; k < channel_count; k++) {
      if (channel_drafts[k].channel == r->channel) channel = &channel_drafts[k];
    }
    struct object *o = slot_for(r);
    if (!o) continue;
    /*
     * Repeated after a reconnect: an existing object keeps its rate until it is set. Rates inherited from a parent are not
     * kept.
     */
    bool held = o->used && !o->inherited && o->period_ns > 0 && r->bucketed;
    o->scope = scope_of(r, channel);
    atomic_store_explicit(&o->data, counts_bytes(o->scope), memory_order_relaxed);
    o->channel = r->channel;
    o->object = r->object;
    o->used = true;
    o->inherited = false;
    if (!held) {
      o->period_ns = r->bucketed ? (uint64_t)(r->refill_us * 1000) : 0;
      o->commanded = r->bucketed ? (r->rate < 1 ? 1 : r->rate) : 0;
    }
    set_rate(o);
  }
  for (uint32_t w = 0; w < config.workflows; w++) {
    for (int c = 0; c < CALL_COUNT; c++) {
      const struct call_kind *k = &call_kinds[c];
      uint16_t found = k->type ? choose(k, (w + 1) * 1000) : 0;
      atomic_store_explicit(&table[w][c], found, memory_order_release);
    }
  }
  atomic_store(&layout_ready, true);
}

const char *layout_enforce(uint32_t channel, uint32_t object, double rate, uint64_t period_ns) {
  if (rate >= 0 && !(rate <= MAX_RATE)) return "E_RATE";
  if (period_ns && (period_ns < MIN_PERIOD_NS || period_ns > MAX_PERIOD_NS)) return "E_REFILL";
  for (int i = 0; i < MAX_OBJECTS; i++) {
    struct object *o = &objects[i];
    if (!o->used || o->channel != channel || o->object != object) continue;
    if (o->period_ns == 0) return NULL; /* noop: has no rate */
    if (rate >= 0) o->commanded = rate < 1 ? 1 : rate;
    if (period_ns) o->period_ns = period_ns;
    set_rate(o);
    return NULL;
  }
  return "E_CHANNEL: no such object";
}

static void set_all(void) {
  for (int i = 0; i < MAX_OBJECTS; i++) {
    if (objects[i].used) set_rate(&objects[i]);
  }
}

void layout_fallback(double rate) {
  fallback_rate = rate < 1 ? 1 : rate;
  set_all();
}

void layout_restore(void) {
  if (fallback_rate == 0) return;
  fallback_rate = 0;
  set_all();
}

void layout_settle_fallback(void) {
  for (int i = 0; i < MAX_OBJECTS; i++) {
    if (objects[i].used) objects[i].commanded = rate_of(&objects[i]);
  }
  fallback_rate = 0;
}

void layout_clear(void) {
  atomic_store(&layout_ready, false);
  layout_begin();
  for (int i = 0; i < MAX_OBJECTS; i++) {
    if (objects[i].used) forget(&objects[i]);
  }
}

void layout_inherited(void) {
  for (int i = 0; i < MAX_OBJECTS; i++) {
    struct object *o = &objects[i];
    if (!o->used) continue;
    o->inherited = true;
    bucket_forget_bookings(&o->bucket);
    atomic_store(&o->arrived, 0);
    atomic_store(&o->served, 0);
    atomic_store(&o->waited, 0);
    atomic_store(&o->throttled_ns, 0);
  }
}
