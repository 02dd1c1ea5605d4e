/* Roles of the helper: `sluice-haechi node|client|profile|trace NAME=VALUE...`. */
#define _GNU_SOURCE
#include "haechi.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t clock_now(int64_t origin) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec - origin;
}

void fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("sluice-haechi: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(2);
}

static int64_t whole(const char *text, const char *of) {
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (*text == '\0' || *end != '\0' || errno != 0) fail("not a whole number: %s", of);
  return value;
}

int64_t option(struct options *o, const char *name, int64_t fallback) {
  size_t length = strlen(name);
  for (int i = 0; i < o->count; i++) {
    if (strncmp(o->items[i], name, length) != 0 || o->items[i][length] != '=') continue;
    o->used[i] = true;
    return whole(o->items[i] + length + 1, o->items[i]);
  }
  return fallback;
}

void options_settings(struct options *o, struct settings *s) {
  for (int i = 0; i < o->count; i++) {
    char name[32];
    const char *at = strchr(o->items[i], '=');
    if (!at || (size_t)(at - o->items[i]) >= sizeof name) continue;
    memcpy(name, o->items[i], (size_t)(at - o->items[i]));
    name[at - o->items[i]] = '\0';
    if (settings_set(s, name, whole(at + 1, o->items[i]))) o->used[i] = true;
  }
  bool is_valid = s->period_ns > 0 && s->tick_ns > 0 && s->check_ns > 0 && s->retry_ns > 0 && s->batch > 0 &&
                  s->window > 0 && s->phase2_window > 0 && s->history <= HISTORY_MAX;
  if (!is_valid) fail("the settings are incomplete");
}

void options_end(const struct options *o) {
  for (int i = 0; i < o->count; i++)
    if (!o->used[i]) fail("unknown option %s", o->items[i]);
}

int main(int argc, char **argv) {
  struct options o = {.count = argc - 2, .items = argv + 2};
  if (argc < 2 || o.count > 64) fail("usage: sluice-haechi node|client|profile|trace NAME=VALUE...");
  if (strcmp(argv[1], "node") == 0) return node_main(&o);
  if (strcmp(argv[1], "client") == 0) return client_main(&o);
  if (strcmp(argv[1], "profile") == 0) return profile_main(&o);
  if (strcmp(argv[1], "trace") == 0) return trace_main(&o);
  fail("no such role: %s", argv[1]);
}
