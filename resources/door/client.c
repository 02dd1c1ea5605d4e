/*
 * Connection to the client daemon: one per process, requests of several threads in flight. One of the waiting threads reads the
 * replies and passes each to its request. Every length and number in a reply is checked before it is used; an invalid one ends
 * the connection, and everything that was open on it fails with EIO: the daemon's cache may have been lost with it.
 */
#define _GNU_SOURCE
#include "door.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#define PAGE 4096u
#define VERSION 1u

struct waiter {
  uint32_t id;
  struct message *message;
  int32_t result;
  bool done;
  bool receiving; /* the reader fills its buffers */
  pthread_cond_t changed;
  struct waiter *next;
};

static struct {
  pthread_mutex_t sending; /* held while a request is written */
  pthread_mutex_t lock; /* of the fields below */
  struct waiter *waiters;
  bool reading; /* a thread reads replies */
  bool lost; /* the connection is invalid; the next request closes it */
  pthread_cond_t idle; /* no thread reads from a lost connection */
  uint32_t last_id;
  atomic_int fd; /* -1: not connected */
  atomic_uint generation;
  pid_t pid;
} client = {.sending = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER, .fd = -1};

unsigned client_generation(void) { return atomic_load(&client.generation); }
bool client_is_descriptor(int fd) { return fd >= 0 && atomic_load(&client.fd) == fd; }

int fd_high(int fd) {
  struct rlimit limit;
  int from = 900;
  if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur < 1024) from = (int)limit.rlim_cur / 2;
  int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from);
  if (high < 0) return fd;
  syscall(SYS_close, fd);
  return high;
}

void client_makes_way(int fd) {
  if (!client_is_descriptor(fd)) return;
  int moved = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, fd + 1);
  if (moved < 0) moved = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
  atomic_store(&client.fd, moved);
}

/* In the child: the connection is the parent's, and its other threads do not exist here. */
static void forked(void) {
  pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
  client.sending = fresh;
  client.lock = fresh;
  client.idle = idle;
  client.lost = false;
  client.waiters = NULL;
  client.reading = false;
  int fd = atomic_exchange(&client.fd, -1);
  if (fd >= 0) syscall(SYS_close, fd);
  atomic_fetch_add(&client.generation, 1);
  client.pid = (pid_t)syscall(SYS_getpid);
}

void client_init(void) {
  client.pid = (pid_t)syscall(SYS_getpid);
  pthread_atfork(NULL, NULL, forked);
}

/* A position in a list of buffers. */
struct cursor {
  const struct iovec *at;
  int count;
  size_t skip;
};

static void skip(struct cursor *c, size_t n) {
  while (c->count > 0 && n >= c->at->iov_len - c->skip) {
    n -= c->at->iov_len - c->skip;
    c->at++;
    c->count--;
    c->skip = 0;
  }
  if (c->count > 0) c->skip += n;
}

/* Sends everything; 0 or -errno. */
static int send_all(const struct iovec *parts, int count) {
  struct cursor c = {parts, count, 0};
  skip(&c, 0);
  while (c.count > 0) {
    struct iovec some[64];
    int n = 0;
    for (; n < c.count && n < 64; n++) {
      some[n] = c.at[n];
      if (n == 0) {
        some[n].iov_base = (char *)some[n].iov_base + c.skip;
        some[n].iov_len -= c.skip;
      }
    }
    struct msghdr m = {.msg_iov = some, .msg_iovlen = (size_t)n};
    ssize_t sent = syscall(SYS_sendmsg, atomic_load(&client.fd), &m, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return -EIO;
    skip(&c, (size_t)sent);
  }
  return 0;
}

static int receive_exactly(void *to, size_t n) {
  char *at = to;
  while (n > 0) {
    ssize_t got = syscall(SYS_recvfrom, atomic_load(&client.fd), at, n, 0, NULL, NULL);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    if (got == 0) return -EIO;
    at += got;
    n -= (size_t)got;
  }
  return 0;
}

static int discard(size_t n) {
  char some[4096];
  while (n > 0) {
    size_t part = n < sizeof some ? n : sizeof some;
    if (receive_exactly(some, part) < 0) return -EIO;
    n -= part;
  }
  return 0;
}

/*
 * The content of a reply, into the request's buffers. A buffer that cannot be written makes the request fail with EFAULT, as a
 * read of the kernel; the rest is discarded, so that other requests are unaffected.
 */
static int receive_content(struct message *m, size_t length) {
  m->received = length;
  for (int i = 0; i < m->reply_count && length > 0; i++) {
    char *at = m->reply[i].iov_base;
    size_t left = m->reply[i].iov_len < length ? m->reply[i].iov_len : length;
    while (left > 0) {
      ssize_t got = syscall(SYS_recvfrom, atomic_load(&client.fd), at, left, 0, NULL, NULL);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EFAULT) return discard(length) < 0 ? -EIO : -EFAULT;
      if (got <= 0) return -EIO;
      at += got;
      left -= (size_t)got;
      length -= (size_t)got;
    }
  }
  return length == 0 ? 0 : -EIO;
}

