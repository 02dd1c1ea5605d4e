/*
 * Frames between a stage and its local controller (docs/stage-protocol.md): little-endian, bounded; no pointer into a frame
 * outlives a call.
 */
#ifndef SLUICE_WIRE_H
#define SLUICE_WIRE_H

#include "stage.h"

enum { WIRE_VERSION = 1, WIRE_HEAD = 12 };
enum wire_type {
  WIRE_HELLO = 1,
  WIRE_ACK = 2,
  WIRE_COUNTS = 3,
  WIRE_BYE = 4,
  WIRE_HOUSEKEEPING = 16,
  WIRE_READY = 17,
  WIRE_ENFORCE = 18,
  WIRE_COLLECT = 19,
  WIRE_ALIVE = 20,
  WIRE_REFUSED = 21,
};

/* Output buffer. A frame that does not fit is not started, and `full` is set. */
struct wire_out {
  uint8_t bytes[MAX_FRAME + 8192];
  size_t sent, length;
  bool full;
};

void wire_hello(struct wire_out *o, const char *hostname, uint32_t pid, uint32_t ppid);
void wire_ack(struct wire_out *o, uint32_t request, const char *failed);
void wire_counts(struct wire_out *o, uint32_t request);
void wire_bye(struct wire_out *o);

/* Content of a frame; the valid members depend on `type`. */
struct wire_message {
  uint8_t type;
  uint32_t request;
  struct rule rule;
  uint64_t lease_ns;
  double lease_rate; /* < 0: hold */
  uint64_t epoch;
  uint32_t channel, object;
  double rate;        /* < 0: unchanged */
  uint64_t refill_ns; /* 0: unchanged */
};

/* Length of one complete frame at `from`, 0 if incomplete, -1 if invalid. */
long wire_read(const uint8_t *from, size_t length, struct wire_message *m);

#endif
