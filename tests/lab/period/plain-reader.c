/*
 * Plain reader of the period lab: reads the same files as sluice-read into memory, without a process per reading, and compares
 * nothing. For each line on standard input it reads all files of its arguments and prints `read BYTES CPU_NS`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **paths) {
  static char buffer[65536];
  char line[256];
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    unsigned long bytes = 0;
    for (int i = 1; i < count; i++) {
      int file = open(paths[i], O_RDONLY | O_CLOEXEC);
      if (file < 0) continue;
      for (ssize_t n; (n = read(file, buffer, sizeof buffer)) > 0;) bytes += (unsigned long)n;
      close(file);
    }
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("read %lu %lu%09lu\n", bytes, (unsigned long)cpu.tv_sec, (unsigned long)cpu.tv_nsec);
    fflush(stdout);
  }
  return 0;
}
