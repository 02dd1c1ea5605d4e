/*
 * io_uring: its submissions are entries in memory that the kernel reads, so no call can be limited. Rings are counted, for the
 * report and the controller, or refused to the program and its children by a filter of the kernel.
 */
#define _GNU_SOURCE
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* io_uring_setup, io_uring_enter and io_uring_register: the same numbers on all architectures since Linux 5.1. */
#define FIRST_CALL 425
#define LAST_CALL 427
/* Descriptors that one count looks at. */
#define MOST_LOOKED 1024

static atomic_uint most_rings;
static bool refused;

/*
 * ENOSYS, as of a kernel without io_uring: programs then use other calls. The filter needs no privileges, but the program and
 * its children lose the ability to gain any (setuid programs).
 */
void uring_refuse(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_CALL, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_CALL, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  /* Threads that a library's constructor started earlier get the filter, too. */
  refused = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

bool uring_is_refused(void) { return refused; }

struct entry {
  uint64_t ino;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

static bool is_ring(int list, const char *name) {
  static const char target[] = "anon_inode:[io_uring]";
  char text[sizeof target];
  long n = syscall(SYS_readlinkat, list, name, text, sizeof text);
  return n == (long)(sizeof target - 1) && !memcmp(text, target, sizeof target - 1);
}

static unsigned count_rings(void) {
  int list = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (list < 0) return 0;
  unsigned rings = 0, looked = 0;
  _Alignas(8) char entries[2048];
  long n;
  while (looked < MOST_LOOKED && (n = syscall(SYS_getdents64, list, entries, sizeof entries)) > 0) {
    for (long at = 0; at < n; at += ((struct entry *)(entries + at))->length) {
      const char *name = ((struct entry *)(entries + at))->name;
      if (*name >= '0' && *name <= '9') rings += is_ring(list, name);
      looked++;
    }
  }
  syscall(SYS_close, list);
  return rings;
}

unsigned uring_rings(void) {
  if (refused) return 0;
  int kept = errno;
  unsigned now = count_rings();
  unsigned most = atomic_load(&most_rings);
  while (now > most && !atomic_compare_exchange_weak(&most_rings, &most, now)) {
  }
  errno = kept;
  return now > most ? now : most;
}
