/*
 * Behaviour of real programs, one command each: the tests run it under the stage and parse its one line. It measures its own times.
 * usage: trial WORD PATH SECONDS [NUMBER [RATE]]
 * loop, writes: runs until half a second reached RATE, if given, and until the file named by TRIAL_UNTIL exists, if set; two
 * minutes at most.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static double seconds;
static int number;
static double wanted;
static const char *until;
static atomic_int is_over;
static atomic_long done;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what) {
  printf("failed: %s: %s\n", what, strerror(errno));
  fflush(stdout);
  _exit(1);
}

static void once(void) {
  int fd = open(path, O_RDONLY);
  if (fd < 0) fail("open");
  if (close(fd) != 0) fail("close");
  done++;
}

/* Highest rate of any half second: reached while nothing else used the CPU. */
static const double span = 0.5;
static double best, span_began;
static long span_done;

static void begin_span(double at) {
  span_began = at;
  span_done = done;
}

static void end_span(double at) {
  if (at - span_began < span) return;
  double rate = (double)(done - span_done) / (at - span_began);
  if (rate > best) best = rate;
  begin_span(at);
}

/* Calls here bypass the stage. */
static int goes_on(double began, double at) {
  if (at >= began + 120) return 0;
  if (at < began + seconds || best < wanted) return 1;
  static double looked;
  static int is_awaited = 1;
  if (until && is_awaited && at - looked > 0.05) {
    looked = at;
    is_awaited = syscall(SYS_faccessat, AT_FDCWD, until, F_OK) != 0;
  }
  return until && is_awaited;
}

static void *opens_on(void *unused) {
  (void)unused;
  while (!is_over) once();
  return NULL;
}

static void *opens(void *end) {
  while (now() < *(double *)end) once();
  return NULL;
}

static void report(double began) { printf("%ld %.6f %.3f\n", (long)done, now() - began, best); }

/* Opens and closes in `number` threads. */
static void loop(void) {
  double began = now();
  pthread_t all[256];
  for (int i = 1; i < number; i++) pthread_create(&all[i], NULL, opens_on, NULL);
  begin_span(began);
  for (double at = began; goes_on(began, at); at = now()) {
    once();
    end_span(at);
  }
  is_over = 1;
  for (int i = 1; i < number; i++) pthread_join(all[i], NULL);
  report(began);
}

/* `number` opens, however long they take. */
static void some(void) {
  double began = now();
  for (int i = 0; i < number; i++) once();
  report(began);
}

/* Writes 64 KiB at a time, in bytes. */
static void writes(void) {
  static char block[65536];
  double began = now();
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) fail("open");
  begin_span(began);
  for (double at = began; goes_on(began, at); at = now()) {
    ssize_t n = write(fd, block, sizeof block);
    if (n != (ssize_t)sizeof block) fail("write");
    done += n;
    if (lseek(fd, 0, SEEK_SET) != 0) fail("lseek");
    end_span(at);
  }
  close(fd);
  report(began);
}

/* Writes of 64 KiB, each in two buffers, and as blocks of a stream: in bytes. */
static void vectors(void) {
  static char block[32768];
  struct iovec two[2] = {{block, sizeof block}, {block, sizeof block}};
  double began = now();
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) fail("open");
  begin_span(began);
  for (double at = began; goes_on(began, at); at = now()) {
    ssize_t n = pwritev(fd, two, 2, 0);
    if (n != 2 * (ssize_t)sizeof block) fail("pwritev");
    done += n;
    end_span(at);
  }
  close(fd);
  report(began);
}

static void streams(void) {
  static char block[65536];
  double began = now();
  FILE *f = fopen(path, "w");
  if (!f) fail("fopen");
  begin_span(began);
  for (double at = began; goes_on(began, at); at = now()) {
    if (fwrite(block, 1, sizeof block, f) != sizeof block) fail("fwrite");
    done += (long)sizeof block;
    rewind(f);
    end_span(at);
  }
  if (fclose(f) != 0) fail("fclose");
  report(began);
}

