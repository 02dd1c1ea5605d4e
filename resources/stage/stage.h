/*
 * Data-plane stage inside a program: interfaces of its parts.
 *
 * The program calls (calls-*.c); paths and descriptors determine if the file is managed (mounts.c, files.c); the layout gives
 * the enforcement object that limits the call (layout.c); its bucket gives the time (bucket.c). A separate thread talks to the
 * local controller (control.c) in the frames of wire.c. Nothing here takes a lock, uses malloc or writes to the program's
 * streams; all memory is static or mapped once, so that fork, signals and threads never find an intermediate state.
 */
#ifndef SLUICE_STAGE_H
#define SLUICE_STAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "real.h"

/* Limits. Anything beyond them is refused or proceeds unlimited; nothing grows. */
enum {
  MAX_MOUNTS = 16,
  MAX_WORKFLOWS = 1024,
  MAX_CHANNELS = 1024,
  MAX_OBJECTS = 1024,
  MAX_PATH = 4096,
  MAX_JOB = 200,
  MAX_HOST = 64,
  MAX_USER = 256,
  MAX_FRAME = 65536,
};

/*
 * All intercepted calls: name, class, operation type and context in wire encoding (core/padll/vocabulary.ts). A metadata server
 * counts the stat family as getattr; it is sent as getxattr, as the trace replays it.
 */
#define CALLS(X) \
  X(read, DATA, 1, 6) X(write, DATA, 2, 6) X(pread, DATA, 3, 6) X(pwrite, DATA, 4, 6) X(pread64, DATA, 5, 6) \
  X(pwrite64, DATA, 6, 6) X(mmap, DATA, 93, 6) X(munmap, DATA, 94, 6) \
  X(readv, DATA, 1, 6) X(writev, DATA, 2, 6) X(preadv, DATA, 3, 6) X(pwritev, DATA, 4, 6) X(fread, DATA, 1, 6) \
  X(fwrite, DATA, 2, 6) \
  X(open, METADATA, 9, 7) X(creat, METADATA, 9, 7) X(creat64, METADATA, 9, 7) X(openat, METADATA, 9, 7) \
  X(open64, METADATA, 9, 7) X(close, METADATA, 14, 7) X(sync, METADATA, 0, 0) X(statfs, METADATA, 31, 7) \
  X(fstatfs, METADATA, 32, 7) X(statfs64, METADATA, 33, 7) X(fstatfs64, METADATA, 34, 7) X(unlink, METADATA, 37, 7) \
  X(unlinkat, METADATA, 37, 7) X(rename, METADATA, 39, 7) X(renameat, METADATA, 39, 7) X(fopen, METADATA, 45, 7) \
  X(fopen64, METADATA, 46, 7) X(fclose, METADATA, 50, 7) \
  X(mkdir, DIRECTORY, 63, 7) X(mkdirat, DIRECTORY, 63, 7) X(rmdir, DIRECTORY, 70, 8) X(mknod, DIRECTORY, 91, 7) \
  X(mknodat, DIRECTORY, 91, 7) \
  X(getxattr, XATTR, 72, 7) X(lgetxattr, XATTR, 72, 7) X(fgetxattr, XATTR, 72, 7) X(setxattr, XATTR, 75, 7) \
  X(lsetxattr, XATTR, 75, 7) X(fsetxattr, XATTR, 75, 7) X(listxattr, XATTR, 78, 7) X(llistxattr, XATTR, 78, 7) \
  X(flistxattr, XATTR, 78, 7) \
  X(socket, SPECIAL, 0, 0) X(fcntl, SPECIAL, 0, 0) \
  X(stat, METADATA, 72, 7) X(lstat, METADATA, 72, 7) X(fstat, METADATA, 72, 7) X(fstatat, METADATA, 72, 7) \
  X(statx, METADATA, 72, 7) X(opendir, METADATA, 9, 7) X(closedir, METADATA, 14, 7)

enum call {
#define X(name, cls, type, context) CALL_##name,
  CALLS(X)
#undef X
  CALL_COUNT
};

enum call_class { CLASS_DATA, CLASS_METADATA, CLASS_DIRECTORY, CLASS_XATTR, CLASS_SPECIAL };

struct call_kind {
  const char *name;
  uint8_t class;
  uint8_t type;
  uint8_t context;
};
extern const struct call_kind call_kinds[CALL_COUNT];

/* --- config.c: environment, read once -------------------------------------------------------------------------------- */

struct mount {
  char path[MAX_PATH]; /* normalised, without a trailing slash; "" is the root */
  size_t length;
};

struct config {
  bool enabled; /* has managed mounts; otherwise every call is forwarded at once */
  char job[MAX_JOB + 1];
  char user[MAX_USER + 1];
  char socket[108];
  char report[MAX_PATH];
  uint32_t instance;
  uint32_t workflows;
  uint32_t start_wait_ms;
  bool refuse_uring;
  int mounts;
  bool nested; /* a mount is inside another one */
  struct mount mount[MAX_MOUNTS];
};
extern struct config config;
void config_read(void);

/* --- mounts.c: managed paths ------------------------------------------------------------------------------------------ */

/* Place of a directory or descriptor: one byte. 1..MAX_MOUNTS: inside that mount (index + 1). */
enum { PLACE_UNKNOWN = 0, PLACE_ABOVE = 254, PLACE_OUTSIDE = 255 };
typedef uint8_t place;
static inline bool is_managed(place p) { return p >= 1 && p <= MAX_MOUNTS; }