static size_t sum_of(const struct iovec *parts, int count) {
  size_t sum = 0;
  for (int i = 0; i < count; i++) sum += parts[i].iov_len;
  return sum;
}

struct head {
  uint32_t length, id;
  int32_t result;
} __attribute__((packed));

/* Smallest value of `length` in a reply: number and result. */
#define REPLY_HEAD 8u
#define SMALLEST_RESULT (-4095)

/* Reads one reply. Called by the reading thread without the lock. False: the connection is invalid. */
static bool read_reply(void) {
  struct head h;
  if (receive_exactly(&h, sizeof h) < 0) return false;
  if (h.length < REPLY_HEAD || h.length > REPLY_HEAD + MAX_DATA || h.result < SMALLEST_RESULT) return false;
  size_t content = h.length - REPLY_HEAD;
  pthread_mutex_lock(&client.lock);
  struct waiter *w = client.waiters;
  while (w && w->id != h.id) w = w->next;
  bool expected = w && !w->done && (h.result < 0 ? content == 0 : content <= sum_of(w->message->reply, w->message->reply_count));
  if (expected) w->receiving = true;
  pthread_mutex_unlock(&client.lock);
  if (!expected) return false;
  int r = receive_content(w->message, content);
  pthread_mutex_lock(&client.lock);
  w->result = r < 0 ? r : h.result;
  w->done = true;
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&client.lock);
  return r != -EIO;
}

/* The lock is held. Everything that is under way fails; the number is closed when no thread uses it. */
static void disconnect(void) {
  int fd = atomic_load(&client.fd);
  if (fd >= 0) syscall(SYS_shutdown, fd, SHUT_RDWR);
  client.lost = true;
  for (struct waiter *w = client.waiters; w; w = w->next) {
    /* The reader completes the one whose content it receives: its buffers are in use. */
    if (w->done || w->receiving) continue;
    w->result = -EIO;
    w->done = true;
    pthread_cond_signal(&w->changed);
  }
}

int client_refuse(void) {
  pthread_mutex_lock(&client.lock);
  disconnect();
  pthread_mutex_unlock(&client.lock);
  return -EIO;
}

/* Connects and introduces the process. `sending` is held. 0 or -errno. */
static int connect_now(void) {
  pthread_mutex_lock(&client.lock);
  while (client.reading) pthread_cond_wait(&client.idle, &client.lock);
  int fd = atomic_exchange(&client.fd, -1);
  if (fd >= 0) syscall(SYS_close, fd);
  pthread_mutex_unlock(&client.lock);
  fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  fd = fd_high(fd);
  atomic_store(&client.fd, fd);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, door.socket);
  struct timeval patience = {.tv_sec = door.timeout_ms / 1000, .tv_usec = (door.timeout_ms % 1000) * 1000};
  syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  struct ucred peer;
  socklen_t length = sizeof peer;
  struct {
    uint32_t length, id;
    uint8_t op;
    uint32_t version;
    uint64_t pid;
  } __attribute__((packed)) hello = {17, 0, OP_HELLO, VERSION, (uint64_t)syscall(SYS_getpid)};
  struct iovec all = {&hello, sizeof hello};
  struct head h;
  const char *why = NULL;
  if (syscall(SYS_connect, fd, &address, sizeof address) < 0) {
    why = door.socket;
  } else if (syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 ||
             (peer.uid != 0 && peer.uid != (uid_t)syscall(SYS_geteuid))) {
    why = "the socket belongs to another user";
  } else if (send_all(&all, 1) < 0 || receive_exactly(&h, sizeof h) < 0 || h.length != REPLY_HEAD || h.id != 0 ||
             h.result < 0) {
    why = "the daemon does not speak version 1 of the protocol";
  }
  pthread_mutex_lock(&client.lock);
  if (!why) {
    client.last_id = 0;
    client.lost = false;
    atomic_fetch_add(&client.generation, 1);
  } else {
    syscall(SYS_close, atomic_exchange(&client.fd, -1));
  }
  pthread_mutex_unlock(&client.lock);
  if (!why) return 0;
  tell(REASON_DAEMON, why);
  return -ENOTCONN;
}