/* Every call with several buffers and every block of a stream, once, to compare the report. */
static void blocks(void) {
  char text[64], more[8];
  struct iovec two[2] = {{text, 5}, {more, 3}};
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  memset(text, 'a', sizeof text), memset(more, 'b', sizeof more);
  if (writev(fd, two, 2) != 8) fail("writev");                             /* writev 1, 8 bytes */
  if (pwritev(fd, two, 2, 8) != 8 || pwritev2(fd, two, 1, 16, 0) != 5) fail("pwritev"); /* pwritev 2, 13 bytes */
  lseek(fd, 0, SEEK_SET);
  if (readv(fd, two, 2) != 8 || memcmp(text, "aaaaa", 5) || memcmp(more, "bbb", 3)) fail("readv"); /* readv 1, 8 bytes */
  if (preadv(fd, two, 2, 8) != 8 || preadv2(fd, two, 1, 16, 0) != 5) fail("preadv"); /* preadv 2, 13 bytes */
  const struct iovec *volatile wild = (const struct iovec *)8;
  errno = 0;
  if (readv(fd, wild, 2) != -1 || errno != EFAULT) fail("readv EFAULT"); /* readv 2, an error */
  volatile int negative = -1;
  if (writev(fd, two, negative) != -1 || errno != EINVAL) fail("writev EINVAL"); /* writev 2, an error */
  close(fd);
  FILE *f = fopen(path, "r+");
  if (!f || fread(text, 3, 4, f) != 4) fail("fread"); /* fread 1, 12 bytes */
  if (fread(text, 1, 64, f) != 9 || !feof(f)) fail("fread to the end"); /* fread 2, 76 bytes: the requested ones */
  rewind(f);
  if (fwrite(text, 2, 5, f) != 5 || fclose(f) != 0) fail("fwrite"); /* fwrite 1, 10 bytes */
  char room[16];
  errno = 0;
  FILE *memory = fmemopen(room, sizeof room, "w"); /* no file: not managed */
  if (!memory || fwrite("text", 1, 4, memory) != 4 || errno != 0 || fclose(memory) != 0) fail("fmemopen"); /* fwrite 2 */
  report(now());
}

/* A ring of io_uring for some seconds and until the file named by TRIAL_UNTIL exists, or the reason that there is none. */
static void uring(void) {
  unsigned parameters[30] = {0};
  once();
  int ring = (int)syscall(SYS_io_uring_setup, 1, parameters);
  int why = errno;
  printf("%s\n", ring >= 0 ? "ring" : why == ENOSYS ? "ENOSYS" : strerror(why));
  fflush(stdout);
  double began = now();
  while (ring >= 0 && goes_on(began, now())) usleep(50000);
}

/* Processes that open once and exit, `number` at a time. */
static void storm(void) {
  double began = now();
  long processes = 0;
  while (now() < began + seconds) {
    for (int i = 0; i < number; i++) {
      pid_t child = fork();
      if (child < 0) fail("fork");
      if (child == 0) {
        once();
        _exit(0);
      }
    }
    for (int i = 0; i < number; i++) {
      int status;
      if (wait(&status) < 0 || status != 0) fail("a child");
      processes++;
    }
  }
  printf("%ld %.6f\n", processes, now() - began);
}

/* A child that continues like its parent. */
static void forked(void) {
  double began = now(), end = began + seconds;
  once();
  pid_t child = fork();
  opens(&end);
  report(began);
  fflush(stdout);
  if (child == 0) _exit(0);
  int status;
  if (wait(&status) != child || status != 0) fail("the child");
}

static void exec_chain(const char *self) {
  once();
  if (number > 0) {
    char left[16], long_enough[32];
    snprintf(left, sizeof left, "%d", number - 1);
    snprintf(long_enough, sizeof long_enough, "%f", seconds);
    execl(self, self, "exec", path, long_enough, left, (char *)NULL);
    fail("exec");
  }
  loop();
}

static void spawned(const char *self) {
  once();
  int fd = open(path, O_RDONLY);
  pid_t child = vfork();
  if (child == 0) {
    /* In the parent's memory: files closed by the child stay open in the parent. */
    close(fd);
    dup2(1, 9);
    execl(self, self, "some", path, "0", "3", (char *)NULL);
    _exit(127);
  }
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) fail("the child");
  char byte;
  if (read(fd, &byte, 1) < 0) fail("read after vfork");
  errno = 0;
  if (vfork() == 0) _exit(0);
  wait(NULL);
  if (close(fd) != 0) fail("close after vfork");
  report(now());
}

