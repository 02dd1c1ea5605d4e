/* Configuration from the environment. Read once, before the program's main; later changes have no effect. */
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct config config;

static bool copy(char *to, size_t space, const char *from) {
  size_t n = from ? strlen(from) : 0;
  if (n >= space) return false;
  memcpy(to, from ? from : "", n);
  to[n] = 0;
  return true;
}

static uint32_t number(const char *name, uint32_t otherwise, uint32_t most) {
  const char *text = getenv(name);
  if (!text || !*text) return otherwise;
  uint64_t n = 0;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return otherwise;
    n = n * 10 + (uint64_t)(*text - '0');
    if (n > most) return otherwise;
  }
  return (uint32_t)n;
}

/* Mounts are absolute paths, one per line. A path with a newline cannot be managed. */
static void read_mounts(const char *text) {
  while (text && *text && config.mounts < MAX_MOUNTS) {
    const char *end = strchr(text, '\n');
    size_t n = end ? (size_t)(end - text) : strlen(text);
    char one[MAX_PATH];
    if (n > 0 && n < sizeof one) {
      memcpy(one, text, n);
      one[n] = 0;
      struct mount *m = &config.mount[config.mounts];
      int length = path_normalise(one, m->path);
      if (length >= 0) {
        /* The root is the empty path: all others continue with a slash. */
        m->length = length == 1 ? 0 : (size_t)length;
        m->path[m->length] = 0;
        config.mounts++;
      }
    }
    text = end ? end + 1 : NULL;
  }
  for (int i = 0; i < config.mounts; i++)
    for (int k = 0; k < config.mounts; k++)
      if (i != k && config.mount[k].length > config.mount[i].length &&
          !strncmp(config.mount[k].path, config.mount[i].path, config.mount[i].length) &&
          config.mount[k].path[config.mount[i].length] == '/')
        config.nested = true;
}

void config_read(void) {
  const char *job = getenv("SLUICE_STAGE_JOB");
  /* A job id that does not fit is dropped: truncated it might be another job's. */
  bool ok = job && *job && copy(config.job, sizeof config.job, job);
  ok = copy(config.socket, sizeof config.socket, getenv("SLUICE_STAGE_SOCKET")) && ok;
  copy(config.report, sizeof config.report, getenv("SLUICE_STAGE_REPORT"));
  const char *user = getenv("SLUICE_STAGE_USER");
  if (!user || !*user || !copy(config.user, sizeof config.user, user)) {
    snprintf(config.user, sizeof config.user, "%u", (unsigned)getuid());
  }
  config.instance = number("SLUICE_STAGE_INSTANCE", 0, UINT32_MAX);
  config.workflows = number("SLUICE_STAGE_WORKFLOWS", 1, MAX_WORKFLOWS);
  if (config.workflows == 0) config.workflows = 1;
  config.start_wait_ms = number("SLUICE_STAGE_START_MS", 50, 10000);
  const char *uring = getenv("SLUICE_STAGE_IO_URING");
  config.refuse_uring = uring && !strcmp(uring, "refuse");
  read_mounts(getenv("SLUICE_STAGE_MOUNTS"));
  config.enabled = ok && config.mounts > 0;
}
