/* Configuration from the environment, read once; messages to the program's user. */
#define _GNU_SOURCE
#include "door.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

struct door door;

#define LONGEST_TIMEOUT_MS 3600000u

static bool normalised(const char *path, char *out, size_t *length) {
  if (path[0] != '/' || strlen(path) >= MAX_PATH) return false;
  size_t n = 0;
  while (*path) {
    while (*path == '/') path++;
    const char *end = strchrnul(path, '/');
    size_t part = (size_t)(end - path);
    if (part == 0) break;
    if (part == 2 && path[0] == '.' && path[1] == '.') return false;
    if (!(part == 1 && path[0] == '.')) {
      out[n++] = '/';
      memcpy(out + n, path, part);
      n += part;
    }
    path = end;
  }
  out[n] = 0;
  *length = n;
  return n > 0;
}

/* Runs before the program's main, and earlier if another library's constructor calls. */
__attribute__((constructor)) static void begin(void) {
  const char *mount = getenv("SLUICE_CCPFS_MOUNT");
  const char *path = getenv("SLUICE_CCPFS_SOCKET");
  if (!mount || !path || path[0] != '/' || strlen(path) >= sizeof door.socket) return;
  if (!normalised(mount, door.mount, &door.mount_length)) return;
  strcpy(door.socket, path);
  const char *locks = getenv("SLUICE_CCPFS_LOCKS");
  door.local_locks = locks && strcmp(locks, "local") == 0;
  const char *timeout = getenv("SLUICE_CCPFS_TIMEOUT_MS");
  long ms = timeout ? strtol(timeout, NULL, 10) : 0;
  door.timeout_ms = ms > 0 && ms <= LONGEST_TIMEOUT_MS ? (unsigned)ms : 60000;
  mode_t mask = (mode_t)syscall(SYS_umask, 0);
  syscall(SYS_umask, mask);
  atomic_store(&door.umask, mask);
  client_init();
  door.enabled = true;
  files_adopt();
}

static const char *const texts[REASON_COUNT] = {
    [REASON_DAEMON] = "no connection to the client daemon: files of ccPFS fail, others are unaffected. Start it, or check "
                      "SLUICE_CCPFS_SOCKET",
    [REASON_MMAP] = "mmap is refused (ENODEV): the door has no pages of the kernel. Use read and write",
    [REASON_LOCKS] = "file locks are refused (ENOLCK): the daemon has none between nodes. SLUICE_CCPFS_LOCKS=local keeps fcntl "
                     "locks among the processes of this node",
    [REASON_CHDIR] = "the working directory cannot be below the mount. Use absolute paths",
    [REASON_STALE] = "an inherited file cannot be opened again (ESTALE): it was removed or replaced",
    [REASON_STREAM] = "freopen of this stream is refused (ENOTSUP). Use fopen",
};

void tell(enum reason reason, const char *detail) {
  static atomic_bool told[REASON_COUNT];
  if (atomic_exchange(&told[reason], true)) return;
  char line[MAX_PATH + 512];
  int n = snprintf(line, sizeof line, "sluice-ccpfs: %s%s%s%s\n", texts[reason], detail ? " (" : "", detail ? detail : "",
                   detail ? ")" : "");
  if (n < 0) return;
  size_t length = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
  /* The raw call: if standard error itself is a file of ccPFS, there is no place for a message. */
  int kept = errno;
  if (syscall(SYS_write, 2, line, length) < 0) errno = kept;
  errno = kept;
}
