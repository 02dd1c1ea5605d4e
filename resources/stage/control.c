/*
 * Thread for the local controller: connects and reconnects, creates the layout, enforces rates, reports, and watches the lease.
 * The program continues regardless of the controller: unlimited until the stage was ready once, then at the last rates, and
 * after the lease as configured.
 *
 * The thread has its own descriptor table: the program never sees its socket, cannot close it in a loop over all numbers, never
 * finds an expected number taken, and a child of fork inherits nothing. It handles no signals, allocates nothing, and exits
 * when it is the last thread, so that a program whose main thread left by pthread_exit still ends.
 */
#define _GNU_SOURCE
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 200
#define FIRST_RETRY_MS 50
#define LAST_RETRY_MS 2000
/* Interval of the search for rings of io_uring. */
#define RINGS_MS 2000
/* Retry interval of a rejected stage. */
#define REFUSED_MS 30000

/* Futex of the initial wait of managed calls: 1 once the controller has answered, is absent, or timed out. */
atomic_uint control_settled;
static atomic_bool started;
/* Process counter: a thread of the parent must not act in the child. */
static atomic_uint incarnation;
static struct wire_out out;
static uint8_t in[MAX_FRAME + 4];
static size_t in_length;
static bool settles; /* `ready` was handled: the program may proceed once its answers are sent */
static bool drafting; /* receiving rules; the active layout stays until the next `ready` */
static uint64_t lease_ns, renewed_ns;
static double lease_rate;
static bool expired;
/* Per connection: commands with a lower epoch or number are stale. */
static uint64_t highest_epoch;
static uint32_t last_request;

static void sleep_ms(int ms) {
  struct timespec t = {ms / 1000, (ms % 1000) * 1000000L};
  nanosleep(&t, NULL);
}

static void settle(void) {
  if (atomic_exchange(&control_settled, 1) == 0)
    syscall(SYS_futex, &control_settled, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define CLOSE_RANGE_OWN_TABLE 2 /* CLOSE_RANGE_UNSHARE */

struct entry {
  uint64_t ino;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

/* Closes the descriptors of the copied table except `keep`; false if some may be left. */
static bool close_listed(int keep) {
  _Alignas(8) char entries[2048];
  for (;;) {
    long n = syscall(SYS_getdents64, keep, entries, sizeof entries);
    if (n <= 0) return n == 0;
    for (long at = 0; at < n; at += ((struct entry *)(entries + at))->length) {
      const char *name = ((struct entry *)(entries + at))->name;
      int fd = 0;
      while (*name >= '0' && *name <= '9') fd = fd * 10 + (*name++ - '0');
      if (*name == 0 && fd != keep) syscall(SYS_close, fd);
    }
  }
}

/*
 * Gives this thread an empty descriptor table. A copy of the program's would keep its pipes open after it closed them. File
 * locks stay: they belong to the program's table.
 */
static bool own_table(void) {
  if (syscall(SYS_close_range, 0, ~0u, CLOSE_RANGE_OWN_TABLE) == 0) return true;
  /* Before Linux 5.9. */
  if (unshare(CLONE_FILES) != 0) return false;
  int list = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  bool done = list >= 0 && close_listed(list);
  if (list >= 0) syscall(SYS_close, list);
  if (!done) {
    for (int fd = 0; fd < 65536; fd++) syscall(SYS_close, fd);
  }
  return true;
}

/*
 * True if the peer runs as this user or root: in a temporary folder anyone can listen at the controller's path. The kernel
 * recorded the peer's credentials when it began to listen.
 */
static bool is_trusted(int fd) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || length != sizeof peer) return false;
  return peer.uid == 0 || peer.uid == geteuid();
}

static int connect_local(void) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  memcpy(to.sun_path, config.socket, sizeof config.socket);
  int fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  /* A UNIX socket connects at once, or fails if its queue is full. */
  if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 || !is_trusted(fd)) {
    syscall(SYS_close, fd);
    return -1;
  }
  return fd;
}

