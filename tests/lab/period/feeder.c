/*
 * Feeder of the period lab: writes parameter files of an OSS as Lustre 2.15 prints them, in place of the kernel.
 *
 *     feeder TREE JOBS TARGETS CHANGED HZ SEED [SECONDS]
 *
 * TREE/obdfilter/FS-OSTxxxx/job_stats has JOBS entries on each of TARGETS targets; in each step the counters of CHANGED of them per
 * target grow, chosen by a seeded generator, and the others keep their bytes. Names of targets are those of TREE/devices. stats and
 * timeouts of ost_io follow. A file is replaced by rename, so that a reader sees one whole state. job_stats that was replaced by another
 * program (`lctl set_param ...job_stats=clear`) loses its entries, and a job appears again with its next change.
 *
 * HZ 0 writes one state and ends; a line on standard input then asks for the next one, until its end. It starts no process. At
 * its end it prints `steps N cpu_ns N late N`: its own cost, and steps that began a whole step late.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OPERATIONS = 15, ENTRY_MOST = 4096, TARGETS_MOST = 64 };

static const struct {
  const char *name;
  const char *unit;
} OPERATION[OPERATIONS] = {
    {"read_bytes", "bytes"}, {"write_bytes", "bytes"}, {"read", "usecs"},     {"write", "usecs"},    {"getattr", "usecs"},
    {"setattr", "usecs"},    {"punch", "usecs"},       {"sync", "usecs"},     {"destroy", "usecs"},  {"create", "usecs"},
    {"statfs", "usecs"},     {"get_info", "usecs"},    {"set_info", "usecs"}, {"quotactl", "usecs"}, {"prealloc", "usecs"},
};

struct job {
  uint64_t samples[4];
  uint64_t start_s;
  size_t length;
  int is_listed;
  char text[ENTRY_MOST];
};

struct target {
  char folder[512];
  ino_t inode;
  struct job *jobs;
};

static volatile sig_atomic_t is_ended;
static void end(int signal) { (void)signal, is_ended = 1; }

static uint64_t state;
static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void fail(const char *what) {
  fprintf(stderr, "feeder: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void print_entry(struct job *j, int number) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (!j->is_listed) {
    j->start_s = (uint64_t)now.tv_sec;
    memset(j->samples, 0, sizeof j->samples);
    j->is_listed = 1;
  }
  uint64_t n = 1 + draw() % 50;
  j->samples[0] += n / 4;
  j->samples[1] += n;
  char *at = j->text;
  at += sprintf(at, "- job_id:          %d.ior.u%d\n", 4000 + number, 1000 + number % 7);
  at += sprintf(at, "  snapshot_time:   %ld.%09ld secs.nsecs\n", (long)now.tv_sec, now.tv_nsec);
  at += sprintf(at, "  start_time:      %lu.000000001 secs.nsecs\n", (unsigned long)j->start_s);
  at += sprintf(at, "  elapsed_time:    %ld.%09ld secs.nsecs\n", (long)now.tv_sec - (long)j->start_s, now.tv_nsec);
  for (int o = 0; o < OPERATIONS; o++) {
    uint64_t s = o < 4 ? j->samples[o % 2] : 0;
    uint64_t each = o < 2 ? 1048576 : 3121;
    char name[32];
    snprintf(name, sizeof name, "%s:", OPERATION[o].name);
    at += sprintf(at, "  %-16s { samples: %11lu, unit: %s, min: %8lu, max: %8lu, sum: %16lu, sumsq: %18lu }\n", name, (unsigned long)s,
                  OPERATION[o].unit, (unsigned long)(s ? each : 0), (unsigned long)(s ? each : 0), (unsigned long)(s * each),
                  (unsigned long)(s * each * each));
  }
  j->length = (size_t)(at - j->text);
}

static ino_t replace(const char *path, const char *fresh, const char *text, size_t length) {
  int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail(fresh);
  for (size_t at = 0; at < length;) {
    ssize_t wrote = write(file, text + at, length - at);
    if (wrote < 0) fail(fresh);
    at += (size_t)wrote;
  }
  struct stat made;
  if (fstat(file, &made) < 0 || close(file) < 0 || rename(fresh, path) < 0) fail(path);
  return made.st_ino;
}

static void write_target(struct target *t, int jobs, char *buffer, const char *fresh) {
  char path[600];
  snprintf(path, sizeof path, "%.511s/job_stats", t->folder);
  char *at = stpcpy(buffer, "job_stats:\n");
  for (int i = 0; i < jobs; i++)
    if (t->jobs[i].is_listed) at = mempcpy(at, t->jobs[i].text, t->jobs[i].length);
  t->inode = replace(path, fresh, buffer, (size_t)(at - buffer));
}

static void step_target(struct target *t, int jobs, int changed) {
  char path[600];
  struct stat found;
  snprintf(path, sizeof path, "%.511s/job_stats", t->folder);
  if (stat(path, &found) == 0 && t->inode != 0 && found.st_ino != t->inode)
    for (int i = 0; i < jobs; i++) t->jobs[i].is_listed = 0;
  /* Neighbours in a seeded order: CHANGED different ones. */
  int from = jobs > 0 ? (int)(draw() % (uint64_t)jobs) : 0;
  for (int i = 0; i < changed; i++) print_entry(&t->jobs[(from + i) % jobs], (from + i) % jobs);
}

