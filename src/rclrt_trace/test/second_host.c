// SPDX-License-Identifier: Apache-2.0
// Preloaded into rclrt_runner: the process of the application with the name in RCLRT_SECOND_HOST
// enters the network namespace of the path in RCLRT_SECOND_HOST_NET, as if it ran on another host.
// The runner names each process right after it was forked, before it has threads.
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void enter(const char* path) {
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || setns(file, CLONE_NEWNET) != 0) {
    _exit(99);
  }
  close(file);
}

int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  va_list first;
  va_copy(first, list);
  const char* const named = option == PR_SET_NAME ? va_arg(first, const char*) : NULL;
  va_end(first);
  unsigned long values[4];
  for (int i = 0; i < 4; ++i) {
    values[i] = va_arg(list, unsigned long);
  }
  va_end(list);
  const char* const name = getenv("RCLRT_SECOND_HOST");
  if (named != NULL && name != NULL && getpid() == gettid() && strcmp(named, name) == 0) {
    enter(getenv("RCLRT_SECOND_HOST_NET"));
  }
  return (int)syscall(SYS_prctl, option, values[0], values[1], values[2], values[3]);
}