static bool flush(int fd) {
  while (out.sent < out.length) {
    ssize_t n = sendto(fd, out.bytes + out.sent, out.length - out.sent, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
    if (n > 0) out.sent += (size_t)n;
    else if (n < 0 && errno == EINTR) continue;
    else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    else return false;
  }
  if (out.sent == out.length) out.sent = out.length = 0;
  else if (out.sent > 0) {
    memmove(out.bytes, out.bytes + out.sent, out.length - out.sent);
    out.length -= out.sent;
    out.sent = 0;
  }
  return true;
}

static void renew(void) {
  renewed_ns = clock_ns();
  if (expired) {
    expired = false;
    layout_restore();
  }
}

static void watch_lease(void) {
  if (expired || lease_ns == 0 || !atomic_load(&layout_ready) || clock_ns() - renewed_ns < lease_ns) return;
  expired = true;
  if (lease_rate >= 0) layout_fallback(lease_rate);
}

static const char *enforce(const struct wire_message *m) {
  if (m->epoch < highest_epoch) return "E_STALE: a controller with a higher epoch commands this stage";
  const char *why = layout_enforce(m->channel, m->object, m->rate, m->refill_ns);
  if (why) return why;
  highest_epoch = m->epoch;
  renew();
  return NULL;
}

/* Executes one message; false: the connection must be closed. */
static bool handle(const struct wire_message *m) {
  if (m->type == WIRE_REFUSED) return false;
  if (m->type == WIRE_ALIVE) {
    renew();
    return true;
  }
  if (m->request <= last_request) return true;
  last_request = m->request;
  switch (m->type) {
  case WIRE_HOUSEKEEPING:
    if (!drafting) {
      drafting = true;
      layout_begin();
    }
    wire_ack(&out, m->request, layout_rule(&m->rule));
    break;
  case WIRE_READY:
    lease_ns = m->lease_ns;
    lease_rate = m->lease_rate;
    if (drafting || !atomic_load(&layout_ready)) layout_commit();
    drafting = false;
    renew();
    wire_ack(&out, m->request, NULL);
    settles = true;
    break;
  case WIRE_ENFORCE: wire_ack(&out, m->request, enforce(m)); break;
  case WIRE_COLLECT:
    renew();
    wire_counts(&out, m->request);
    break;
  }
  return !out.full;
}

/* Reads available data; false if the connection ended, with `refused` if the controller sent a refusal. */
static bool receive(int fd, bool *refused) {
  for (;;) {
    ssize_t n = recvfrom(fd, in + in_length, sizeof in - in_length, MSG_DONTWAIT, NULL, NULL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n <= 0) return false;
    in_length += (size_t)n;
    size_t at = 0;
    for (;;) {
      struct wire_message m;
      long used = wire_read(in + at, in_length - at, &m);
      if (used < 0) return false;
      if (used == 0) break;
      at += (size_t)used;
      if (m.type == WIRE_REFUSED) *refused = true;
      if (!handle(&m)) return false;
    }
    memmove(in, in + at, in_length - at);
    in_length -= at;
    if (in_length == sizeof in) return false;
  }
}

/* True if this is the last thread. */
static bool is_alone(void) {
  char text[512];
  int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  long n = syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  if (n <= 0) return false;
  text[n] = 0;
  char *at = strrchr(text, ')');
  if (!at || at[1] != ' ' || at[2] != 'Z') return false;
  /* The state is field 3, the number of threads field 20, which includes a main thread that has exited. */
  at += 2;
  for (int field = 3; field < 20 && at; field++) at = strchr(at + 1, ' ');
  return at && at[1] == '2' && at[2] == ' ';
}

/* Request 0: not an answer, but calls that the stage cannot limit. */
static void report_unlimited(void) {
  if (uring_rings() > 0) wire_ack(&out, 0, "E_IO_URING: the program uses io_uring, whose submissions are not limited");
}

/* Runs one connection from hello to close; true if the stage was rejected or is alone. */
static bool talk(int fd, unsigned mine) {
  char hostname[MAX_HOST + 1] = "";
  gethostname(hostname, sizeof hostname - 1);
  in_length = out.length = out.sent = 0;
  drafting = false;
  highest_epoch = last_request = 0;
  bool refused = false;
  /* The controller may have reassigned rates that were held before a fallback. */
  layout_settle_fallback();
  uint64_t looked_ns = clock_ns();
  uint64_t rings_ns = looked_ns;
  bool told = false;
  wire_hello(&out, hostname, (uint32_t)syscall(SYS_getpid), (uint32_t)getppid());
  settles = false;
  while (atomic_load(&incarnation) == mine) {
    bool sent = flush(fd);
    /* Only now: a short program ends at once, and its answers with it. A controller that does not read them delays nothing. */
    if (settles) settle();
    if (!sent) break;
    struct pollfd p = {fd, (short)(POLLIN | (out.length ? POLLOUT : 0)), 0};
    int r = poll(&p, 1, TICK_MS);
    watch_lease();
    if (r < 0 && errno != EINTR) break;
    if (clock_ns() - looked_ns >= TICK_MS * 1000000ull) {
      if (is_alone()) return true;
      looked_ns = clock_ns();
    }
    if (r > 0 && !receive(fd, &refused)) break;
    if (!told && clock_ns() - rings_ns >= RINGS_MS * 1000000ull) {
      rings_ns = clock_ns();
      size_t before = out.length;
      report_unlimited();
      told = out.length > before;
    }
  }
  if (refused) layout_clear();
  return refused;
}

static void *run(void *argument) {
  unsigned mine = (unsigned)(uintptr_t)argument;
  prctl(PR_SET_NAME, "sluice-stage");
  int retry = FIRST_RETRY_MS;
  if (!own_table()) {
    settle();
    return NULL;
  }
  for (;;) {
    int fd = connect_local();
    if (fd >= 0) {
      bool refused = talk(fd, mine);
      syscall(SYS_close, fd);
      settle();
      retry = refused ? REFUSED_MS : FIRST_RETRY_MS;
    }
    settle();
    for (int slept = 0; slept < retry; slept += TICK_MS) {
      if (is_alone()) return NULL;
      sleep_ms(retry - slept < TICK_MS ? retry - slept : TICK_MS);
      watch_lease();
    }
    if (is_alone()) return NULL;
    if (retry < LAST_RETRY_MS) retry = retry * 2 > LAST_RETRY_MS ? LAST_RETRY_MS : retry * 2;
    else if (retry > LAST_RETRY_MS) retry = LAST_RETRY_MS;
  }
}

static bool start_thread(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  void *mine = (void *)(uintptr_t)atomic_load(&incarnation);
  int r = pthread_create(&thread, &attributes, run, mine);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return r == 0;
}

void control_start(void) {
  if (process_is_borrowed()) return;
  if (!atomic_exchange(&started, true) && (!config.socket[0] || !start_thread())) settle();
  uint64_t until = clock_ns() + (uint64_t)config.start_wait_ms * 1000000ull;
  struct timespec t = {(time_t)(until / 1000000000ull), (long)(until % 1000000000ull)};
  while (!atomic_load(&control_settled) && clock_ns() < until) {
    syscall(SYS_futex, &control_settled, FUTEX_WAIT_BITSET_PRIVATE, 0, &t, NULL, FUTEX_BITSET_MATCH_ANY);
  }
  settle();
}

void control_forked(void) {
  atomic_fetch_add(&incarnation, 1);
  expired = false;
  layout_restore();
  renewed_ns = clock_ns();
  atomic_store(&started, false);
  atomic_store(&control_settled, 0);
}
