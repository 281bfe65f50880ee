/*
 * A disk that fails on demand: files of the store fail as the file named by FAULTY_DISK says.
 * Preloaded before libc (LD_PRELOAD).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Returns whether this fault is requested and the file belongs to the store. A fault that ends in
 * "-once" removes its own request.
 */
static int has_fault(int fd, const char *wanted) {
  const char *control = getenv("FAULTY_DISK");
  char link[64], path[512], text[32];
  if (control == NULL) return 0;
  int file = open(control, O_RDONLY);
  if (file < 0) return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = 0;
  if (strncmp(text, wanted, strlen(wanted)) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  if (strstr(path, "keelson.sqlite") == NULL || strstr(path, "-shm") != NULL) return 0;
  if (strstr(text, "-once") != NULL) unlink(control);
  return 1;
}

static int write_error(int fd) { return has_fault(fd, "full") ? ENOSPC : has_fault(fd, "read-only") ? EROFS : 0; }

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  static ssize_t (*real)(int, const void *, size_t, off64_t);
  if (real == NULL) real = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  int error = write_error(fd);
  if (error == 0) return real(fd, bytes, count, at);
  errno = error;
  return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return pwrite64(fd, bytes, count, at); }

int fsync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  if (!has_fault(fd, "flush")) return real(fd);
  errno = EIO;
  return -1;
}

int fdatasync(int fd) { return fsync(fd); }