/* False if the kernel could not read all of it: a frame must not be sent in part. Older kernels cannot tell. */
static bool is_readable(const struct iovec *parts, int count) {
  for (int i = 0; i < count; i++) {
    if (parts[i].iov_len == 0) continue;
    uintptr_t from = (uintptr_t)parts[i].iov_base & ~(uintptr_t)(PAGE - 1);
    uintptr_t to = (uintptr_t)parts[i].iov_base + parts[i].iov_len;
    if (to < from) return false;
    if (syscall(SYS_madvise, from, to - from, MADV_POPULATE_READ) < 0 && (errno == ENOMEM || errno == EFAULT)) return false;
  }
  return true;
}

static int exchange(enum operation op, struct message *m) {
  struct {
    uint32_t length, id;
    uint8_t op;
  } __attribute__((packed)) head = {.op = (uint8_t)op};
  struct waiter w = {.message = m, .changed = PTHREAD_COND_INITIALIZER};
  if (m->data_count > 62) return -EINVAL;
  struct iovec parts[64] = {{&head, sizeof head}, {(void *)m->head, m->head_length}};
  for (int i = 0; i < m->data_count; i++) parts[2 + i] = m->data[i];
  int count = 2 + m->data_count;
  head.length = (uint32_t)(sum_of(parts, count) - sizeof head.length);
  m->received = 0;
  if (!is_readable(m->data, m->data_count)) return -EFAULT;

  pthread_mutex_lock(&client.sending);
  pthread_mutex_lock(&client.lock);
  bool connected = atomic_load(&client.fd) >= 0 && !client.lost;
  pthread_mutex_unlock(&client.lock);
  int r = connected ? 0 : m->needs != 0 ? -EIO : connect_now();
  if (r < 0) {
    pthread_mutex_unlock(&client.sending);
    return r;
  }
  pthread_mutex_lock(&client.lock);
  /* A handle is valid on the connection that it was opened on. */
  if (client.lost || (m->needs != 0 && m->needs != atomic_load(&client.generation))) {
    pthread_mutex_unlock(&client.lock);
    pthread_mutex_unlock(&client.sending);
    return -EIO;
  }
  w.id = head.id = ++client.last_id;
  w.next = client.waiters;
  client.waiters = &w;
  m->generation = atomic_load(&client.generation);
  pthread_mutex_unlock(&client.lock);
  bool sent = send_all(parts, count) == 0;
  pthread_mutex_unlock(&client.sending);
  if (!sent) client_refuse();

  pthread_mutex_lock(&client.lock);
  while (!w.done) {
    if (client.reading) {
      pthread_cond_wait(&w.changed, &client.lock);
      continue;
    }
    client.reading = true;
    pthread_mutex_unlock(&client.lock);
    bool valid = read_reply();
    pthread_mutex_lock(&client.lock);
    client.reading = false;
    if (!valid) disconnect();
    if (client.lost) pthread_cond_broadcast(&client.idle);
  }
  struct waiter **at = &client.waiters;
  while (*at != &w) at = &(*at)->next;
  *at = w.next;
  /* Another thread that waits becomes the reader. */
  if (!client.reading && client.waiters) {
    for (struct waiter *other = client.waiters; other; other = other->next) {
      if (other->done) continue;
      pthread_cond_signal(&other->changed);
      break;
    }
  }
  pthread_mutex_unlock(&client.lock);
  pthread_cond_destroy(&w.changed);
  return w.result;
}

int client_request(enum operation op, struct message *m) {
  if (client.pid != (pid_t)syscall(SYS_getpid)) forked();
  /* A handler that ran in between could call here again; a cancelled thread would leave its request behind. */
  sigset_t all, before;
  sigfillset(&all);
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int kept = errno;
  int r = exchange(op, m);
  errno = kept;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_setcancelstate(cancel, NULL);
  return r;
}