static void write_service(const char *tree, const char *fresh, uint64_t steps) {
  char path[600], text[4096], *at = text;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  at += sprintf(at, "snapshot_time             %ld.%09ld secs.nsecs\n", (long)now.tv_sec, now.tv_nsec);
  at += sprintf(at, "start_time                1795217906.501417426 secs.nsecs\n");
  at += sprintf(at, "elapsed_time              %lu.%09ld secs.nsecs\n", (unsigned long)steps, now.tv_nsec);
  at += sprintf(at, "req_waittime              %lu samples [usecs] 94 19999 %lu 1435629282\n", (unsigned long)(123 + 40 * steps),
                (unsigned long)(106784 + 9000 * steps));
  at += sprintf(at, "req_qdepth                %lu samples [reqs] 0 0 0 0\n", (unsigned long)(123 + 40 * steps));
  at += sprintf(at, "req_active                %lu samples [reqs] 1 2 130 144\n", (unsigned long)(123 + 40 * steps));
  at += sprintf(at, "req_timeout               %lu samples [secs] 1 1 123 123\n", (unsigned long)(123 + 40 * steps));
  at += sprintf(at, "reqbuf_avail              249 samples [bufs] 64 64 15936 1019904\n");
  at += sprintf(at, "ost_read                  30 samples [usecs] 5785 8159 188570 1199549030\n");
  at += sprintf(at, "ost_write                 %lu samples [usecs] 3423 42876 1979611 56380368773\n", (unsigned long)(92 + 40 * steps));
  at += sprintf(at, "ost_punch                 1 samples [usecs] 1428 1428 1428 2039184\n");
  snprintf(path, sizeof path, "%s/ost/OSS/ost_io/stats", tree);
  replace(path, fresh, text, (size_t)(at - text));
  at = text + sprintf(text, "   service : cur   1  worst   1 (at 1795217860, %lus ago)   1   0   0   0 \n", (unsigned long)(steps / 10));
  snprintf(path, sizeof path, "%s/ost/OSS/ost_io/timeouts", tree);
  replace(path, fresh, text, (size_t)(at - text));
}

static int find_targets(const char *tree, struct target *targets, int most) {
  char path[600], line[512], name[256];
  int n = 0;
  snprintf(path, sizeof path, "%s/devices", tree);
  FILE *devices = fopen(path, "r");
  if (!devices) fail(path);
  while (n < most && fgets(line, sizeof line, devices)) {
    if (sscanf(line, " %*d %*s obdfilter %255s", name) != 1) continue;
    snprintf(targets[n].folder, sizeof targets[n].folder, "%s/obdfilter/%s", tree, name);
    if (mkdir(targets[n].folder, 0755) < 0 && errno != EEXIST) fail(targets[n].folder);
    n++;
  }
  fclose(devices);
  if (n < most) fprintf(stderr, "feeder: %s lists %d targets\n", path, n), exit(1);
  return n;
}

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int count, char **words) {
  if (count < 7) return fprintf(stderr, "usage: feeder TREE JOBS TARGETS CHANGED HZ SEED [SECONDS]\n"), 2;
  const char *tree = words[1];
  int jobs = atoi(words[2]), wanted = atoi(words[3]), changed = atoi(words[4]), hz = atoi(words[5]);
  state = 88172645463325252u ^ ((uint64_t)atoll(words[6]) << 20);
  if (jobs < 1 || wanted < 1 || wanted > TARGETS_MOST || changed < 0 || changed > jobs) return 2;
  struct sigaction action = {.sa_handler = end};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  static struct target targets[TARGETS_MOST];
  char folder[600], fresh[600];
  for (const char *const *f = (const char *const[]){"obdfilter", "ost", "ost/OSS", "ost/OSS/ost_io", NULL}; *f; f++) {
    snprintf(folder, sizeof folder, "%s/%s", tree, *f);
    if (mkdir(folder, 0755) < 0 && errno != EEXIST) fail(folder);
  }
  snprintf(fresh, sizeof fresh, "%s/.fresh", tree);
  int found = find_targets(tree, targets, wanted);
  char *buffer = malloc((size_t)jobs * ENTRY_MOST + 64);
  if (!buffer) fail("memory");
  for (int t = 0; t < found; t++) {
    targets[t].jobs = calloc((size_t)jobs, sizeof(struct job));
    if (!targets[t].jobs) fail("memory");
    for (int i = 0; i < jobs; i++) print_entry(&targets[t].jobs[i], i);
    write_target(&targets[t], jobs, buffer, fresh);
  }
  uint64_t steps = 0, late = 0, began = nanoseconds(CLOCK_MONOTONIC), gap = hz > 0 ? 1000000000u / (uint64_t)hz : 0;
  uint64_t last = count > 7 ? (uint64_t)atoll(words[7]) * (uint64_t)hz : UINT64_MAX;
  write_service(tree, fresh, 0);
  puts("ready");
  fflush(stdout);
  while (!is_ended && steps < last) {
    if (hz > 0) {
      uint64_t due = began + (steps + 1) * gap, now = nanoseconds(CLOCK_MONOTONIC);
      if (now > due + gap) late++;
      struct timespec at = {.tv_sec = (time_t)(due / 1000000000u), .tv_nsec = (long)(due % 1000000000u)};
      while (!is_ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
    } else {
      char line[16];
      if (!fgets(line, sizeof line, stdin)) break;
    }
    if (is_ended) break;
    steps++;
    for (int t = 0; t < found; t++) {
      step_target(&targets[t], jobs, changed);
      write_target(&targets[t], jobs, buffer, fresh);
    }
    write_service(tree, fresh, steps);
    if (hz == 0) puts("ready"), fflush(stdout);
  }
  printf("steps %lu cpu_ns %lu late %lu\n", (unsigned long)steps, (unsigned long)nanoseconds(CLOCK_PROCESS_CPUTIME_ID), (unsigned long)late);
  return 0;
}
