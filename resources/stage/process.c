/* Start, end and forks of the process. */
#define _GNU_SOURCE
#include "stage.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct call_kind call_kinds[CALL_COUNT] = {
#define X(name, cls, type, context) {#name, CLASS_##cls, type, context},
    CALLS(X)
#undef X
};

atomic_int stage_state;
static struct process_page no_page = {1};
struct process_page *process_page = &no_page;
static _Atomic pid_t own_pid;

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static pid_t real_pid(void) { return (pid_t)syscall(SYS_getpid); }

void process_forked(void) {
  unsigned dead = 0;
  /* Executed by the first thread of the child. On kernels without MADV_WIPEONFORK, the fork handler does this. */
  if (process_page != &no_page && !atomic_compare_exchange_strong(&process_page->alive, &dead, 1)) return;
  atomic_store(&own_pid, real_pid());
  control_forked();
  layout_inherited();
  report_reset();
}

static void after_fork(void) {
  if (process_page == &no_page || atomic_load(&process_page->alive) == 0) process_forked();
}

/*
 * Between vfork and exec a child runs in the parent's memory, thread-local variables included, on the caller's stack, while
 * that thread is suspended. Therefore a thread-local flag marks it, set before and reset by the parent. The child's return
 * would overwrite the return address that the parent still needs: it is kept in a register, and nothing is on the stack
 * meanwhile.
 */
#ifdef __x86_64__
__thread int process_in_vfork __attribute__((tls_model("initial-exec"), used));

__asm__(".text\n"
        ".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        "  movq process_in_vfork@gottpoff(%rip), %rdx\n"
        "  movl $1, %fs:(%rdx)\n"
        "  popq %rdi\n"
        "  movl $58, %eax\n" /* SYS_vfork; rdx and rdi survive it */
        "  syscall\n"
        "  pushq %rdi\n"
        "  testq %rax, %rax\n"
        "  jz 1f\n"
        "  movl $0, %fs:(%rdx)\n"
        "  cmpq $-4095, %rax\n"
        "  jae 2f\n"
        "1: ret\n"
        "2: pushq %rbx\n"
        "  movl %eax, %ebx\n"
        "  negl %ebx\n"
        "  call __errno_location@PLT\n"
        "  movl %ebx, (%rax)\n"
        "  popq %rbx\n"
        "  movl $-1, %eax\n"
        "  ret\n"
        ".size vfork, .-vfork\n");

bool process_is_borrowed(void) { return process_in_vfork != 0; }
#else
bool process_is_borrowed(void) { return atomic_load_explicit(&own_pid, memory_order_relaxed) != real_pid(); }
#endif

void stage_init(void) {
  int fresh = 0;
  if (!atomic_compare_exchange_strong(&stage_state, &fresh, 1)) return;
  config_read();
  memory_known();
  atomic_store(&own_pid, real_pid());
  if (config.enabled) {
    long at = syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != -1) {
      if (madvise((void *)at, 4096, MADV_WIPEONFORK) == 0) {
        process_page = (struct process_page *)at;
        atomic_store(&process_page->alive, 1);
      } else {
        syscall(SYS_munmap, at, 4096);
      }
    }
    pthread_atfork(NULL, NULL, after_fork);
    if (config.refuse_uring) uring_refuse();
  }
  atomic_store(&stage_state, 2);
}

__attribute__((constructor)) static void begin(void) { stage_init(); }

__attribute__((destructor)) static void end(void) {
  if (!config.enabled || process_is_borrowed()) return;
  report_write();
}
