/*
 * Kills the process with SIGKILL at a certain write, flush or removal of a file of the store.
 * KILL_AT is "<what> <number> <part>". "what" is wal, file, flush or unlink; "part" is before, half
 * (of the bytes of a write) or after. Preloaded before libc (LD_PRELOAD).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long seen;

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), short_length = strlen(end);
  return length >= short_length && strcmp(text + length - short_length, end) == 0;
}

/* Returns the part of this call at which to die ('b', 'h' or 'a'), or 0 if it is not due. */
static char due(const char *what) {
  const char *at = getenv("KILL_AT");
  char wanted[16], part[16];
  long number;
  if (at == NULL || sscanf(at, "%15s %ld %15s", wanted, &number, part) != 3) return 0;
  return strcmp(wanted, what) == 0 && atomic_fetch_add(&seen, 1) + 1 == number ? part[0] : 0;
}

static const char *kind_of(const char *path) {
  return ends_with(path, "/keelson.sqlite-wal") ? "wal" : ends_with(path, "/keelson.sqlite") ? "file" : NULL;
}

static const char *kind_of_open(int fd) {
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return NULL;
  path[length] = 0;
  return kind_of(path);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  static ssize_t (*real)(int, const void *, size_t, off64_t);
  if (real == NULL) real = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  const char *kind = kind_of_open(fd);
  char part = kind == NULL ? 0 : due(kind);
  if (part == 'b') die();
  if (part == 'h') count /= 2;
  ssize_t written = real(fd, bytes, count, at);
  if (part != 0) die();
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return pwrite64(fd, bytes, count, at); }

int fsync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  char part = kind_of_open(fd) == NULL ? 0 : due("flush");
  if (part == 'b') die();
  int result = real(fd);
  if (part != 0) die();
  return result;
}

int fdatasync(int fd) { return fsync(fd); }

int unlink(const char *path) {
  static int (*real)(const char *);
  if (real == NULL) real = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
  char part = kind_of(path) == NULL ? 0 : due("unlink");
  if (part == 'b') die();
  int result = real(path);
  if (part != 0) die();
  return result;
}
