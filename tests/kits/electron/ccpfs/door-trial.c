/*
 * Interpreter of POSIX calls, one per line of standard input; prints the result of each. The same script on ccPFS and on a folder
 * of another file system must print the same. Files are numbered slots of the script, so that descriptors may differ.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 4
#define MOST (3 << 20)

static int slots[SLOTS] = {-1, -1, -1, -1};
static const char *root;
static unsigned char buffer[MOST];

/* Output is collected and written at once: the streams of the program are under test. */
static void say(const char *format, ...) {
  char line[512];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (n > 0 && write(1, line, (size_t)n) != n) _exit(3);
}

static void result(const char *call, long r) {
  if (r < 0) say("%s %s\n", call, strerrorname_np(errno));
  else say("%s %ld\n", call, r);
}

static unsigned hash_of(const unsigned char *at, long n) {
  unsigned hash = 2166136261u;
  for (long i = 0; i < n; i++) hash = (hash ^ at[i]) * 16777619u;
  return hash;
}

static void fill(size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    buffer[i] = (unsigned char)(seed >> 24);
  }
}

/* Splits the buffer into pieces of unequal sizes. */
static int split(struct iovec *out, size_t n) {
  size_t at = 0;
  int count = 0;
  while (count < 7) {
    size_t part = count == 6 ? n - at : (n - at) / (size_t)(count + 2);
    out[count++] = (struct iovec){buffer + at, part};
    at += part;
  }
  return count;
}

static const char *path_of(const char *name) {
  static char paths[2][512];
  static int turn;
  turn = !turn;
  snprintf(paths[turn], sizeof paths[turn], "%s/%s", root, name);
  return paths[turn];
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void list(const char *path) {
  DIR *d = opendir(path);
  if (!d) return result("list", -1);
  char *names[256];
  int n = 0;
  struct dirent *e;
  while ((e = readdir(d)) && n < 256) {
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) names[n++] = strdup(e->d_name);
  }
  closedir(d);
  qsort(names, (size_t)n, sizeof *names, by_name);
  say("list");
  for (int i = 0; i < n; i++) say(" %s", names[i]);
  say("\n");
}

static void stat_line(int r, const struct stat *st) {
  if (r < 0) result("stat", -1);
  else if (S_ISDIR(st->st_mode)) say("stat directory\n");
  else say("stat file %lld %o\n", (long long)st->st_size, st->st_mode & 0777);
}

static void read_result(const char *call, long r) {
  if (r < 0) result(call, r);
  else say("%s %ld %08x\n", call, r, hash_of(buffer, r));
}

/* The rest of the script in a child of fork, or in this program after exec. */
static void fork_on(void) {
  pid_t child = fork();
  if (child == 0) return;
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 4);
}

static void exec_on(char **argv) {
  char numbers[SLOTS][16];
  for (int i = 0; i < SLOTS; i++) snprintf(numbers[i], sizeof *numbers, "%d", slots[i]);
  execl("/proc/self/exe", argv[0], root, numbers[0], numbers[1], numbers[2], numbers[3], NULL);
  _exit(5);
}

static void stream(const char *name, const char *mode, size_t n, unsigned seed) {
  FILE *f = fopen(path_of(name), mode);
  if (!f) return result("stream", -1);
  long wrote = -1, got = -1;
  fill(n, seed);
  if (strchr("wa", mode[0]) || strchr(mode, '+')) wrote = (long)fwrite(buffer, 1, n, f);
  long at = ftell(f);
  if (mode[0] == 'r' || strchr(mode, '+')) {
    rewind(f);
    got = (long)fread(buffer, 1, sizeof buffer, f);
  }
  int failed = ferror(f) != 0;
  int closed = fclose(f);
  say("stream %ld %ld %ld %08x %d %d\n", wrote, at, got, got > 0 ? hash_of(buffer, got) : 0, failed, closed);
}

struct part {
  pthread_t thread;
  int fd;
  int number;
  unsigned char bytes[1000];
  long got;
};

static void *read_part(void *of) {
  struct part *p = of;
  p->got = pread(p->fd, p->bytes, sizeof p->bytes, (long)p->number * (long)sizeof p->bytes);
  return NULL;
}

/* Reads consecutive parts of a file at the same time. */
static void threads(int fd, int n) {
  static struct part parts[16];
  for (int i = 0; i < n && i < 16; i++) {
    parts[i].fd = fd;
    parts[i].number = i;
    pthread_create(&parts[i].thread, NULL, read_part, &parts[i]);
  }
  for (int i = 0; i < n && i < 16; i++) {
    pthread_join(parts[i].thread, NULL);
    say("thread %d: %ld %08x\n", i, parts[i].got, parts[i].got > 0 ? hash_of(parts[i].bytes, parts[i].got) : 0);
  }
}