/* All usual ways of daemons to detach and close files; afterwards files must behave as usual. */
static void closing(void) {
  double began = now();
  once();
  for (int round = 0; round < 4; round++) {
    if (round == 0) {
      for (int fd = 3; fd < 70000; fd++) close(fd);
    } else if (round == 1) {
      syscall(SYS_close_range, 3, ~0u, 0);
    } else if (round == 2) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
      closefrom(3);
      close_range(3, ~0u, 0);
#endif
    } else {
      for (int fd = 3; fd < 2000; fd++) dup2(0, fd);
      for (int fd = 3; fd < 2000; fd++) close(fd);
    }
    /* The lowest descriptors are free, and writes to them are not affected. */
    char name[4096], text[64] = "";
    snprintf(name, sizeof name, "%s.%d", path, round);
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd != 3) fail("the lowest number");
    if (write(fd, "mine", 4) != 4) fail("write");
    usleep(400000);
    if (pread(fd, text, sizeof text, 0) != 4 || memcmp(text, "mine", 4)) fail("somebody wrote into our file");
    close(fd);
    for (int i = 0; i < number; i++) once();
  }
  report(began);
}

/* No standard streams: their descriptors go to the next files. */
static void bare(void) {
  int kept = fcntl(1, F_DUPFD, 200);
  close(0), close(1), close(2);
  for (int i = 0; i < 3; i++)
    if (open(path, O_RDONLY) != i) _exit(5);
  usleep(300000);
  struct stat a, b;
  if (stat(path, &a) != 0) _exit(6);
  for (int i = 0; i < 3; i++)
    if (fstat(i, &b) != 0 || a.st_ino != b.st_ino) _exit(7);
  dup2(kept, 1);
  report(now());
}

static void *last_words(void *unused) {
  usleep(300000);
  once();
  printf("%ld 0\n", (long)done);
  fflush(stdout);
  return unused;
}

/* The main thread exits, another one is the last. */
static void leaving(void) {
  once();
  pthread_t other;
  pthread_create(&other, NULL, last_words, NULL);
  pthread_detach(other);
  pthread_exit(NULL);
}

static void on_signal(int n) { (void)n, done++; }

/* Signals while it waits. */
static void signals(void) {
  struct sigaction act = {.sa_handler = on_signal};
  sigaction(SIGALRM, &act, NULL);
  struct timespec step = {0, 2000000};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  timer_t timer;
  struct itimerspec often = {step, step};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &often, NULL);
  double began = now();
  long n = 0;
  while (now() < began + seconds) {
    int fd = open(path, O_RDONLY);
    if (fd < 0) fail("open under signals");
    close(fd);
    n++;
  }
  long came = done;
  printf("%ld %.6f %ld\n", n, now() - began, came);
}

/* errno after a call, and calls that must fail as usual. */
static void faults(void) {
  char missing[4096], text[8], too_long[8192];
  snprintf(missing, sizeof missing, "%s.missing", path);
  struct stat s;
  errno = 0;
  if (open(path, O_RDONLY) < 0 || errno != 0) fail("errno after success");
  errno = EXDEV;
  if (open(missing, O_RDONLY) != -1 || errno != ENOENT) fail("ENOENT");
  if (close(-1) != -1 || errno != EBADF) fail("EBADF");
  const char *volatile nothing = NULL;
  if (open(nothing, O_RDONLY) != -1 || errno != EFAULT) fail("EFAULT");
  if (stat(missing, &s) != -1 || errno != ENOENT) fail("stat ENOENT");
  if (getxattr(path, "user.none", text, 8) != -1 || (errno != ENODATA && errno != ENOTSUP)) fail("getxattr");
  memset(too_long, 'x', sizeof too_long);
  too_long[0] = '/', too_long[sizeof too_long - 1] = 0;
  if (open(too_long, O_RDONLY) != -1 || errno != ENAMETOOLONG) fail("ENAMETOOLONG");
  if (mkdir(path, 0700) != -1 || errno != EEXIST) fail("mkdir EEXIST");
  if (rmdir(path) != -1 || errno != ENOTDIR) fail("rmdir ENOTDIR");
  if (rename(missing, path) != -1 || errno != ENOENT) fail("rename ENOENT");
  if (fopen(missing, "r") || errno != ENOENT) fail("fopen ENOENT");
  if (opendir(missing) || errno != ENOENT) fail("opendir ENOENT");
  report(now());
}