/* Textual: `.`, `..` and `//` are resolved, whole components compared, the longest mount wins. Links are not followed. */
place place_of(int dirfd, const char *path);
/* Records, once, the memory that is always readable. */
void memory_known(void);
/* True if the kernel would read these bytes; another thread can still unmap them. */
bool memory_readable(const void *from, size_t n);
/* Normalises an absolute path into `out` (MAX_PATH); its length, or -1 if too long or not absolute. */
int path_normalise(const char *path, char *out);
/* The working directory may have changed. */
void cwd_changed(void);

/* --- files.c: descriptors ----------------------------------------------------------------------------------------------- */

place fd_place(int fd);
void fd_put(int fd, place p);
/* Forgets descriptors first..last. */
void fd_forget_range(unsigned first, unsigned last);

/* --- bucket.c ------------------------------------------------------------------------------------------------------------ */

/*
 * Lock-free token bucket: `booked` is the time up to which tokens are assigned. Time is counted in 64ths of a nanosecond since
 * boot.
 */
struct bucket {
  _Atomic uint64_t booked;
  _Atomic double per_token; /* time of one token; 0: unlimited */
  _Atomic uint64_t period;
  _Atomic uint64_t settled; /* end of the refill period in which rate or period last changed */
  _Atomic uint32_t generation;
};

uint64_t clock_ns(void);
/* Takes `cost` tokens, waiting until they are available; returns the wait in ns, 0 without a wait. */
uint64_t bucket_take(struct bucket *b, double cost);
/* A rate of 0 removes the limit; other rates below 1 become 1. Waiting requests are booked again at the new rate. */
void bucket_set(struct bucket *b, double rate, uint64_t period_ns);
double bucket_rate(struct bucket *b);
/* Tokens assigned beyond the current period, for waiting requests. */
uint64_t bucket_queued(struct bucket *b);
void bucket_forget_bookings(struct bucket *b);

/* --- layout.c: channels and enforcement objects ------------------------------------------------------------------------- */

struct object {
  _Alignas(128) struct bucket bucket;
  _Atomic uint64_t arrived, served, waited, throttled_ns;
  uint32_t channel, object;
  uint16_t scope;
  bool used;
  atomic_bool data; /* counts bytes; calls read it while the layout is written */
  bool inherited; /* by fork, and not yet redefined by this process's controller */
  double commanded; /* the controller's last rate, restored at the end of a fallback; 0: unlimited */
  uint64_t period_ns;
};
extern struct object objects[MAX_OBJECTS];

/* Housekeeping rules in wire encoding. */
struct rule {
  uint8_t kind; /* 1 create_channel, 2 create_object */
  uint8_t context_type, type, context, bucketed;
  uint32_t rule, channel, object, workflow;
  double refill_us, rate;
};

/* Each returns NULL, or the reason for a refusal. */
void layout_begin(void);
const char *layout_rule(const struct rule *r);
void layout_commit(void);
/* Negative rate, period of 0: unchanged. */
const char *layout_enforce(uint32_t channel, uint32_t object, double rate, uint64_t period_ns);
/* Limits every bucket to this rate until layout_restore; rates commanded meanwhile apply from then on. */
void layout_fallback(double rate);
void layout_restore(void);
/* Makes the fallback rates permanent. */
void layout_settle_fallback(void);
/* Removes all limits, after the stage was rejected. */
void layout_clear(void);
/* After a fork: discards the parent's counts and bookings; its rates stay until a controller changes them. */
void layout_inherited(void);
/* The object that limits a call of one workflow (0-based), or NULL. */
struct object *layout_find(uint32_t workflow, enum call c);
extern atomic_bool layout_ready;

/* --- control.c: thread for the local controller -------------------------------------------------------------------------- */

/* Starts it, once per process, and waits briefly for the controller's limits: all managed calls wait until then. */
void control_start(void);
extern atomic_uint control_settled;
/* Called in the child of a fork. */
void control_forked(void);

/* --- process.c: process identity -------------------------------------------------------------------------------------------- */

void stage_init(void);
extern atomic_int stage_state; /* 0 new, 1 being made, 2 ready */
struct process_page {
  atomic_uint alive; /* the kernel clears it in a child of fork, not in one of vfork */
};
extern struct process_page *process_page;
void process_forked(void);
/* Between vfork and exec: the memory is the parent's, the descriptors are not. */
bool process_is_borrowed(void);

/* --- report.c: statistics ---------------------------------------------------------------------------------------------------- */

enum outcome { OUTCOME_UNMANAGED, OUTCOME_BYPASSED, OUTCOME_PASSED, OUTCOME_WAITED };
void report_call(enum call c, enum outcome o, uint64_t bytes, uint64_t wait_ns);
void report_error(enum call c);
void report_write(void);
void report_reset(void);

/* --- uring.c: io_uring, which cannot be limited ---------------------------------------------------------------------------- */

/* Makes the kernel refuse it to the program and its children, as a system without it does. */
void uring_refuse(void);
bool uring_is_refused(void);
/* Most rings that the process had at once when it was looked at, now included. */
unsigned uring_rings(void);

/* --- gate.c: path of a call -------------------------------------------------------------------------------------------------- */

bool gate_ready(void);
/* A call on a managed file with this cost (1, or bytes): returns when it may proceed. Keeps errno. */
void gate_managed(enum call c, uint64_t cost);
place gate_path(enum call c, int dirfd, const char *path, uint64_t cost);
place gate_fd(enum call c, int fd, uint64_t cost);

#endif
