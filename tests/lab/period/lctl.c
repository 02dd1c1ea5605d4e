/*
 * lctl of the period lab: parameters that are files of TREE are read from there, as Lustre's does; everything else is a call of the
 * emulator's lctl in EMULATED. After a change of rules or policies it writes their files again, in place of the kernel.
 *
 *     lctl get_param [-n] PARAMETER...      files, if all of them are; names may have wildcards
 *     lctl set_param PARAMETER=clear        of job_stats: empties the files
 *     lctl ...                              EMULATED/lctl
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TREE "/sys/kernel/debug/lustre/"
#define EMULATED "/usr/lib/emulated/lctl"

static int emulated(char **words) {
  words[0] = (char *)"lctl";
  execv(EMULATED, words);
  perror(EMULATED);
  return 127;
}

/* Path or pattern of a parameter. */
static char *path_of(const char *name, size_t length) {
  char *path = malloc(sizeof TREE + length);
  if (!path) exit(12);
  char *at = stpcpy(path, TREE);
  for (size_t i = 0; i < length; i++) *at++ = name[i] == '.' ? '/' : name[i];
  *at = 0;
  return path;
}

static int find(const char *name, size_t length, glob_t *found) {
  char *path = path_of(name, length);
  int is_found = strstr(path, "..") == NULL && glob(path, 0, NULL, found) == 0;
  free(path);
  return is_found;
}

static void print(const char *path, int is_bare) {
  static char buffer[65536];
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  int is_first = 1;
  char last = '\n';
  for (ssize_t n; (n = read(file, buffer, sizeof buffer)) > 0; is_first = 0) {
    if (is_first && !is_bare) {
      for (const char *p = path + sizeof TREE - 1; *p; p++) putchar(*p == '/' ? '.' : *p);
      putchar('=');
      /* A value of several lines begins on a line of its own. */
      if (memchr(buffer, '\n', (size_t)n - 1)) putchar('\n');
    }
    fwrite(buffer, 1, (size_t)n, stdout);
    last = buffer[n - 1];
  }
  if (last != '\n') putchar('\n');
  close(file);
}

/* Runs the emulator's lctl; its output replaces a file. */
static void refresh(const char *parameter) {
  char *path = path_of(parameter, strlen(parameter)), *fresh;
  if (asprintf(&fresh, "%s.%d", path, (int)getpid()) < 0) exit(12);
  pid_t child = fork();
  if (child == 0) {
    int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || dup2(file, 1) < 0) _exit(1);
    char *words[] = {(char *)"lctl", (char *)"get_param", (char *)"-n", (char *)parameter, NULL};
    _exit(emulated(words));
  }
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  /* Without TBF there are no rules to read. */
  if (status != 0 || rename(fresh, path) < 0) unlink(fresh);
}

static int clear(const char *name, size_t length) {
  glob_t found;
  if (!find(name, length, &found)) return 2;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char *fresh;
    if (asprintf(&fresh, "%s.%d", found.gl_pathv[i], (int)getpid()) < 0) exit(12);
    int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || write(file, "job_stats:\n", 11) != 11 || rename(fresh, found.gl_pathv[i]) < 0) return 5;
    close(file);
  }
  return 0;
}

static int set(int count, char **words) {
  const char *value = count == 3 ? strchr(words[2], '=') : NULL;
  size_t length = value ? (size_t)(value - words[2]) : 0;
  if (value && strcmp(value, "=clear") == 0 && memmem(words[2], length, ".job_stats", 10)) return clear(words[2], length);
  pid_t child = fork();
  if (child == 0) _exit(emulated(words));
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return 12;
  refresh("ost.OSS.ost_io.nrs_policies");
  refresh("ost.OSS.ost_io.nrs_tbf_rule");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 12;
}

static int get(int count, char **words) {
  int from = count > 2 && strcmp(words[2], "-n") == 0 ? 3 : 2;
  glob_t *found = calloc((size_t)count, sizeof *found);
  if (!found || from >= count) return emulated(words);
  for (int i = from; i < count; i++)
    if (words[i][0] == '-' || !find(words[i], strlen(words[i]), &found[i])) return emulated(words);
  for (int i = from; i < count; i++)
    for (size_t k = 0; k < found[i].gl_pathc; k++) print(found[i].gl_pathv[k], from == 3);
  return fflush(stdout) == 0 ? 0 : 5;
}

int main(int count, char **words) {
  if (count > 2 && strcmp(words[1], "get_param") == 0) return get(count, words);
  if (count > 2 && strcmp(words[1], "set_param") == 0) return set(count, words);
  return emulated(words);
}
