/* Wire codec. Reading never goes beyond the frame, and a frame must end where its content ends. */
#include "wire.h"

#include <string.h>

static void put(struct wire_out *o, uint64_t value, int bytes) {
  if (o->length + (size_t)bytes > sizeof o->bytes) {
    o->full = true;
    return;
  }
  for (int i = 0; i < bytes; i++) o->bytes[o->length++] = (uint8_t)(value >> (8 * i));
}

static void put_text(struct wire_out *o, const char *text, size_t most) {
  size_t n = strlen(text);
  if (n > most) n = most;
  put(o, n, 2);
  if (o->length + n > sizeof o->bytes) {
    o->full = true;
    return;
  }
  memcpy(o->bytes + o->length, text, n);
  o->length += n;
}

static size_t begin(struct wire_out *o, uint8_t type, uint32_t request) {
  size_t at = o->length;
  o->full = false;
  put(o, 0, 4);
  put(o, WIRE_VERSION, 1);
  put(o, type, 1);
  put(o, 0, 2);
  put(o, request, 4);
  return at;
}

static void end(struct wire_out *o, size_t at) {
  if (o->full) {
    o->length = at;
    return;
  }
  uint32_t n = (uint32_t)(o->length - at - 4);
  for (int i = 0; i < 4; i++) o->bytes[at + (size_t)i] = (uint8_t)(n >> (8 * i));
}

void wire_hello(struct wire_out *o, const char *hostname, uint32_t pid, uint32_t ppid) {
  size_t at = begin(o, WIRE_HELLO, 0);
  put(o, WIRE_VERSION, 4);
  put_text(o, config.job, MAX_JOB);
  put(o, config.instance, 4);
  put(o, pid, 4);
  put(o, ppid, 4);
  put_text(o, hostname, MAX_HOST);
  put_text(o, config.user, MAX_USER);
  end(o, at);
}

void wire_ack(struct wire_out *o, uint32_t request, const char *failed) {
  size_t at = begin(o, WIRE_ACK, request);
  put(o, failed ? 1 : 0, 1);
  put_text(o, failed ? failed : "", 200);
  end(o, at);
}

void wire_counts(struct wire_out *o, uint32_t request) {
  size_t at = begin(o, WIRE_COUNTS, request);
  uint32_t n = 0;
  for (int i = 0; i < MAX_OBJECTS; i++) n += objects[i].used;
  put(o, n, 4);
  if (o->length + n * 50u > sizeof o->bytes) o->full = true;
  for (int i = 0; i < MAX_OBJECTS && !o->full; i++) {
    struct object *c = &objects[i];
    if (!c->used) continue;
    put(o, c->channel, 4);
    put(o, c->object, 4);
    put(o, c->scope, 2);
    put(o, atomic_exchange(&c->arrived, 0), 8);
    put(o, atomic_exchange(&c->served, 0), 8);
    put(o, atomic_exchange(&c->waited, 0), 8);
    put(o, bucket_queued(&c->bucket), 8);
    put(o, atomic_exchange(&c->throttled_ns, 0), 8);
  }
  end(o, at);
}

void wire_bye(struct wire_out *o) { end(o, begin(o, WIRE_BYE, 0)); }

struct in {
  const uint8_t *bytes;
  size_t at, length;
  bool bad;
};

static uint64_t take(struct in *i, size_t n) {
  if (i->length - i->at < n) {
    i->bad = true;
    i->at = i->length;
    return 0;
  }
  uint64_t value = 0;
  for (size_t k = 0; k < n; k++) value |= (uint64_t)i->bytes[i->at + k] << (8 * k);
  i->at += n;
  return value;
}

static double take_number(struct in *i) {
  uint64_t bits = take(i, 8);
  double value;
  memcpy(&value, &bits, 8);
  /* NaN, infinite or negative: neither a valid rate nor a valid time. */
  if (!(value >= 0 && value <= 1e300)) i->bad = true;
  return value;
}

static void read_rule(struct in *i, struct rule *r) {
  memset(r, 0, sizeof *r);
  r->kind = (uint8_t)take(i, 1);
  r->context_type = (uint8_t)take(i, 1);
  r->type = (uint8_t)take(i, 1);
  r->context = (uint8_t)take(i, 1);
  r->rule = (uint32_t)take(i, 4);
  r->channel = (uint32_t)take(i, 4);
  if (r->kind == 1) {
    r->workflow = (uint32_t)take(i, 4);
    return;
  }
  if (r->kind != 2) i->bad = true;
  r->object = (uint32_t)take(i, 4);
  r->bucketed = (uint8_t)take(i, 1);
  r->refill_us = take_number(i);
  r->rate = take_number(i);
  if (r->bucketed > 1) i->bad = true;
}

static void read_body(struct in *i, struct wire_message *m) {
  uint8_t flags;
  switch (m->type) {
  case WIRE_HOUSEKEEPING: read_rule(i, &m->rule); return;
  case WIRE_READY:
    m->lease_ns = take(i, 8);
    flags = (uint8_t)take(i, 1);
    m->lease_rate = take_number(i);
    if (flags > 1) i->bad = true;
    if (flags == 0) m->lease_rate = -1;
    return;
  case WIRE_ENFORCE:
    m->epoch = take(i, 8);
    m->channel = (uint32_t)take(i, 4);
    m->object = (uint32_t)take(i, 4);
    flags = (uint8_t)take(i, 1);
    m->rate = take_number(i);
    m->refill_ns = take(i, 8);
    if (flags > 3) i->bad = true;
    if (!(flags & 1)) m->rate = -1;
    if (!(flags & 2)) m->refill_ns = 0;
    return;
  case WIRE_COLLECT:
  case WIRE_ALIVE: return;
  case WIRE_REFUSED: {
    size_t n = (size_t)take(i, 2);
    if (n > i->length - i->at) i->bad = true;
    else i->at += n;
    return;
  }
  default: i->bad = true;
  }
}

long wire_read(const uint8_t *from, size_t length, struct wire_message *m) {
  if (length < 4) return 0;
  struct in head = {from, 0, length, false};
  size_t n = (size_t)take(&head, 4);
  if (n < WIRE_HEAD - 4 || n > MAX_FRAME) return -1;
  /* A wrong version is reported at once, even for an incomplete frame. */
  if (length >= 5 && from[4] != WIRE_VERSION) return -1;
  if (length < 4 + n) return 0;
  struct in i = {from, 5, 4 + n, false};
  m->type = (uint8_t)take(&i, 1);
  if (take(&i, 2) != 0) return -1;
  m->request = (uint32_t)take(&i, 4);
  read_body(&i, m);
  return i.bad || i.at != i.length ? -1 : (long)(4 + n);
}