/* Unreadable paths yield EFAULT, wherever they point and wherever they stop being readable; readable ones are files. */
static void wild(void) {
  struct stat s;
  long page = sysconf(_SC_PAGESIZE);
  char *two = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *gone = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (two == MAP_FAILED || gone == MAP_FAILED) fail("mmap");
  munmap(gone, (size_t)page);
  mprotect(two + page, (size_t)page, PROT_NONE);
  memset(two, '/', (size_t)page);
  char *volatile bad[] = {(char *)8, (char *)-1L, (char *)(1L << 62), gone, two + page, two + 8, two + page - 1};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (stat(bad[i], &s) != -1 || errno != EFAULT) fail("stat EFAULT");
    if (open(bad[i], O_RDONLY) != -1 || errno != EFAULT) fail("open EFAULT");
    if (openat(AT_FDCWD, bad[i], O_RDONLY) != -1 || errno != EFAULT) fail("openat EFAULT");
    if (rename(path, bad[i]) != -1 || errno != EFAULT) fail("rename EFAULT");
    if (mkdir(bad[i], 0700) != -1 || errno != EFAULT) fail("mkdir EFAULT");
  }
  /* A path that ends with the last byte of its page is complete. */
  char *end = two + page - strlen(path) - 1;
  strcpy(end, path);
  errno = 0;
  if (stat(end, &s) != 0 || errno != 0) fail("stat at the end of a page");
  report(now());
}

/* Every way to access a file, once, to compare the report. PATH is a folder. */
static void ways(void) {
  char name[4096];
  if (chdir(path) != 0) fail("chdir");
  int dir = open(path, O_RDONLY | O_DIRECTORY); /* open 1 */
  int a = openat(dir, "file", O_RDWR | O_CREAT, 0600); /* openat 1 */
  snprintf(name, sizeof name, ".//../%s/./file", strrchr(path, '/') + 1);
  int b = open(name, O_RDONLY); /* open 2 */
  if (dir < 0 || a < 0 || b < 0) fail("open");
  if (write(a, "12345", 5) != 5) fail("write"); /* write 1, 5 bytes */
  int c = dup(a), d = fcntl(a, F_DUPFD, 50), e = dup2(a, 60);
  close(a);                                           /* close 1 */
  if (write(c, "1", 1) != 1 || write(d, "1", 1) != 1 || write(e, "1", 1) != 1) fail("write"); /* write 4, 8 bytes */
  close(c), close(d), close(e), close(b);             /* close 5 */
  int pair[2];
  if (pipe(pair) != 0 || write(pair[1], "1", 1) != 1) fail("pipe"); /* descriptors that were managed, but no longer are */
  close(pair[0]), close(pair[1]);
  FILE *f = fopen("file", "r"); /* fopen 1 */
  if (!f || fclose(f) != 0) fail("fopen"); /* fclose 1 */
  snprintf(name, sizeof name, "%s/../outside", path);
  int outside = open(name, O_RDWR | O_CREAT, 0600); /* not managed */
  close(outside);
  if (rename("file", name) != 0) fail("rename out"); /* not managed: the new path decides */
  if (rename(name, "file") != 0) fail("rename in");  /* rename 1 */
  if (mkdirat(dir, "made", 0700) != 0 || rmdir("made") != 0) fail("mkdir"); /* mkdirat 1, rmdir 1 */
  struct stat s;
  if (stat("file", &s) != 0 || fstatat(dir, "file", &s, 0) != 0 || fstat(dir, &s) != 0) fail("stat"); /* 1 each */
  DIR *o = opendir("."); /* opendir 1 */
  while (readdir(o)) {
  }
  closedir(o);            /* closedir 1 */
  if (unlinkat(dir, "file", 0) != 0) fail("unlinkat"); /* unlinkat 1 */
  if (chdir("/") != 0 || open("file", O_RDONLY) != -1) fail("chdir"); /* not managed */
  if (fchdir(dir) != 0 || open("file", O_RDONLY) != -1) fail("fchdir"); /* open 3, an error */
  close(dir);             /* close 6 */
  report(now());
}

int main(int count, char **words) {
  if (count < 4) return 2;
  const char *word = words[1];
  path = words[2];
  seconds = atof(words[3]);
  number = count > 4 ? atoi(words[4]) : 1;
  wanted = count > 5 ? atof(words[5]) : 0;
  until = getenv("TRIAL_UNTIL");
#define IS(name) (!strcmp(word, name))
  if (IS("loop")) loop();
  else if (IS("some")) some();
  else if (IS("writes")) writes();
  else if (IS("vectors")) vectors();
  else if (IS("streams")) streams();
  else if (IS("blocks")) blocks();
  else if (IS("uring")) uring();
  else if (IS("storm")) storm();
  else if (IS("forked")) forked();
  else if (IS("exec")) exec_chain(words[0]);
  else if (IS("spawned")) spawned(words[0]);
  else if (IS("closing")) closing();
  else if (IS("bare")) bare();
  else if (IS("leaving")) leaving();
  else if (IS("signals")) signals();
  else if (IS("faults")) faults();
  else if (IS("wild")) wild();
  else if (IS("ways")) ways();
  else return 2;
  return 0;
}