static int read_line(char *line, size_t space) {
  size_t n = 0;
  char c;
  while (read(0, &c, 1) == 1) {
    if (c == '\n') {
      line[n] = 0;
      return 1;
    }
    if (n + 1 < space) line[n++] = c;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  root = argv[1];
  for (int i = 0; i < SLOTS && i + 2 < argc; i++) slots[i] = atoi(argv[i + 2]);
  char line[512];
  while (read_line(line, sizeof line)) {
    char word[32] = "", a[128] = "", b[128] = "";
    long x = 0, y = 0, z = 0;
    struct stat st;
    struct iovec parts[8];
    int fields = sscanf(line, "%31s %127s %127s", word, a, b);
    if (fields < 1) continue;
    int slot = atoi(a) & (SLOTS - 1);
    int fd = slots[slot];
    sscanf(line, "%*s %*s %ld %ld %ld", &x, &y, &z);
    size_t n = (size_t)(x < 0 ? 0 : x > MOST ? MOST : x);
#define IS(text) (strcmp(word, text) == 0)
    if (IS("open")) {
      sscanf(line, "%*s %*s %*s %ld %ld", &x, &y);
      if (fd >= 0) close(fd);
      slots[slot] = open(path_of(b), (int)x, (mode_t)y);
      result(word, slots[slot] < 0 ? -1 : 0);
    } else if (IS("close")) {
      result(word, close(fd));
      slots[slot] = -1;
    } else if (IS("dup")) {
      int to = (int)x & (SLOTS - 1);
      if (slots[to] >= 0) {
        if (fd >= 0) result(word, dup2(fd, slots[to]) < 0 ? -1 : 0);
      } else {
        slots[to] = dup(fd);
        result(word, slots[to] < 0 ? -1 : 0);
      }
    } else if (IS("read")) read_result(word, read(fd, buffer, n));
    else if (IS("pread")) read_result(word, pread(fd, buffer, n, y));
    else if (IS("readv")) read_result(word, readv(fd, parts, split(parts, n)));
    else if (IS("preadv")) read_result(word, preadv(fd, parts, split(parts, n), y));
    else if (IS("write")) {
      fill(n, (unsigned)y);
      result(word, write(fd, buffer, n));
    } else if (IS("pwrite")) {
      fill(n, (unsigned)z);
      result(word, pwrite(fd, buffer, n, y));
    } else if (IS("writev")) {
      fill(n, (unsigned)y);
      result(word, writev(fd, parts, split(parts, n)));
    } else if (IS("pwritev")) {
      fill(n, (unsigned)z);
      result(word, pwritev(fd, parts, split(parts, n), y));
    } else if (IS("lseek")) {
      /* The end of a directory differs between file systems. */
      if (y == SEEK_END && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) say("lseek of a directory\n");
      else result(word, lseek(fd, x, (int)y));
    }
    else if (IS("ftruncate")) result(word, ftruncate(fd, x));
    else if (IS("truncate")) result(word, truncate(path_of(a), x));
    else if (IS("fsync")) result(word, fsync(fd));
    else if (IS("append")) result(word, fcntl(fd, F_SETFL, x ? O_APPEND : 0));
    else if (IS("flags")) {
      int flags = fcntl(fd, F_GETFL);
      result(word, flags < 0 ? -1 : flags & (O_ACCMODE | O_APPEND));
    } else if (IS("fstat")) stat_line(fstat(fd, &st), &st);
    else if (IS("stat")) stat_line(stat(path_of(a), &st), &st);
    else if (IS("access")) result(word, access(path_of(a), R_OK | W_OK));
    else if (IS("unlink")) result(word, unlink(path_of(a)));
    else if (IS("rename")) result(word, rename(path_of(a), path_of(b)));
    else if (IS("mkdir")) result(word, mkdir(path_of(a), 0755));
    else if (IS("rmdir")) result(word, rmdir(path_of(a)));
    else if (IS("list")) list(path_of(a));
    else if (IS("stream")) {
      sscanf(line, "%*s %*s %*s %ld %ld", &x, &y);
      stream(a, b, (size_t)(x < 0 ? 0 : x > 65536 ? 65536 : x), (unsigned)y);
    } else if (IS("badread")) result(word, read(fd, (void *)8, n));
    else if (IS("badwrite")) result(word, write(fd, (void *)8, n));
    else if (IS("map")) result(word, mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
    else if (IS("threads")) threads(fd, (int)x);
    else if (IS("fork")) fork_on();
    else if (IS("exec")) exec_on(argv);
    else say("unknown %s\n", word);
  }
  return 0;
}
